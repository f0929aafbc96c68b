"""By score: keeps the highest scores first and skips units that do not fit.

Among equal scores the newer is kept first. One huge message never prevents smaller ones from being kept. An outdated
unit is kept only after those that replace it, so it counts at most as much as they do.
"""

from __future__ import annotations

from collections.abc import Mapping

from scoring.planning.strategies.contract import OUTDATED, Choice, StrategyInput, Why


def choose(given: StrategyInput) -> Choice:
    """Keep the units with the highest scores that fit."""
    ranks, costs, left = given.unit_scores[:], given.history.unit_tokens, given.room
    newer = {head: set(some).difference(given.protected) for head, some in given.outdated.items()}
    for head in sorted(newer, reverse=True):  # the newest first: what replaces it has its rank by now
        ranks[head] = min([ranks[head], *map(ranks.__getitem__, newer[head])])
    kept: dict[int, None] = {}
    order = list(reversed(given.candidates))
    order.sort(key=ranks.__getitem__, reverse=True)  # stable: among equals the newer stays first
    for head in order:
        cost = costs[head]
        if cost <= left and (head not in newer or newer[head] <= kept.keys()):
            left -= cost
            kept[head] = None
    return Choice(kept, _Reasons(given, kept, newer), scores=given.scores)


class _Reasons:
    """Words the reasons of one choice; the cut is the lowest score that was kept. `newer` has what replaces a unit.

    Where the messages of a unit have different scores, it says that the best decides: a page shows each with its own.
    """

    def __init__(self, given: StrategyInput, kept: Mapping[int, None], newer: Mapping[int, set[int]]) -> None:
        self._own, self._members = given.scores.scores, given.history.units.members
        self._scores = given.unit_scores
        self._kept, self._newer = kept, newer
        self._cut = min(map(self._scores.__getitem__, kept), default=None)

    def __call__(self, head: int) -> Why:
        if not self._newer.get(head, frozenset()) <= self._kept.keys():
            return OUTDATED
        score = self._scores[head]
        if self._cut is None:
            return Why("no_room", "dropped: does not fit beside the protected")
        if head in self._kept:
            scored = self._scored(head, _shown(score, self._cut))
            return Why("score", f"kept: {scored}, the cut is at {_shown(self._cut, score)}")
        if score < self._cut:
            scored = self._scored(head, _shown(score, self._cut))
            return Why("below_cut", f"dropped: {scored} below the cut at {_shown(self._cut, score)}")
        scored = self._scored(head, f"{score:.0f}")
        return Why("too_large", f"dropped: {scored}, but it did not fit beside higher scores")

    def _scored(self, head: int, shown: str) -> str:
        differ = len({self._own[position] for position in self._members.get(head, ())}) > 1
        return f"best score {shown} of its call and results" if differ else f"score {shown}"


def _shown(score: float, other: float) -> str:
    """Return a score with as many decimals as it takes to distinguish it from the other."""
    for digits in (0, 1, 2):
        if f"{score:.{digits}f}" != f"{other:.{digits}f}":
            return f"{score:.{digits}f}"
    return f"{score:.3f}" if score != other else f"{score:.0f}"

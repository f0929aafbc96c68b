"""By score: keeps the highest scores first and skips units that do not fit.

Among equal scores the newer is kept first. One huge message never prevents smaller ones from being kept.
"""

from __future__ import annotations

from functools import cached_property

from scoring.planning.strategies.contract import Choice, StrategyInput, Why


def choose(given: StrategyInput) -> Choice:
    """Keep the units with the highest scores that fit."""
    scores, costs, left = given.unit_scores, given.history.unit_tokens, given.room
    kept: list[int] = []
    keep = kept.append
    order = list(reversed(given.candidates))
    order.sort(key=scores.__getitem__, reverse=True)  # stable: among equals the newer stays first
    for head in order:
        cost = costs[head]
        if cost <= left:
            left -= cost
            keep(head)
    return Choice(kept, _Reasons(given, kept), scores=given.scores)


class _Reasons:
    """Words the reasons of one choice; the cut is the lowest score that was kept.

    Where the messages of a unit have different scores, it says that the best decides: a page shows each with its own.
    """

    def __init__(self, given: StrategyInput, kept: list[int]) -> None:
        self._own, self._members = given.scores.scores, given.history.units.members
        self._scores = given.unit_scores
        self._order = kept
        self._cut = self._scores[kept[-1]] if kept else None

    @cached_property
    def _kept(self) -> frozenset[int]:
        return frozenset(self._order)

    def __call__(self, head: int) -> Why:
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

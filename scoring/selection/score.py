"""By score: the highest first, passing over what does not fit.

Among equal scores the newer goes first. One huge message never stops smaller ones from being kept.
"""

from __future__ import annotations

from scoring.selection.task import Choice, Task, Why


def choose(task: Task) -> Choice:
    """Keep the units with the highest scores that fit."""
    scores, costs, left = task.unit_scores, task.history.unit_tokens, task.room
    kept: list[int] = []
    keep = kept.append
    for head in sorted(reversed(task.candidates), key=scores.__getitem__, reverse=True):
        cost = costs[head]
        if cost <= left:
            left -= cost
            keep(head)
    return Choice(kept, task.room - left, _Reasons(task, frozenset(kept), costs[:], left))


class _Reasons:
    """Words the reasons of one choice; the cut is the lowest score that was kept."""

    __slots__ = ("_costs", "_cut", "_kept", "_left", "_scores")

    def __init__(self, task: Task, kept: frozenset[int], costs: list[int], left: int) -> None:
        self._scores, self._kept, self._costs, self._left = task.unit_scores, kept, costs, left
        self._cut = min((self._scores[head] for head in kept), default=None)

    def __call__(self, head: int) -> Why:
        score, cost = self._scores[head], self._costs[head]
        if self._cut is None:
            return Why(
                "no_room", f"dropped: needs {cost:,} tokens, and {self._left:,} are left beside the protected"
            )
        if head in self._kept:
            return Why("score", f"kept: score {score:.0f}, the cut is at {self._cut:.0f}")
        if score < self._cut:
            return Why("below_cut", f"dropped: score {score:.0f} below the cut at {self._cut:.0f}")
        return Why(
            "too_large",
            f"dropped: score {score:.0f}, but its {cost:,} tokens did not fit beside higher scores",
        )

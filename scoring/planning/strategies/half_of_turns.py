"""Half of the turns: the oldest half is dropped, whole turns at once, and half of the rest again until it fits.

This makes the first step of the emergency path available by hand. If the last turn that is left does not fit, its
newest units stay.
"""

from __future__ import annotations

from scoring.planning.strategies.contract import Choice, Task, Why


def choose(task: Task) -> Choice:
    """Keep the units of the newest half of the turns; half of those if they do not fit, and so on."""
    costs = task.history.unit_tokens
    starts = sorted({task.history.units.head[p] for p in task.history.own_words})
    kept, halved = list(task.candidates), 0
    while starts and sum([costs[h] for h in kept]) > task.room:
        boundary = starts[len(starts) // 2] if len(starts) > 1 else None
        if boundary is None:
            break
        starts = [s for s in starts if s >= boundary]
        kept = [h for h in kept if h >= boundary]
        halved += 1
    boundary_head = kept[0] if kept else None
    fitting, left = _newest_that_fit(task, kept)
    in_turns = frozenset(kept)

    def explain(head: int) -> Why:
        if head not in in_turns:
            return Why("older_half", "dropped: in the oldest half of the turns")
        if boundary_head is not None and head in fitting:
            return Why("newer_half", "kept: in the newest half of the turns")
        return Why("too_large", "dropped: does not fit beside newer ones")

    return Choice(fitting, task.room - left, explain)


def _newest_that_fit(task: Task, heads: list[int]) -> tuple[frozenset[int], int]:
    """Return the newest of these units up to the first that does not fit, and the room that is left."""
    costs, left = task.history.unit_tokens, task.room
    kept: list[int] = []
    for head in reversed(heads):
        if costs[head] > left:
            break
        left -= costs[head]
        kept.append(head)
    return frozenset(kept), left

"""Half of the turns: the oldest half is dropped, whole turns at once, and half of the rest again until it fits.

This makes the first step of the emergency path available by hand. If the last turn that is left does not fit, its
newest units stay.
"""

from __future__ import annotations

from scoring.planning.strategies.contract import Choice, StrategyInput, Why, newest_that_fit


def choose(given: StrategyInput) -> Choice:
    """Keep the units of the newest half of the turns; half of those if they do not fit, and so on."""
    costs = given.history.unit_tokens
    starts = sorted({given.history.units.head[p] for p in given.history.own_words})
    kept = list(given.candidates)
    while len(starts) > 1 and sum([costs[h] for h in kept]) > given.room:
        starts = starts[len(starts) // 2 :]
        kept = [h for h in kept if h >= starts[0]]
    staying, in_turns = frozenset(newest_that_fit(kept, costs, given.room)), frozenset(kept)

    def explain(head: int) -> Why:
        if head not in in_turns:
            return Why("older_half", "dropped: in the oldest half of the turns")
        if head in staying:
            return Why("newer_half", "kept: in the newest half of the turns")
        return Why("too_large", "dropped: does not fit beside newer ones")

    return Choice(staying, explain)

"""Newest first: fill from the end backwards and stop at the first unit that does not fit."""

from __future__ import annotations

from scoring.planning.strategies.contract import Choice, StrategyInput, Why, newest_that_fit


def choose(given: StrategyInput) -> Choice:
    """Keep the newest units up to the first that does not fit."""
    kept = newest_that_fit(given.candidates, given.history.unit_tokens, given.room)
    oldest_kept = kept[-1] if kept else None
    stopped_at = given.candidates[-len(kept) - 1] if len(kept) < len(given.candidates) else None

    def explain(head: int) -> Why:
        if oldest_kept is not None and head >= oldest_kept:
            return Why("newest", "kept: among the newest that fit")
        if head == stopped_at:
            return Why("too_large", "dropped: does not fit beside newer ones")
        return Why("older", "dropped: older than the first that did not fit")

    return Choice(kept, explain)

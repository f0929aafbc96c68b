"""Tool outputs first: old outputs are cleared to a line before any message is dropped.

Outputs of the last user turns and the newest ones up to a number of tokens stay; older ones are cleared if that frees
enough. Outputs of exempt tools and those before a summary stay. Calls and their arguments are never changed. If that is
not enough, the oldest messages are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from scoring.planning.old_outputs import old_outputs
from scoring.planning.strategies.contract import Choice, Shortening, StrategyInput, Why, newest_that_fit
from scoring.summary import TIME_TOKENS, cleared

# The cost of a message with one cleared output: its frame, the call's id, and the line that replaces the output.
CLEARED_TOKENS = 36


def choose(given: StrategyInput) -> Choice:
    """Clear old tool outputs, then keep the newest units that fit."""
    shortened = _cleared(given)
    kept = newest_that_fit(given.candidates, _costs(given, shortened), given.room)
    staying, head_of = frozenset(kept), given.history.units.head
    kept_shortened = {p: short for p, short in shortened.items() if head_of[p] in staying}

    def explain(head: int) -> Why:
        if head not in staying:
            return Why("older", "dropped: older than the first that did not fit")
        if any(p in kept_shortened for p in given.history.unit(head)):
            return Why("cleared", "kept: its old tool output is cleared to a line")
        return Why("newest", "kept: among the newest that fit")

    return Choice(staying, explain, kept_shortened)


def _costs(given: StrategyInput, shortened: Mapping[int, Shortening]) -> dict[int, int]:
    """Return the cost of each candidate with its outputs cleared."""
    costs = {head: given.history.unit_tokens[head] for head in given.candidates}
    for position, short in shortened.items():
        head = given.history.units.head[position]
        costs[head] -= given.history.tokens[position] - short.tokens
    return costs


def _cleared(given: StrategyInput) -> dict[int, Shortening]:
    """Return the outputs to clear; none if the gain is below the minimum in the settings."""
    rules = given.settings
    history, candidates, gain = given.history, frozenset(given.candidates), 0
    out: dict[int, Shortening] = {}
    for position in old_outputs(history, rules):
        tokens = history.tokens[position]
        each = CLEARED_TOKENS + (TIME_TOKENS if history.dated else 0)
        least = each * max(1, len(history.features[position].results))
        if tokens <= least or history.units.head[position] not in candidates:
            continue
        gain += tokens - least
        apply = partial(cleared, names=history.tools(position))
        out[position] = Shortening(least, apply, lasting=True)
    return out if gain > rules.tool_outputs_minimum_gain else {}

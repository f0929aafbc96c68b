"""Fits a plan to exact numbers: shortened outputs are made, counted, and cut further while they exceed the budget.

A plan estimates the cost of a shortened output from its rows; the exact cost needs the text. Room that is left over
restores shortened outputs in full, newest first, except those that a plan shortens even where there is room. Every
message of the plan stays, whatever it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scoring.history import History
from scoring.messages import Message
from scoring.planning.plan import PrunePlan
from scoring.planning.strategies.contract import Shortening, mark_changed

# Rows differ in length: keep a little less of them than the share of tokens that may stay.
CLOSER = 0.95


@dataclass(frozen=True, slots=True)
class FittedPlan:
    """A plan with exact numbers.

    `kept` are positions in order, shortened ones among them. `replaced` has the messages in place of shortened ones,
    `costs` their tokens. `tokens` is the total, with the room for a summary and an opening line.
    """

    kept: tuple[int, ...]
    replaced: dict[int, Message]
    costs: dict[int, int]
    tokens: int


def fit(
    plan: PrunePlan,
    history: History,
    message: Callable[[int], Message],
    count: Callable[[Message], int],
) -> FittedPlan:
    """Fit a plan to exact numbers; `message` gives the message at a position, `count` what one costs.

    The total may end above the budget by what the plan's estimates missed (`scoring.lists.pruning` then plans again).
    """
    if not plan.shortened:
        return FittedPlan(plan.kept, {}, {}, plan.tokens_after - plan.absorbed)
    replaced = {p: plan.shortenings[p].apply(message(p)) for p in plan.shortened}
    costs = {p: count(made) for p, made in replaced.items()}
    kept = tuple(sorted((*plan.kept, *plan.shortened)))
    total = sum([costs.get(p, history.tokens[p]) for p in kept])
    total += plan.opening_tokens + (plan.summary.tokens - plan.absorbed if plan.summary is not None else 0)
    allowed = plan.over_budget.protected_tokens if plan.over_budget else plan.max_tokens
    share = 1.0 - (total - allowed) / max(1, sum(costs.values()))
    for part in (share * CLOSER, 0.0):  # first a part of the rows of each, then none
        for position in sorted(costs, key=lambda p: (-costs[p], p)):
            shortening = plan.shortenings[position]
            if total <= allowed or not shortening.rows:
                continue
            rows = shortening.rows[: int(len(shortening.rows) * part)]
            smaller = shortening.cut(message(position), rows)
            less = costs[position] - count(smaller)
            if less > 0:
                replaced[position], costs[position], total = smaller, costs[position] - less, total - less
    for position in sorted(replaced, reverse=True):
        shortening = plan.shortenings[position]
        if shortening.changed:
            total += _restore_marked(shortening, position, replaced, costs, allowed - total, message, count)
            continue
        extra = history.tokens[position] - costs[position]
        if extra <= 0 or (total + extra <= allowed and not shortening.lasting):
            total += extra
            del replaced[position], costs[position]
    return FittedPlan(kept, replaced, costs, total)


def _restore_marked(
    shortening: Shortening,
    position: int,
    replaced: dict[int, Message],
    costs: dict[int, int],
    left: int,
    message: Callable[[int], Message],
    count: Callable[[Message], int],
) -> int:
    """Restore all but the changed lines of an output, if that fits; answers the tokens that it takes more."""
    whole = mark_changed(shortening.changed, message(position))
    more = count(whole) - costs[position]
    if not shortening.rows or more > left:
        return 0
    replaced[position], costs[position] = whole, costs[position] + more
    return more

"""Fits a plan to exact numbers: shortened outputs are made, counted, and cut further while they exceed the budget.

A plan estimates the cost of a shortened output from its rows; the exact cost needs the text. If room is left over,
shortened outputs are restored in full, newest first, except those that a plan shortens in any case. Every message that
the plan keeps stays, whatever its exact cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from scoring.history import History
from scoring.messages import Message
from scoring.planning.plan import PrunePlan
from scoring.planning.strategies.contract import Shortening, mark_changed

# Rows differ in length, so a little less of them is kept than the share of tokens that can stay.
CLOSER = 0.95


@dataclass(frozen=True, slots=True)
class FittedPlan:
    """A plan with exact numbers.

    `kept` are positions in order, including shortened ones. `replaced` has the replacements of shortened messages,
    `costs` their tokens. `tokens` is the total, including the room for a summary and an opening line.
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
    """Fit a plan to exact numbers; `message` returns the message at a position, `count` the tokens of a message.

    The total can exceed the budget by the error of the plan's estimates (`scoring.lists.pruning` then plans again).
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


def with_exact_costs(
    plan: PrunePlan,
    history: History,
    message: Callable[[int], Message],
    count: Callable[[Message], int],
) -> PrunePlan:
    """Return a plan that, once applied, has exactly its own numbers; the arguments are those of `fit`."""
    if not plan.shortened:
        return plan
    fitted = fit(plan, history, message, count)
    shortenings = {
        p: replace(plan.shortenings[p], tokens=fitted.costs[p], apply=_always(made), rows=())
        for p, made in sorted(fitted.replaced.items())
    }
    return replace(
        plan,
        kept=tuple(p for p in fitted.kept if p not in shortenings),
        shortened=tuple(shortenings),
        shortenings=shortenings,
        tokens_after=fitted.tokens + plan.absorbed,
    )


def _always(made: Message) -> Callable[[Message], Message]:
    return lambda _: made


def _restore_marked(
    shortening: Shortening,
    position: int,
    replaced: dict[int, Message],
    costs: dict[int, int],
    left: int,
    message: Callable[[int], Message],
    count: Callable[[Message], int],
) -> int:
    """Restore an output with its changed lines marked, if that fits; returns the additional tokens."""
    whole = mark_changed(shortening.changed, message(position))
    more = count(whole) - costs[position]
    if not shortening.rows or more > left:
        return 0
    replaced[position], costs[position] = whole, costs[position] + more
    return more

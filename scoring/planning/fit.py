"""From a plan's estimates to exact numbers: shortened outputs are made, counted and fitted to the budget.

A plan reckons what a shortened output will cost by its rows; only who has the text can say. While the exact total is
above the budget, outputs are cut further. What is then free gives shortened outputs back whole, newest first, but for
those that a plan shortens whether there is room or not. All messages of the plan stay, whatever they take.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scoring.history import History
from scoring.messages import Message
from scoring.planning.plan import PrunePlan
from scoring.planning.strategies.contract import cut

# Rows are of different lengths: a little less of them than the share of tokens that is to be saved.
CLOSER = 0.95


@dataclass(frozen=True, slots=True)
class Settled:
    """A plan with exact numbers: `kept` positions in order (shortened ones among them), the messages that stand in
    for shortened ones with their `costs`, and the `tokens` of all, with what is set aside for a summary and an opening.
    """

    kept: tuple[int, ...]
    stand_ins: dict[int, Message]
    costs: dict[int, int]
    tokens: int


def settle(
    plan: PrunePlan,
    history: History,
    message: Callable[[int], Message],
    count: Callable[[Message], int],
) -> Settled:
    """Settle a plan; `message` gives the message at a position, `count` what one costs.

    The total may end above the budget by what the plan's estimates missed (`scoring.lists.pruning` then plans again).
    """
    if not plan.shortened:
        return Settled(plan.kept, {}, {}, plan.tokens_after - plan.absorbed)
    stand_ins = {p: plan.shortenings[p].apply(message(p)) for p in plan.shortened}
    costs = {p: count(made) for p, made in stand_ins.items()}
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
            smaller = cut(rows, message(position))
            less = costs[position] - count(smaller)
            if less > 0:
                stand_ins[position], costs[position], total = smaller, costs[position] - less, total - less
    for position in sorted(stand_ins, reverse=True):
        extra = history.tokens[position] - costs[position]
        fits = total + extra <= allowed and not plan.shortenings[position].lasting
        if extra <= 0 or fits:
            total += extra
            del stand_ins[position], costs[position]
    return Settled(kept, stand_ins, costs, total)

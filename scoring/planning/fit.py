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
from scoring.planning.strategies.contract import cut, mark_changed

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
    kept = tuple(sorted((*plan.kept, *plan.shortened)))
    fitting = _Fitting(plan, history, message, count)
    fitting.cut_further()
    fitting.restore()
    return FittedPlan(kept, fitting.replaced, fitting.costs, fitting.tokens)


def with_exact_tokens(
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


class _Fitting:
    """The replacements of a plan as messages, their exact costs, and the exact total of tokens."""

    def __init__(
        self,
        plan: PrunePlan,
        history: History,
        message: Callable[[int], Message],
        count: Callable[[Message], int],
    ) -> None:
        self._shortenings, self._whole_tokens = plan.shortenings, history.tokens
        self._message, self._count = message, count
        self.replaced = {p: plan.shortenings[p].apply(message(p)) for p in plan.shortened}
        self.costs = {p: count(made) for p, made in self.replaced.items()}
        self.tokens = sum(
            [*self.costs.values(), *(history.tokens[p] for p in plan.kept), plan.opening_tokens]
        )
        self.tokens += plan.summary.tokens - plan.absorbed if plan.summary is not None else 0
        self._allowed = plan.over_budget.protected_tokens if plan.over_budget else plan.max_tokens

    @property
    def _left(self) -> int:
        return self._allowed - self.tokens

    def cut_further(self) -> None:
        """While the budget is exceeded, cut outputs to a part of their rows, the largest first, then to none."""
        share = 1.0 + self._left / max(1, sum(self.costs.values()))
        for part in (share * CLOSER, 0.0):
            for position in sorted(self.costs, key=lambda p: (-self.costs[p], p)):
                shortening = self._shortenings[position]
                if self._left < 0 and shortening.rows:
                    rows = shortening.rows[: int(len(shortening.rows) * part)]
                    smaller = cut(rows, self._message(position), shortening.changed)
                    if (tokens := self._count(smaller)) < self.costs[position]:
                        self._replace(position, smaller, tokens)

    def restore(self) -> None:
        """Restore outputs in full while there is room, and those that did not become shorter."""
        for position in sorted(self.replaced, reverse=True):
            shortening = self._shortenings[position]
            if not shortening.changed:
                extra = self._whole_tokens[position] - self.costs[position]
                if extra <= 0 or (extra <= self._left and not shortening.lasting):
                    self.tokens += extra
                    del self.replaced[position], self.costs[position]
            elif shortening.rows:
                marked = mark_changed(shortening.changed, self._message(position))
                if (tokens := self._count(marked)) - self.costs[position] <= self._left:
                    self._replace(position, marked, tokens)

    def _replace(self, position: int, message: Message, tokens: int) -> None:
        self.tokens += tokens - self.costs[position]
        self.replaced[position], self.costs[position] = message, tokens

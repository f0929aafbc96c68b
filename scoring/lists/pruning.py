"""Carries a plan out on a list that no store keeps: planned, fitted to exact numbers, and written in its format.

The law: what comes out takes exactly the tokens that are said, at most `max_tokens` unless `over_budget` says so; and
it is a list that the planner made for its wire format. So nothing is dropped after planning: where the exact numbers
exceed the budget, the list is planned again with less.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scoring.formats import encode, opening
from scoring.history import History
from scoring.messages import Message
from scoring.planning import FittedPlan, OverBudget, PrunePlan, fit, plan_prune
from scoring.settings import Settings
from scoring.summary import Judged, written
from scoring.tokens import ESTIMATOR, TokenCounter, estimate_message_tokens


@dataclass(frozen=True, slots=True)
class Pruning:
    """A prune that was applied within `max_tokens`: its plan and its result.

    `fitted` has what stays with the messages that stand in for shortened ones, `summary` what was written for some of
    the removed, `opening` is the line that the list has to begin with; `tokens` is what all of it takes. `over_budget`
    is that of the budget asked for.
    """

    max_tokens: int
    plan: PrunePlan
    fitted: FittedPlan
    summary: Judged | None
    opening: Message | None
    tokens: int
    over_budget: OverBudget | None

    def wire(
        self, messages: Sequence[Message], wire_format: str, objects: Sequence[Any] | None = None
    ) -> list[Any]:
        """Return what stays of the messages it was made from, in their format: the very objects, except those
        shortened.

        A summary stands at the place of the first message it covers, the line that has to open the list before all
        but system messages. `objects` are those that all the messages came from, for a caller who has them in a list.
        """
        replaced, kept = self.fitted.replaced, self.fitted.kept
        made = {p: encode([message], wire_format)[0] for p, message in replaced.items()}
        if objects is None:
            out = [made[p] if p in made else _object(messages[p], wire_format) for p in kept]
        else:
            out = [made[p] if p in made else objects[p] for p in kept]
        if self.summary is not None and self.plan.summary is not None:
            place = bisect_left(kept, self.plan.summary.covers[0])
            out[place:place] = encode([self.summary.summary.as_message()], wire_format)
        if self.opening is not None:
            place = next((n for n, p in enumerate(kept) if messages[p].role != "system"), 0)
            out[place:place] = encode([self.opening], wire_format)
        return out


def prune(
    history: History,
    messages: Sequence[Message],
    settings: Settings,
    max_tokens: int,
    *,
    wire_format: str = "",
    counter: TokenCounter | None = None,
    count: Callable[[Message], int] | None = None,
) -> Pruning:
    """Prune the messages of a history to at most `max_tokens`.

    `count` says what a message takes where `counter` alone does not.

    Raises:
        InvalidSettings: the budget is no whole number of at least 0, or nobody knows the strategy.
    """
    counting = count or (lambda message: estimate_message_tokens(message, counter))
    first = plan = plan_prune(history, settings, max_tokens, wire_format=wire_format)
    less = 0
    while True:
        done = _carried_out(plan, history, messages, settings, max_tokens, counter, counting)
        excess = done.tokens - max_tokens
        if first.over_budget is not None or excess <= 0 or less == max_tokens:
            return replace(done, over_budget=first.over_budget)
        # What is always kept is never shortened, so a plan for nothing but that is exact: this comes to an end.
        less = min(max_tokens, max(excess, 2 * less))
        plan = plan_prune(history, settings, max_tokens - less, wire_format=wire_format)


def _carried_out(
    plan: PrunePlan,
    history: History,
    messages: Sequence[Message],
    settings: Settings,
    max_tokens: int,
    counter: TokenCounter | None,
    count: Callable[[Message], int],
) -> Pruning:
    """Return the result of a plan."""
    fitted = fit(plan, history, messages.__getitem__, count)
    summary, line, tokens = None, None, fitted.tokens - plan.opening_tokens
    if plan.summary is not None:
        covered = [messages[p] for p in plan.summary.covers]
        summary = written(covered, plan.summary.tokens, settings.summary_words, counter or ESTIMATOR)
        tokens += summary.tokens - plan.summary.tokens
    if plan.opening_tokens and (plan.removed or fitted.replaced):
        line = opening()
        tokens += count(line)
    return Pruning(max_tokens, plan, fitted, summary, line, tokens, None)


def _object(message: Message, wire_format: str) -> Any:
    """Return the object that a message came from."""
    return message.wire.value if message.wire is not None else encode([message], wire_format)[0]

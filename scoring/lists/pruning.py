"""Prunes a list that is in no store: plans, fits the plan to exact numbers, and writes the result in its format.

The result takes exactly the tokens that are reported, at most `max_tokens` unless `over_budget` is set, and it is valid
in its wire format because it is what the planner chose. So nothing is dropped after planning: if the exact numbers
exceed the budget, the list is planned again with a smaller one. Only thoughts behind the first change are left out,
because newer Claude models refuse them after another history.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.formats import (
    encode,
    has_bound_thoughts,
    is_bound_to_history,
    is_empty,
    opening,
    without_bound_thoughts,
)
from scoring.history import History
from scoring.messages import Message
from scoring.planning import FittedPlan, OverBudget, PrunePlan, fit, plan_prune
from scoring.settings import Settings
from scoring.summary import JudgedSummary
from scoring.tokens import ESTIMATOR, TokenCounter, estimate_message_tokens


@dataclass(frozen=True, slots=True)
class Pruning:
    """A prune that was applied within `max_tokens`: its plan and its result.

    `fitted` holds the kept messages and the replacements of shortened ones, `summary` the summary of removed messages,
    `opening` the first line that the format requires; `tokens` is the total. `over_budget` refers to the budget that
    was requested. `thoughtless` are the kept messages that lost their thoughts.
    """

    max_tokens: int
    plan: PrunePlan
    fitted: FittedPlan
    summary: JudgedSummary | None
    opening: Message | None
    tokens: int
    over_budget: OverBudget | None
    thoughtless: Mapping[int, Message]

    @property
    def kept(self) -> list[int]:
        """Return the positions of the messages of the result, in order: without those that only had thoughts."""
        return [p for p in self.fitted.kept if p not in self.thoughtless or not is_empty(self.thoughtless[p])]

    def wire(
        self, messages: Sequence[Message], wire_format: str, objects: Sequence[Any] | None = None
    ) -> list[Any]:
        """Return the kept messages in their wire format: the original objects, except those that were shortened.

        A summary is at the place of the first message it covers, after the provider's compaction, and the opening line
        before the first message that is not a system message. `objects`, if given, are the original objects of all
        messages.
        """
        replaced, kept = {**self.fitted.replaced, **self.thoughtless}, self.kept
        like = objects[0] if objects else next((m.wire.value for m in messages if m.wire is not None), None)

        def original(position: int) -> Any:
            return _object(messages[position], wire_format) if objects is None else objects[position]

        def shortened(position: int) -> Any:
            message = replaced[position]
            return encode([message], message.wire.format if message.wire is not None else wire_format)[0]

        out = [shortened(p) if p in replaced else original(p) for p in kept]
        if self.summary is not None and self.plan.summary is not None:
            place = bisect_left(kept, self.plan.summary.place)
            out[place:place] = encode([self.summary.summary.as_message()], wire_format, like=like)
        if self.opening is not None:
            place = next((n for n, p in enumerate(kept) if messages[p].role != "system"), 0)
            out[place:place] = encode([self.opening], wire_format, like=like)
        return out


def prune(
    history: History,
    messages: Sequence[Message],
    settings: Settings,
    max_tokens: int,
    *,
    wire_format: str = "",
    model: str = "",
    counter: TokenCounter | None = None,
    count: Callable[[Message], int] | None = None,
) -> Pruning:
    """Prune the messages of a history to at most `max_tokens`.

    `model` is the one that gets the result. `count` returns the tokens of a message, if more than `counter` is needed
    for that.

    Raises:
        InvalidSettings: the budget is not a whole number of at least 0, or the strategy is unknown.
    """
    counting = count or (lambda message: estimate_message_tokens(message, counter))
    first = plan = plan_prune(history, settings, max_tokens, wire_format=wire_format, model=model)

    def carried_out(plan: PrunePlan) -> Pruning:
        fitted = fit(plan, history, messages.__getitem__, counting)
        summary, line, tokens = None, None, fitted.tokens - plan.opening_tokens
        if plan.summary is not None:
            summary = plan.summary.written(
                messages.__getitem__, fitted.kept, settings.summary_words, counter or ESTIMATOR
            )
            tokens += summary.tokens - plan.summary.tokens
        if plan.opening_tokens and (plan.removed or fitted.replaced):
            line = opening()
            tokens += counting(line)
        thoughtless = _without_old_thoughts(plan, fitted, messages) if has_bound_thoughts(wire_format) else {}
        for position, message in thoughtless.items():
            tokens -= fitted.costs.get(position, history.tokens[position])
            tokens += 0 if is_empty(message) else counting(message)
        return Pruning(max_tokens, plan, fitted, summary, line, tokens, first.over_budget, thoughtless)

    less = 0
    while True:
        done = carried_out(plan)
        excess = done.tokens - max_tokens
        if done.over_budget is not None or excess <= 0 or less == max_tokens:
            return done
        # Messages that are always kept are never shortened, so a plan that keeps only those is exact: the loop ends.
        less = min(max_tokens, max(excess, 2 * less))
        plan = plan_prune(history, settings, max_tokens - less, wire_format=wire_format, model=model)


def _without_old_thoughts(
    plan: PrunePlan, fitted: FittedPlan, messages: Sequence[Message]
) -> dict[int, Message]:
    """Return by position the kept messages with thoughts behind the first change, without these thoughts."""
    first = min((*plan.removed[:1], *fitted.replaced), default=len(messages))
    behind = fitted.kept[bisect_left(fitted.kept, first) :]
    said = ((p, fitted.replaced.get(p) or messages[p]) for p in behind)
    return {p: without_bound_thoughts(message) for p, message in said if is_bound_to_history(message)}


def _object(message: Message, wire_format: str) -> Any:
    """Return the object that a message came from."""
    return message.wire.value if message.wire is not None else encode([message], wire_format)[0]

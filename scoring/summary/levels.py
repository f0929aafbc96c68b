"""The levels of a summary: structured by a model, then terser, then deterministic, which always fits.

A summary that is not shorter than the messages it replaces is rejected, the built-in one too. This module makes
requests and judges replies; it calls no model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from scoring.messages import Message
from scoring.summary.prompt import SummaryRequest, ask, read_reply
from scoring.summary.sections import MOST_WORDS, in_brief, in_full, ranked_lines
from scoring.summary.summary import OLDER_BELOW, Summary, Surroundings
from scoring.tokens import ESTIMATOR, TokenCounter, estimate_message_tokens

Level = Literal["structured", "terser", "deterministic"]
MOST_SHARE = 0.75  # of the replaced tokens, to fit a whole sentence
TERSER_SHARE = 0.4  # of the words of the first level


@dataclass(frozen=True, slots=True)
class JudgedSummary:
    """A judged summary. `tokens` is its cost, heading included; `problem` is the reason for a refusal, or ""."""

    summary: Summary
    tokens: int
    problem: str = ""

    @property
    def accepted(self) -> bool:
        """Return whether the summary may replace the messages it covers."""
        return not self.problem


@dataclass(frozen=True, slots=True)
class SummaryScope:
    """The messages and summaries that a summary will replace."""

    items: Sequence[Message | Summary]
    around: Surroundings
    """The messages that stay around them."""
    replaced: int
    """The tokens of the items, by `counter`."""
    empty: Summary
    """The summary before it has a text."""
    counter: TokenCounter = ESTIMATOR


def replaced_tokens(items: Sequence[Message | Summary], counter: TokenCounter = ESTIMATOR) -> int:
    """Return the tokens of the items that a summary would replace."""
    return sum(
        estimate_message_tokens(i.as_message() if isinstance(i, Summary) else i, counter) for i in items
    )


def covering(
    items: Sequence[Message | Summary], around: Surroundings, first: str = "", last: str = ""
) -> Summary:
    """Return an empty summary over these items, with its depth, number of messages and days."""
    summaries = [i for i in items if isinstance(i, Summary)]
    messages = sum(i.messages if isinstance(i, Summary) else 1 for i in items)
    depth = 1 + max((s.depth for s in summaries), default=0)
    earlier = [note for s in reversed(summaries) if (note := s.note.removesuffix(OLDER_BELOW).rstrip("; "))]
    note = "; ".join([*earlier[:1], *([OLDER_BELOW] if around.older_below else [])])
    return Summary("", "", depth, messages, first, last, note)


def request(level: Level, items: Sequence[Message | Summary], max_words: int = MOST_WORDS) -> SummaryRequest:
    """Return the request to a model for a summary of one level."""
    if level == "terser":
        return ask(items, max(50, int(max_words * TERSER_SHARE)), terser=True)
    return ask(items, max_words)


def judge(scope: SummaryScope, reply: str, max_words: int) -> JudgedSummary:
    """Return a model's reply as a summary, accepted or with the reason for refusing it."""
    read = read_reply(reply, max_words)
    if read.problem:
        return JudgedSummary(scope.empty, 0, read.problem)
    return _with_text(scope, read.text)


def deterministic(
    scope: SummaryScope, max_words: int = MOST_WORDS, most_tokens: int | None = None
) -> JudgedSummary:
    """Return the built-in summary in at most `most_tokens`, by default half of the tokens it replaces.

    If the five sections take more, only lines that fit are included, each section with its share. If no whole sentence
    fits into half of a short text, the summary may take three quarters; then sentences are cut, and finally only the
    heading is left. It is refused only if even the heading costs as much as the items.
    """
    replaced = scope.replaced
    most = min(replaced - 1, replaced // 2 if most_tokens is None else most_tokens)
    ranked = ranked_lines(scope.items, scope.around)
    full = _with_text(scope, in_full(ranked, max_words))
    if full.tokens <= most:
        return full
    tries = [(most, True), (most, False)]
    if most_tokens is None:
        tries.insert(1, (int(MOST_SHARE * replaced), True))
    for at_most, whole in tries:
        judged = _brief(scope, ranked, at_most, whole=whole)
        if judged.summary.text:
            return judged
    return judged


def built_in(
    items: Sequence[Message | Summary],
    around: Surroundings,
    most_tokens: int,
    max_words: int = MOST_WORDS,
    counter: TokenCounter = ESTIMATOR,
) -> JudgedSummary:
    """Return the summary that a plan asks for: the built-in one, in at most `most_tokens` and fewer than the items."""
    replaced = replaced_tokens(items, counter)
    scope = SummaryScope(items, around, replaced, covering(items, around), counter)
    return deterministic(scope, max_words, most_tokens)


def _brief(scope: SummaryScope, ranked: Sequence[Sequence[str]], most: int, *, whole: bool) -> JudgedSummary:
    """Return the summary with the lines that fit into `most` tokens together with the heading."""
    room = most - estimate_message_tokens(scope.empty.as_message(), scope.counter)
    while room > 0 and (text := in_brief(ranked, room, scope.counter, whole=whole)):
        # The tokens of the parts do not add up exactly to those of the whole.
        judged = _with_text(scope, text)
        if judged.tokens <= most:
            return judged
        room -= judged.tokens - most
    return _with_text(scope, "")


def _with_text(scope: SummaryScope, text: str) -> JudgedSummary:
    return _judged(replace(scope.empty, text=text), scope.replaced, scope.counter)


def _judged(summary: Summary, replaced: int, counter: TokenCounter) -> JudgedSummary:
    tokens = estimate_message_tokens(summary.as_message(), counter)
    summary = replace(summary, tokens=tokens)
    if tokens >= replaced:
        return JudgedSummary(
            summary, tokens, f"it takes {tokens:,} tokens, no fewer than the {replaced:,} it replaces"
        )
    return JudgedSummary(summary, tokens)

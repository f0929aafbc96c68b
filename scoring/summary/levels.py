"""The levels of a summary: structured by a model, then terser, then deterministic, which always fits.

A summary that is not shorter than what it replaces is rejected, also our own. This module decides what to ask
next and whether an answer will do; it asks nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from scoring.messages import Message
from scoring.summary.prompt import Ask, ask, read_reply
from scoring.summary.snapshot import MOST_WORDS, snapshot
from scoring.summary.summary import Summary
from scoring.summary.tombstones import fitted
from scoring.tokens import ESTIMATOR, TokenCounter, estimate_message_tokens

Level = Literal["structured", "terser", "deterministic"]
LEVELS: tuple[Level, ...] = ("structured", "terser", "deterministic")
TERSER_SHARE = 0.4  # of the words of the first level
_SPARES = (1, 4, 16, 1_000_000)  # the last leaves the heading alone
_WORDS = (1.0, 0.5, 0.25, 0.12)  # of the words, as the deterministic level tries them


@dataclass(frozen=True, slots=True)
class Judged:
    """A summary with its verdict. `tokens` is its cost, heading included; `problem` says why it is refused."""

    summary: Summary
    tokens: int
    problem: str = ""

    @property
    def accepted(self) -> bool:
        """Return whether it may stand for what it covers."""
        return not self.problem


def replaced_tokens(items: Sequence[Message | Summary], counter: TokenCounter = ESTIMATOR) -> int:
    """Return what the items cost that a summary would replace."""
    return sum(
        estimate_message_tokens(i.as_message() if isinstance(i, Summary) else i, counter) for i in items
    )


def covering(items: Sequence[Message | Summary], id: str = "", first: str = "", last: str = "") -> Summary:
    """Return an empty summary over these items: its depth, how many messages it covers, and when."""
    summaries = [i for i in items if isinstance(i, Summary)]
    messages = sum(i.messages if isinstance(i, Summary) else 1 for i in items)
    depth = 1 + max((s.depth for s in summaries), default=0)
    note = next((s.note for s in reversed(summaries) if s.note), "")
    return Summary(id, "", depth, messages, first, last, note)


def request(level: Level, items: Sequence[Message | Summary], max_words: int = MOST_WORDS) -> Ask:
    """Return what to ask a model for at one of its levels."""
    if level == "terser":
        return ask(items, max(50, int(max_words * TERSER_SHARE)), terser=True)
    return ask(items, max_words)


def judge(
    empty: Summary, reply: str, replaced: int, max_words: int, counter: TokenCounter = ESTIMATOR
) -> Judged:
    """Return a model's reply as a summary, accepted or with the reason why not."""
    read = read_reply(reply, max_words)
    if read.problem:
        return Judged(empty, 0, read.problem)
    return _judged(replace(empty, text=read.text), replaced, counter)


def deterministic(
    empty: Summary,
    items: Sequence[Message | Summary],
    replaced: int,
    max_words: int = MOST_WORDS,
    counter: TokenCounter = ESTIMATOR,
) -> Judged:
    """Return the built-in snapshot, with fewer words until it is shorter than what it replaces, at last cut to fit.

    Not accepted only where even its heading costs as much as the items.
    """
    for share in _WORDS:
        judged = _judged(replace(empty, text=snapshot(items, int(max_words * share))), replaced, counter)
        if judged.accepted:
            return judged
    text = judged.summary.text
    frame = estimate_message_tokens(replace(empty, text="").as_message(), counter)
    for spare in _SPARES:  # tokens of parts do not add up exactly to those of the whole
        cut = fitted(text, max(0, replaced - frame - spare), counter)
        judged = _judged(replace(empty, text=cut), replaced, counter)
        if judged.accepted:
            break
    return judged


def _judged(summary: Summary, replaced: int, counter: TokenCounter) -> Judged:
    tokens = estimate_message_tokens(summary.as_message(), counter)
    summary = replace(summary, tokens=tokens)
    if tokens >= replaced:
        return Judged(
            summary, tokens, f"it takes {tokens:,} tokens, no fewer than the {replaced:,} it replaces"
        )
    return Judged(summary, tokens)

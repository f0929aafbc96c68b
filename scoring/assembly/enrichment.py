"""Relevant memory and past learnings, added to the system prompt within their budgets.

Both are given in the order of their relevance. Memory is cut to its budget; learnings are taken whole, the first few
that fit. The caller counts the resulting prompt.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.counted import counted
from scoring.history.content.words import stem
from scoring.messages import Message, Text
from scoring.tokens import ESTIMATOR, TokenCounter

MEMORY_HEADING, LEARNINGS_HEADING = "## Relevant Memory", "## Past Learnings"
MOST_WORDS = 32  # a query of more words than this finds everything
_WORD = re.compile(r"[^\W_][\w./-]*[^\W_]|[^\W\d_]")
_COMMON_WORDS = """
a about all also an and any are as at be because been but by can could did do does for from had has have how i if in
into is it its just like make me my no not now of on one or our out please should so some than that the their them then
there these they this to up us use was we were what when where which who why will with would you your
"""
_COMMON = frozenset(_COMMON_WORDS.split())


@dataclass(frozen=True, slots=True)
class Enriched:
    """A system prompt with added sections, and the number of texts in them."""

    prompt: str
    memories: int
    learnings: int
    notes: tuple[str, ...]


def enrich(
    prompt: str,
    memories: Sequence[str],
    learnings: Sequence[str],
    memory_tokens: int,
    learnings_tokens: int,
    most_learnings: int,
    counter: TokenCounter = ESTIMATOR,
) -> Enriched:
    """Return the prompt with the sections that fit their budgets; unchanged if nothing is added."""
    notes: list[str] = []
    memory = _cut(memories, memory_tokens, counter, notes)
    learned = _whole(learnings, learnings_tokens, counter, most_learnings)
    left_out = sum(bool(text.strip()) for text in learnings) - len(learned)
    if left_out:
        notes.append(f"{counted(left_out, 'past learning')} {'is' if left_out == 1 else 'are'} left out")
    sections = [
        part
        for part in (prompt, _section(MEMORY_HEADING, memory), _section(LEARNINGS_HEADING, learned))
        if part
    ]
    return Enriched(
        "\n\n".join(sections),
        len(memory),
        len(learned),
        tuple(notes),
    )


def words_for_search(message: Message | None) -> tuple[str, ...]:
    """Return the words of a message to search for in the memory store, each once, in order; () if it has none."""
    found: dict[str, None] = {}
    for match in _WORD.finditer(message.text[:20_000] if message is not None else ""):
        word = match[0].lower()
        if word not in _COMMON:
            found[word] = None
            if len(found) == MOST_WORDS:
                break
    return tuple(found)


def learnings_for(message: Message | None, newest_first: Sequence[str], most: int) -> list[str]:
    """Return the learnings that share a stem with a message, then the newest others up to `most` in all (M3)."""
    asked = set(map(stem, words_for_search(message)))
    sharing: dict[str, bool] = {}
    for text in newest_first:
        sharing[text] = not asked.isdisjoint(map(stem, words_for_search(Message("user", (Text(text),)))))
    ordered = sorted(sharing, key=lambda text: not sharing[text])
    return ordered[: max(most, sum(sharing.values()))]


def _section(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([heading, "", *lines]) if lines else ""


def _line(text: str) -> str:
    return "- " + " ".join(text.split())


def _cut(texts: Sequence[str], tokens: int, counter: TokenCounter, notes: list[str]) -> list[str]:
    """Return the texts as lines up to the budget, the last one cut at a word."""
    lines: list[str] = []
    for n, text in enumerate(texts):
        if not text.strip():
            continue
        line = _line(text)
        if counter.count(_section(MEMORY_HEADING, [*lines, line])) <= tokens:
            lines.append(line)
            continue
        short = _shorter(lines, line, tokens, counter)
        if short:
            lines.append(short)
        notes.append(
            f"relevant memory is cut to {tokens:,} tokens: {len(texts) - n} of {len(texts)} do not fit whole"
        )
        break
    return lines


def _shorter(lines: Sequence[str], line: str, tokens: int, counter: TokenCounter) -> str:
    """Return the longest beginning of a line that fits after the others, cut at a word; "" if none does."""
    fits = bisect_right(
        range(1, len(line)),
        tokens,
        key=lambda length: counter.count(_section(MEMORY_HEADING, [*lines, line[:length] + " …"])),
    )
    text = line[:fits]
    if " " in text[2:] and not line[fits : fits + 1].isspace():
        text = text[:2] + text[2:].rsplit(" ", 1)[0]
    return text.rstrip() + " …" if len(text.strip()) > 1 else ""


def _whole(texts: Sequence[str], tokens: int, counter: TokenCounter, most: int) -> list[str]:
    """Return the first texts that fit whole, up to `most`; one that is too large does not exclude the others."""
    lines: list[str] = []
    for text in texts:
        if len(lines) == most:
            break
        if text.strip() and counter.count(_section(LEARNINGS_HEADING, [*lines, _line(text)])) <= tokens:
            lines.append(_line(text))
    return lines

"""The summary that needs no model: five sections of what stands verbatim in the messages, at most so many words.

The same messages always give the same text. Each section has a share of the words; what one does not use goes to the
others. Summaries among the items are taken apart and their lines kept where there is room, so that a summary of
summaries still says what the first one said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scoring.messages import Message
from scoring.summary.exact_values import ERROR_WORTH, error_lines, values
from scoring.summary.files import READ, described, files_touched
from scoring.summary.sentences import (
    decisions,
    is_confirmation,
    next_steps,
    open_tasks,
    quoted,
    said_by,
    sentences,
)
from scoring.summary.summary import Summary

SECTIONS = ("Files Modified", "Key Decisions", "Important Values", "Current State", "Pending Tasks")
SHARES = (0.2, 0.3, 0.22, 0.16, 0.12)  # of the words, in the order of the sections
MOST_WORDS = 600
NOTHING = "(none)"
WORDS_OF_HEADINGS = 4 * len(SECTIONS)  # "##", two words, and "(none)"
MOST_ERRORS = 10
# Looked at from the end, because what was decided last holds.
MOST_CANDIDATES = 400


def snapshot(items: Sequence[Message | Summary], most_words: int = MOST_WORDS) -> str:
    """Return the five sections as text, each under its heading; a section without anything says so."""
    messages = [item for item in items if isinstance(item, Message)]
    earlier = _earlier(item for item in items if isinstance(item, Summary))
    found = [_files(messages), _decisions(messages), _values(messages), _state(messages), _tasks(messages)]
    if not messages:
        found[3] = earlier[3][-3:]
    ranked = [
        list(dict.fromkeys([*new, *old])) if name != "Current State" else new
        for name, new, old in zip(SECTIONS, found, earlier, strict=True)
    ]
    chosen = _within(ranked, max(0, most_words - WORDS_OF_HEADINGS))
    return "\n\n".join(
        f"## {name}\n" + ("\n".join(f"- {line}" for line in lines) or NOTHING)
        for name, lines in zip(SECTIONS, chosen, strict=True)
    )


def sections_of(text: str) -> dict[str, list[str]]:
    """Return the lines of each section of a snapshot; sections that are missing are empty."""
    out: dict[str, list[str]] = {name: [] for name in SECTIONS}
    lines: list[str] | None = None
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("#"):
            lines = out.get(stripped.lstrip("#").strip().rstrip(":"))
        elif lines is not None and stripped and stripped != NOTHING:
            lines.append(stripped.removeprefix("- ").removeprefix("* "))
    return out


def word_count(text: str) -> int:
    """Words, as the limit counts them: what stands between blanks."""
    return len(text.split())


def _earlier(summaries: Iterable[Summary]) -> list[list[str]]:
    """Return the lines of earlier summaries by section, the latest first."""
    out: list[list[str]] = [[] for _ in SECTIONS]
    for summary in summaries:
        for lines, said in zip(out, sections_of(summary.text).values(), strict=True):
            lines[:0] = said
    return out


def _files(messages: Sequence[Message]) -> list[str]:
    """Return what was changed, the latest first, then what was only read."""
    touched = list(reversed(files_touched(messages).items()))
    changed = [described(path, ways) for path, ways in touched if set(ways) != {READ}]
    return changed + [described(path, ways) for path, ways in touched if set(ways) == {READ}]


def _decisions(messages: Sequence[Message]) -> list[str]:
    """Return the weightiest first, among equals the latest."""
    found = list(decisions(messages))[-MOST_CANDIDATES:]
    order = sorted(range(len(found)), key=lambda n: (-found[n][0], -n))
    return list(dict.fromkeys(found[n][1] for n in order))


def _values(messages: Sequence[Message]) -> list[str]:
    """Return what is worth most and comes most often first; what stands inside another value is not said again."""
    worth: dict[str, float] = {}
    last: dict[str, int] = {}
    for n, (one, value) in enumerate(values(messages)):
        worth[value] = max(worth.get(value, 0.0), one) + (0.5 if value in worth else 0.0)
        last[value] = n
    order = sorted(worth, key=lambda value: (-min(worth[value], 8.0), -last[value]))[:MOST_CANDIDATES]
    out: list[str] = []
    errors = 0
    for value in order:
        errors += worth[value] >= ERROR_WORTH
        if worth[value] >= ERROR_WORTH and errors > MOST_ERRORS:
            continue
        if not any(value in other for other in out):
            out.append(value)
    return out


def _state(messages: Sequence[Message]) -> list[str]:
    """Return the last action with what came of it, what was said last, what comes next, and what was asked last."""
    out: list[str] = []
    action = _last_action(messages)
    if action:
        out.append(f"Last action: {action}")
    steps = [step for message in messages[-12:] for step in next_steps(message)]
    if steps:
        out.append(f"Next step: {steps[-1]}")
    asked = next((s for m in reversed(messages) if m.role == "user" and (s := said_by(m))), None)
    if asked:
        out.append(f"Last request: {quoted(' '.join(asked))}")
    said = next((s for m in reversed(messages) if m.role == "assistant" and (s := said_by(m))), None)
    if said:
        out.append(f"Last said: {quoted(' '.join(said[-3:]))}")
    return out


def _last_action(messages: Sequence[Message]) -> str:
    """Return the last call, its arguments and the first telling line of its result."""
    for n in range(len(messages) - 1, -1, -1):
        if not messages[n].calls:
            continue
        call = messages[n].calls[-1]
        text = next((r.text for m in messages[n:] for r in m.results if r.call_id == call.id), "")
        telling = error_lines(text)[:1] or ([] if is_confirmation(text) else sentences(text[:4_000])[:1])
        came = f" -> {quoted(telling[0])[:300]}" if telling else ""
        return f"{call.name} {' '.join(call.arguments.split())[:200]}{came}".strip()
    return ""


def _tasks(messages: Sequence[Message]) -> list[str]:
    return list(open_tasks(messages))[:MOST_CANDIDATES]


def _within(ranked: Sequence[Sequence[str]], words: int) -> list[list[str]]:
    """As many lines of each section as its share holds, then more of any while there is room; each in rank order."""
    chosen: list[list[str]] = [[] for _ in ranked]
    left = words
    waiting: list[list[str]] = []
    for lines, taken, share in zip(ranked, chosen, SHARES, strict=True):
        own, later = int(words * share), []
        for line in lines:
            cost = word_count(line) + 1
            if cost <= own:
                own -= cost
                left -= cost
                taken.append(line)
            else:
                later.append(line)
        waiting.append(later)
    for n in (1, 2, 3, 4, 0):  # what is left goes to decisions first
        for line in waiting[n]:
            cost = word_count(line) + 1
            if cost <= left:
                left -= cost
                chosen[n].append(line)
    return chosen

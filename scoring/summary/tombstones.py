"""Tombstones: the text in place of cleared or shortened content, and its cost.

A tool output is cleared to one line that names the tool and the time (the call and its arguments stay), or shortened
to its head, its tail and every line that mentions an error. Nothing here ever makes a text longer. The arguments
of a call are never changed: a model that sees a placeholder there copies it into the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from scoring.messages import Media, Message, Part, Text, ToolResult
from scoring.settings import Finder
from scoring.tokens import ESTIMATOR, TokenCounter, estimate_message_tokens

CUT = "[cut]"  # replaces a message of which nothing fits: no format accepts an empty one
HEAD_CHARS, TAIL_CHARS = 1_000, 500  # S5
TIME_TOKENS = 13  # the cost, rather too high, of the time that a line names
LONGEST_LINE = 300
# Each line that mentions an error has one of these words or codes; searching for them first is many times as fast.
_STEMS = Finder(("error", "fail", "exception", "traceback", "panic", "fatal", "denied", "refused", "assert"))
_CODE = re.compile(r"E\d{3,4}\b")
_ERROR = re.compile(
    r"\b(?:error|failed|failure|failing|exception|traceback|panic|fatal|denied|refused|assert\w*)\b|\bE\d{3,4}\b|(?:Error|Exception)\b",
    re.IGNORECASE,
)


def cleared_text(tool: str, at: str, tokens: int, why: str = "", came: str = "") -> str:
    """Return the line in place of an output: the tool's name, its times, and the reason or the tokens.

    `at` is the time of clearing, `came` that of the output (ISO 8601), which is given to the minute.
    """
    made = f" from {came[:16].replace('T', ' ')}" if came else ""
    facts = [f"output of {tool or 'a tool'}{made} cleared"]
    if at:
        facts.append(f"at {at}")
    size = f"; it took {tokens:,} tokens" if tokens else ""
    return f"[{' '.join(facts)}{f': {why}' if why else size}]"


def cleared(
    message: Message,
    at: str = "",
    names: Mapping[str, str] | None = None,
    counter: TokenCounter = ESTIMATOR,
) -> Message:
    """Return the message with each of its tool outputs cleared, media of outputs included.

    `names` maps call ids to tools, for results that do not repeat the name. An output that is no longer than its
    tombstone stays unchanged.
    """

    def clear(part: ToolResult) -> ToolResult:
        tool = part.name or (names or {}).get(part.call_id, "")
        return cleared_result(part, tool, at, counter, came=message.at)

    return replace(message, parts=tuple(clear(p) if isinstance(p, ToolResult) else p for p in message.parts))


def cleared_result(
    part: ToolResult,
    tool: str,
    at: str = "",
    counter: TokenCounter = ESTIMATOR,
    why: str = "",
    came: str = "",
) -> ToolResult:
    """Return an output replaced by one line, or unchanged if the line would be no shorter."""
    text = cleared_text(tool, at, 0 if why else counter.count(part.text), why, came)
    if len(text) >= len(part.text) and not part.media:
        return part
    return replace(part, text=text, media=())


def shortened_text(
    text: str, head: int = HEAD_CHARS, tail: int = TAIL_CHARS, error_lines: int | None = None
) -> str:
    """Return the first `head` and last `tail` characters, and between them every line that mentions an error.

    `error_lines` is the most of these lines, None for all; equal lines are given once, long ones are cut. A mark gives
    the number of characters removed. If the result would not be shorter, the text is returned unchanged.
    """
    if len(text) <= head + tail:
        return text
    middle = text[head : len(text) - tail]
    kept = [] if error_lines == 0 else _error_lines(middle)[:error_lines]
    gone = len(middle) - sum(map(len, kept))
    short = text[:head] + _gap(gone, text) + "".join(f"{line}\n" for line in kept) + text[len(text) - tail :]
    return short if len(short) < len(text) else text


def _gap(chars: int, text: str) -> str:
    """Return the mark for characters that are left out of a text."""
    return f"\n[{chars:,} of {len(text):,} characters left out]\n"


def _error_lines(text: str) -> list[str]:
    """Return the lines that mention an error, equal lines once, long ones cut."""
    found: dict[str, None] = {}
    numbers, coded = frozenset(_STEMS.lines_of(text)), _CODE.search(text) is not None
    for number, row in enumerate(text.split("\n") if numbers or coded else ()):
        if number in numbers or (coded and _CODE.search(row)):
            for line in row.splitlines():
                if _ERROR.search(line[:2_000]):
                    found[line.strip()[:LONGEST_LINE]] = None
    return list(found)


def shortened(
    message: Message,
    head: int = HEAD_CHARS,
    tail: int = TAIL_CHARS,
    error_lines: int | None = None,
    results_only: bool = True,
) -> Message:
    """Return the message with its tool outputs shortened, and its own texts too unless `results_only`."""

    def shorten(part: Part) -> Part:
        if isinstance(part, ToolResult):
            return part.with_text(shortened_text(part.text, head, tail, error_lines))
        if isinstance(part, Text) and not results_only:
            text = shortened_text(part.text, head, tail, error_lines)
            return part if text == part.text else replace(part, text=text)
        return part

    parts = tuple(map(shorten, message.parts))
    return message if parts == message.parts else replace(message, parts=parts)


def without_media(message: Message) -> Message:
    """Return the message with a placeholder text for each image, sound or document."""
    if not message.media:
        return message
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, Media):
            parts.append(Text(_media_mark(part)))
        elif isinstance(part, ToolResult) and part.media:
            marks = " ".join(map(_media_mark, part.media))
            parts.append(replace(part, text=f"{part.text}\n{marks}" if part.text else marks, media=()))
        else:
            parts.append(part)
    return replace(message, parts=tuple(parts))


def _media_mark(media: Media) -> str:
    return f"[{media.kind} left out]"


def fitted(text: str, tokens: int, counter: TokenCounter = ESTIMATOR) -> str:
    """Return the text cut to at most `tokens`: two thirds from its beginning, one third from its end; "" if none fits.

    A few ever shorter texts are counted, never one for each character.
    """
    size = counter.count(text)
    if size <= tokens:
        return text
    chars = int(len(text) * max(0, tokens) / max(1, size))
    while chars > 0:
        head = chars * 2 // 3
        tail = chars - head
        short = text[:head] + _gap(len(text) - chars, text) + (text[len(text) - tail :] if tail else "")
        if len(short) < len(text) and counter.count(short) <= tokens:
            return short
        chars = min(chars - 1, chars * 4 // 5)
    return ""


def cut_message(message: Message, tokens: int, counter: TokenCounter = ESTIMATOR) -> Message:
    """Return the message with its texts and tool outputs cut to at most `tokens` in all, as far as that is possible.

    Small texts stay whole, the large ones share the rest; at least a mark stays. Other parts are unchanged.
    """
    size = estimate_message_tokens(message, counter)
    if size <= tokens:
        return message
    costs = [counter.count(p.text) if isinstance(p, Text | ToolResult) else 0 for p in message.parts]
    left = tokens - (size - sum(costs))
    waiting = sorted((n for n, c in enumerate(costs) if c), key=costs.__getitem__)
    parts: list[Part | None] = list(message.parts)
    for done, n in enumerate(waiting):
        share = max(0, left) // (len(waiting) - done)
        part = message.parts[n]
        if costs[n] > share and isinstance(part, Text | ToolResult):
            text = fitted(part.text, share, counter)
            parts[n] = replace(part, text=text) if text or isinstance(part, ToolResult) else None
            left -= counter.count(text)
        else:
            left -= costs[n]
    kept = tuple(p for p in parts if p is not None)
    return replace(message, parts=kept or (Text(CUT),))

"""The rows of a transcript, found in a request that its agent sent: by the ids of calls and results, or by text.

The server writes the edits of a followed session by its rows. The proxy finds the rows in the request that it is about
to send, so that no earlier call has to be known.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from scoring.messages import Message, is_reasoning_only
from webapp.services.context.edits import Edit, EditedRow, edits_by_key
from webapp.services.proxied.keys import NO_KEY, answer_kind

# Texts shorter than this say nothing about which conversation they are of.
TELLING_CHARS = 24
# A request that has none of so many last rows of a transcript does not go on from it.
LAST_ROWS = 8
# A call by its id, or, with True, its result.
CallPart = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class TranscriptRow:
    """The parts of a transcript's row by which it is found in a request.

    `text` is a digest, "" for none. `is_telling` says that it is long enough to identify a conversation, `is_thought`
    that the row has only reasoning, which is found by its place.
    """

    id: str
    role: str
    calls: Sequence[str]
    results: Sequence[str]
    text: str
    is_telling: bool
    is_thought: bool

    @classmethod
    def of(cls, message: Message, id: str = "") -> TranscriptRow:
        """Return the row of a message."""
        text = message.text.strip()
        return cls(
            id=id,
            role=message.role,
            calls=[one.id for one in message.calls],
            results=[one.call_id for one in message.results],
            text=_digest(text) if text else "",
            is_telling=len(text) >= TELLING_CHARS,
            is_thought=is_reasoning_only(message),
        )

    @classmethod
    def read(cls, value: Any) -> TranscriptRow:
        """Return the row that `to_dict` wrote. Raises KeyError or TypeError for any other value."""
        row = cls(**value)
        texts = (row.id, row.role, row.text, *row.calls, *row.results)
        if not all(isinstance(one, str) for one in texts):
            raise TypeError("a row of its transcript is not as the server writes it")
        return row

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)

    @property
    def parts(self) -> list[CallPart]:
        """Return its calls and results."""
        return [*((one, False) for one in self.calls), *((one, True) for one in self.results)]


@dataclass(frozen=True)
class RequestContents:
    """The calls, results, texts and reasoning of a request's items, with their places."""

    call_parts: Mapping[CallPart, int]
    texts: Mapping[tuple[bool, str], Sequence[int]]
    """By digest, in order; with True for a text of the assistant."""
    reasoning: frozenset[int]

    @classmethod
    def of(cls, items: Sequence[Any]) -> RequestContents:
        """Return those of a request's items."""
        call_parts: dict[CallPart, int] = {}
        texts: dict[tuple[bool, str], list[int]] = {}
        for i, item in enumerate(items):
            if not isinstance(item, dict):
                continue
            for part in _call_parts(item):
                call_parts.setdefault(part, i)
            is_answer = item.get("role") == "assistant"
            for text in _texts(item):
                texts.setdefault((is_answer, _digest(text)), []).append(i)
        reasoning = frozenset(i for i, item in enumerate(items) if answer_kind(item) == "reasoning")
        return cls(call_parts, texts, reasoning)

    def places(self, row: TranscriptRow, after: int) -> Sequence[int]:
        """Return the places of a row in order, texts at or behind another place; empty where it is not there.

        OpenAI's formats have an item for each result, and Responses one for each call and text.
        """
        named = {self.call_parts[part] for part in row.parts if part in self.call_parts}
        texts = self.texts.get((row.role == "assistant", row.text), ())
        if not named:
            first = bisect_left(texts, after)
            return texts[first : first + 1]
        # The text of an answer is directly before its calls.
        before = bisect_right(texts, min(named))
        if before and texts[before - 1] >= after:
            named.add(texts[before - 1])
        return sorted(named)

    def with_reasoning(self, places: Iterable[int]) -> list[int]:
        """Return places with those of the reasoning directly before them, which providers refuse alone."""
        found: list[int] = []
        for place in places:
            first = place
            while first - 1 in self.reasoning:
                first -= 1
            found += range(first, place + 1)
        return found

    def has(self, row: TranscriptRow) -> bool:
        """Return whether a row is in the request."""
        return len(self.places(row, 0)) > 0

    def continues(self, last: Iterable[TranscriptRow], *, named: bool = False) -> bool:
        """Return whether a request goes on from the last rows of a transcript.

        One of their calls is in it, or texts of two roles; without the session's name these must be telling.
        """
        here = [row for row in last if self.has(row)]
        roles = {row.role for row in here if row.text and (named or row.is_telling)}
        return len(roles) > 1 or any(row.calls or row.results for row in here)


def matched(rows: Iterable[TranscriptRow], contents: RequestContents) -> dict[str, tuple[int, ...]]:
    """Return the places of the items that hold a transcript's rows, by the ids of the rows.

    Reasoning in items of its own is known by its place, before what it led to. A row without a place is left out, so
    that no script drops it.
    """
    found, last = dict[str, tuple[int, ...]](), 0
    thoughts: list[str] = []  # rows directly before the next one
    for row in rows:
        if row.is_thought:
            thoughts.append(row.id)
            continue
        held = contents.places(row, last)
        if held:
            places = contents.with_reasoning(held)
            before = [i for i in places if i < held[0]]
            of_thoughts = dict(zip(reversed(before), reversed(thoughts), strict=False))
            found |= {thought: (i,) for i, thought in of_thoughts.items()}
            found[row.id] = tuple(i for i in places if i not in of_thoughts)
            last = max(last, held[-1])
        thoughts = []
    return found


def last_of(rows: Sequence[TranscriptRow]) -> Sequence[TranscriptRow]:
    """Return the last rows that can be found in a request."""
    return [row for row in rows if row.role != "system" and (row.text or row.parts)][-LAST_ROWS:]


def edits_in(
    contents: RequestContents, keys: Sequence[str], rows: Sequence[TranscriptRow], edits: Mapping[str, Edit]
) -> dict[str, Edit] | None:
    """Return the edits of a request's items by their keys, from those of a transcript's rows by their ids.

    None if the request does not go on from the rows, such as one for a title. Later rows can be in one item with these,
    so an item with a call or result of no dropped row stays, and so do the one of the last row and the last one.
    """
    if not contents.continues(last_of(rows), named=True):
        return None
    found = matched(rows, contents)

    def keys_of(row: TranscriptRow) -> list[str]:
        return [keys[i] for i in found.get(row.id, ()) if keys[i] != NO_KEY]

    edited = [EditedRow(keys_of(row), row.role, edits.get(row.id, {})) for row in rows]
    dropped = [row for row in rows if edits.get(row.id, {}).get("drop")]
    parts = {part for row in dropped for part in row.parts}
    kept = {i for part, i in contents.call_parts.items() if part not in parts}
    kept |= {max(places[-1] for places in found.values()), len(keys) - 1}
    return edits_by_key([*edited, EditedRow([keys[i] for i in kept], "", {})])


def texts_of(content: Any) -> list[str]:
    """Return the texts of a wire message's content: a string, or blocks."""
    blocks = content if isinstance(content, list) else [{"text": content}]
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return [text for text in texts if isinstance(text, str)]


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _call_parts(item: Mapping[str, Any]) -> list[CallPart]:
    """Return the calls and results in an item of any format."""
    found: list[CallPart] = []
    if isinstance(item.get("call_id"), str):
        found.append((item["call_id"], str(item.get("type")).endswith("_output")))
    if isinstance(item.get("tool_call_id"), str):
        found.append((item["tool_call_id"], True))
    called, content = item.get("tool_calls"), item.get("content")
    calls = [one.get("id") for one in called if isinstance(one, dict)] if isinstance(called, list) else []
    found += [(call, False) for call in calls if isinstance(call, str)]
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
            found.append((block["id"], False))
        elif block.get("type") == "tool_result" and isinstance(block.get("tool_use_id"), str):
            found.append((block["tool_use_id"], True))
    return found


def _texts(item: Mapping[str, Any]) -> set[str]:
    """Return the texts of an item: each block, and all of them together."""
    texts = texts_of(item.get("content"))
    return {text.strip() for text in (*texts, "\n".join(texts), "".join(texts))} - {""}

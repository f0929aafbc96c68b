"""The rows of a transcript, found in a request that its agent sent: by the ids of calls and results, or by text.

The server writes the edits of a followed session by its rows. The proxy finds the rows in the request that it is about
to send, so that no earlier call has to be known.
"""

from __future__ import annotations

import hashlib
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any

from scoring.messages import Message, is_reasoning_only
from webapp.services.context.edits import Edit, EditedRow, edits_by_key
from webapp.services.proxied.call_ids import calls_of, objects_in, results_of
from webapp.services.proxied.keys import NO_KEY, answer_kind

# Texts shorter than this say nothing about which conversation they are of.
TELLING_CHARS = 24
# A request that has none of so many last rows of a transcript does not go on from it.
LAST_ROWS = 8
# A call by its id, or, with True, its result.
CallPart = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class TranscriptRow:
    """A row of a transcript, with all by which it is found in a request: its calls and results, and its text.

    `text` is a digest, "" for none. `is_telling` says that it is long enough to identify a conversation, `is_thought`
    that the row has only reasoning, which is found by its place. `outputs` are digests of the results that are as long,
    with their calls.
    """

    id: str
    role: str
    parts: tuple[CallPart, ...] = ()
    text: str = ""
    is_telling: bool = False
    is_thought: bool = False
    outputs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, message: Message, id: str = "") -> TranscriptRow:
        """Return the row of a message."""
        text = message.text.strip()
        return cls(
            id=id,
            role=message.role,
            parts=(
                *((one.id, False) for one in message.calls),
                *((one.call_id, True) for one in message.results),
            ),
            text=_digest(text) if text else "",
            is_telling=len(text) >= TELLING_CHARS,
            is_thought=is_reasoning_only(message),
            outputs=tuple(
                (one.call_id, _digest(said))
                for one in message.results
                if len(said := one.text.strip()) >= TELLING_CHARS
            ),
        )

    @classmethod
    def read(cls, value: Any) -> TranscriptRow:
        """Return the row that `to_dict` wrote. Raises TypeError or ValueError for any other value."""
        fields = {**value}
        parts = tuple((call, bool(is_result)) for call, is_result in fields.pop("parts", ()))
        outputs = tuple((call, digest) for call, digest in fields.pop("outputs", ()))
        row = cls(**fields, parts=parts, outputs=outputs)
        names = (
            row.id,
            row.role,
            row.text,
            *(call for call, _ in parts),
            *(one for pair in outputs for one in pair),
        )
        if not all(isinstance(one, str) for one in names):
            raise TypeError("a row of its transcript is not as the server writes it")
        return row

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON-ready data."""
        found = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True)
class RequestContents:
    """The calls, results, texts and reasoning of a request's items, with their places."""

    call_parts: Mapping[CallPart, Sequence[int]]
    texts: Mapping[tuple[bool, str], Sequence[int]]
    """By digest, in order, as often as an item has it; with True for a text of the assistant."""
    reasoning: frozenset[int]
    outputs: frozenset[tuple[str, str]]
    """Calls with digests of their results."""

    @classmethod
    def of(cls, items: Sequence[Any]) -> RequestContents:
        """Return those of a request's items."""
        call_parts: dict[CallPart, list[int]] = {}
        texts: dict[tuple[bool, str], list[int]] = {}
        for i, item in enumerate(items):
            if not isinstance(item, dict):
                continue
            for part in _call_parts(item):
                call_parts.setdefault(part, []).append(i)
            is_answer = item.get("role") == "assistant"
            for text in _texts(item):
                texts.setdefault((is_answer, _digest(text)), []).append(i)
        reasoning = frozenset(i for i, item in enumerate(items) if answer_kind(item) == "reasoning")
        outputs = frozenset((call, _digest(text)) for item in items for call, text in _outputs(item))
        return cls(call_parts, texts, reasoning, outputs)

    def parts_of(self, row: TranscriptRow) -> list[Sequence[int]]:
        """Return the places of each call and result of a row that is there; some providers repeat their ids."""
        return [self.call_parts[part] for part in row.parts if part in self.call_parts]

    def places(
        self, row: TranscriptRow, after: int, before: int, taken: dict[tuple[bool, str], int]
    ) -> Sequence[int]:
        """Return the places of a row in order, texts between two places; empty where it is not there.

        OpenAI's formats have an item for each result, and Responses one for each call and text. `taken` has the number
        of the occurrence that was last found of each text, and is changed along.
        """
        named = {at[min(bisect_left(at, after), len(at) - 1)] for at in self.parts_of(row)}
        key = row.role == "assistant", row.text
        texts = self.texts.get(key, ())
        if not named:
            number = bisect_left(texts, after)
            if number <= taken.get(key, -1):  # the row before it, or one in the same item, has the same text
                number, last = taken[key] + 1, texts[taken[key]]
                if number == len(texts) or texts[number] > min(last + 1, before):
                    number -= 1  # an equal text further away is that of a later row: this one was not sent
            if number == len(texts) or texts[number] > before:
                return ()
            taken[key] = number
            return [texts[number]]
        # The text of an answer is directly before its calls.
        end = bisect_right(texts, min(named))
        if end and texts[end - 1] >= after:
            named.add(texts[end - 1])
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
        return bool(self.parts_of(row)) or (row.role == "assistant", row.text) in self.texts

    def continues(self, last: Iterable[TranscriptRow], *, named: bool = False) -> bool:
        """Return whether a request goes on from the last rows of a transcript.

        One of their calls is in it, or two of their texts. Without the session's name these are telling ones, by both
        roles, and a call has the same result: some providers give the same ids in each conversation.
        """
        here = [row for row in last if self.has(row)]
        texts = {row.text if named else row.role for row in here if row.text and (named or row.is_telling)}
        has_calls = any(
            self.parts_of(row) if named else self.outputs.intersection(row.outputs) for row in here
        )
        return len(texts) > 1 or has_calls


def matched(rows: Sequence[TranscriptRow], contents: RequestContents) -> dict[str, tuple[int, ...]]:
    """Return the places of the items that hold a transcript's rows, by the ids of the rows.

    A text is between the calls and results before and after it. Reasoning in items of its own is known by its place,
    before what it led to. A row without a place is left out, so that no script drops it.
    """
    firsts = (
        min((at[0] for at in contents.parts_of(row) if len(at) == 1), default=sys.maxsize)
        for row in reversed(rows)
    )
    ends = reversed([*accumulate(firsts, min)])
    found, last = dict[str, tuple[int, ...]](), 0
    taken = dict[tuple[bool, str], int]()
    thoughts: list[str] = []  # rows directly before the next one
    for row, end in zip(rows, ends, strict=True):
        if row.is_thought:
            thoughts.append(row.id)
            continue
        held = contents.places(row, last, end, taken)
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
    """Return the last rows that can be found in a request, the newest first."""
    found = (row for row in reversed(rows) if row.role != "system" and (row.text or row.parts))
    return [*islice(found, LAST_ROWS)]


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
    kept = {i for part, at in contents.call_parts.items() if part not in parts for i in at}
    kept |= {max(places[-1] for places in found.values()), len(keys) - 1}
    # The summary of a row that is not in the request is before the last item, but not between a call and its result.
    results = {i for (_, is_result), at in contents.call_parts.items() if is_result for i in at}
    last_first = sorted(kept, key=lambda i: (i in results, -i))
    return edits_by_key([*edited, EditedRow([keys[i] for i in last_first], "", {})])


def texts_of(content: Any) -> list[str]:
    """Return the texts of a wire message's content: a string, or blocks."""
    blocks = content if isinstance(content, list) else [{"text": content}]
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return [text for text in texts if isinstance(text, str)]


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _call_parts(item: Mapping[str, Any]) -> list[CallPart]:
    """Return the calls and results in an item of any format."""
    return [
        *((call, False) for call in calls_of(item)),
        *((call, True) for call in results_of(item)),
    ]


def _outputs(item: Any) -> Iterator[tuple[str, str]]:
    """Yield the calls whose results are in an item, each with its texts."""
    if not (results := results_of(item)):
        return
    blocks = [block for block in objects_in(item, "content") if block.get("type") == "tool_result"]
    contents = [block.get("content") for block in blocks] or [item.get("output", item.get("content"))]
    for call, content in zip(results, contents, strict=False):
        yield from ((call, text) for text in _texts({"content": content}))


def _texts(item: Mapping[str, Any]) -> list[str]:
    """Return the texts of an item: each block, and all of them together."""
    texts = texts_of(item.get("content"))
    blocks = [text.strip() for text in texts]
    together = {joined.join(texts).strip() for joined in ("\n", "")}.difference(blocks)
    return [text for text in (*blocks, *together) if text]

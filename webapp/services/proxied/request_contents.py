"""The messages of a transcript, found in a request that the agent sent: by the ids of calls and results, or by text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.messages import Message, is_reasoning_only
from webapp.agents.view import ViewRow
from webapp.services.proxied.keys import answer_kind
from webapp.services.proxied.read_calls import texts_of

# Texts shorter than this say nothing about which conversation they are of.
TELLING_CHARS = 24
# A call by its id, or, with True, its result.
CallPart = tuple[str, bool]


@dataclass(frozen=True)
class RequestContents:
    """The calls, results, texts and reasoning of a request, with the places of their items."""

    call_parts: Mapping[CallPart, int]
    texts: Mapping[tuple[bool, bytes], Sequence[int]]
    """By digest, so that little is kept of a long request; with True for a text of the assistant."""
    reasoning: frozenset[int]

    @classmethod
    def of(cls, items: Sequence[Any]) -> RequestContents:
        """Return those of a request's items."""
        call_parts: dict[CallPart, int] = {}
        texts: dict[tuple[bool, bytes], list[int]] = {}
        for i, item in enumerate(items):
            if not isinstance(item, dict):
                continue
            for part in _call_parts(item):
                call_parts.setdefault(part, i)
            for text in _texts(item):
                texts.setdefault((item.get("role") == "assistant", _digest(text)), []).append(i)
        reasoning = frozenset(i for i, item in enumerate(items) if answer_kind(item) == "reasoning")
        return cls(call_parts, texts, reasoning)

    def places(self, message: Message, after: int) -> Sequence[int]:
        """Return the places of a message in order, texts at or behind another place; empty where it is not there.

        OpenAI's formats have an item for each result, and Responses one for each call and text.
        """
        calls = [(one.id, False) for one in message.calls]
        results = [(one.call_id, True) for one in message.results]
        named = {self.call_parts[part] for part in calls + results if part in self.call_parts}
        texts = [
            i
            for i in self.texts.get((message.role == "assistant", _digest(message.text.strip())), ())
            if i >= after and (not named or i <= min(named))
        ]
        # The text of an answer is directly before its calls.
        return sorted(named.union(texts[-1:])) if named else texts[:1]

    def with_reasoning(self, places: Iterable[int]) -> list[int]:
        """Return places with those of the reasoning directly before them, which providers refuse alone."""
        found: list[int] = []
        for place in places:
            first = place
            while first - 1 in self.reasoning:
                first -= 1
            found += range(first, place + 1)
        return found

    def has(self, message: Message) -> bool:
        """Return whether a message is in the request."""
        return bool(message.text.strip() or message.calls or message.results) and (
            len(self.places(message, 0)) > 0
        )

    def continues(self, last: Iterable[Message]) -> bool:
        """Return whether a request goes on from a transcript: one of its calls, or two telling texts, are in it."""
        here = [message for message in last if self.has(message)]
        long = [one for one in here if len(one.text.strip()) >= TELLING_CHARS]
        return any(one.calls or one.results for one in here) or len({one.role for one in long}) > 1


def matched(
    rows: Iterable[ViewRow], contents: RequestContents, keys: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return the keys of the items that hold a transcript's rows, by the ids of the rows.

    Reasoning in items of its own is known by its place, before what it led to. A row without a place is left out, so
    that no script drops it.
    """
    found, last = dict[str, tuple[str, ...]](), 0
    thoughts: list[str] = []  # rows directly before the next one
    for row in rows:
        if is_reasoning_only(row.message):
            thoughts.append(row.id)
            continue
        held = contents.places(row.message, last)
        if held:
            places = contents.with_reasoning(held)
            before = [i for i in places if i < held[0]]
            of_thoughts = dict(zip(reversed(before), reversed(thoughts), strict=False))
            found |= {thought: (keys[i],) for i, thought in of_thoughts.items()}
            found[row.id] = tuple(keys[i] for i in places if i not in of_thoughts)
            last = max(last, held[-1])
        thoughts = []
    return found


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


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

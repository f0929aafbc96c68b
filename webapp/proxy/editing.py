"""Applies an edit script to the text of a request. Unedited parts keep their exact bytes.

Regardless of the script, calls stay with their results, reasoning with all that it led to, and a list begins with the
user. A cache marker moves to the previous message if its own is dropped. Thoughts from before the script took
effect are removed, because models refuse thoughts about a history that has changed; later ones stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scoring.messages import Links, Units
from webapp.proxy.json_text import Place, members, spliced, value_at, written
from webapp.proxy.links import links_in
from webapp.services.proxied.call_ids import calls_of, objects_in, results_of
from webapp.services.proxied.keys import (
    CACHE_MARK,
    Protocol,
    followed_answer,
    is_reference,
    is_thought,
    keys_of,
    prompts_of,
)
from webapp.services.proxied.request_contents import RequestContents

Edits = Mapping[str, Mapping[str, Any]]

_NONE: Mapping[str, Any] = {}
# The fields by which calls of a format refer to a history that the provider keeps.
_KEPT_ELSEWHERE = {"responses": ("previous_response_id", "conversation"), "anthropic": ("thread",)}
_MARKABLE = ("text", "image", "document", "tool_use", "tool_result")


class Refused(Exception):
    """The reason a request is sent unchanged."""


class Item:
    """A message of a list: its text, its value, and facts about it that are computed once for all requests with it."""

    def __init__(self, place: Place) -> None:
        self.place, self.raw, self.value = place, place.raw, place.value
        self._made: tuple[Mapping[str, Any], bool, bool, tuple[str, str]] | None = None

    @cached_property
    def calls(self) -> list[str]:
        """Return the ids of its calls."""
        return calls_of(self.value)

    @cached_property
    def results(self) -> list[str]:
        """Return the ids of the calls whose results it holds."""
        return results_of(self.value)

    @cached_property
    def links(self) -> Links:
        """Return its links to other messages."""
        return links_in(self.value)

    @cached_property
    def is_asking(self) -> bool:
        """Return whether it is from the user and holds no tool results."""
        return isinstance(self.value, dict) and self.value.get("role") == "user" and not self.results

    @cached_property
    def is_system(self) -> bool:
        """Return whether it is a system message, with which a list may begin before the user's first one."""
        return isinstance(self.value, dict) and self.value.get("role") == "system"

    @cached_property
    def has_thoughts(self) -> bool:
        """Return whether it holds thoughts."""
        return isinstance(self.value, dict) and any(map(is_thought, objects_in(self.value, "content")))

    def sent(self, edit: Mapping[str, Any], *, gone: bool, thoughtless: bool) -> tuple[str, str]:
        """Return the text to send, "" if it is dropped, and a cache marker whose block was removed, otherwise ""."""
        made = self._made
        if made is None or made[0] is not edit or made[1:3] != (gone, thoughtless):
            said = _message(self, edit, gone=gone, thoughtless=thoughtless)
            made = self._made = (edit, gone, thoughtless, said)
        return made[3]


@dataclass(frozen=True)
class Body:
    """The text of a request, with its messages and their places; `known` are the keys of the first messages."""

    text: str
    protocol: Protocol
    fields: Mapping[str, Place]
    items: Sequence[Item]
    places: Sequence[Place]
    known: Sequence[str] = ()

    @classmethod
    def read(cls, data: bytes, protocol: Protocol, before: Body | None = None) -> Body:
        """Return the body of a request; parts with the same text as in the request `before` are not parsed again.

        Raises:
            Refused: it is not a JSON object with a list of messages.
        """
        before = before if before is not None and before.protocol is protocol else None
        old = before.items if before else ()
        try:
            text = data.decode("utf-8")
            fields, places = members(
                text, protocol.list_name, before.fields if before else None, [one.place for one in old]
            )
        except (ValueError, RecursionError) as error:
            raise Refused(f"its body cannot be read: {error}") from None
        if not places:
            raise Refused(_history_elsewhere(protocol, fields) or "it has no list of messages")
        items = [
            old[i]
            if i < len(old) and old[i].value is place.value and old[i].raw is place.raw
            else Item(place)
            for i, place in enumerate(places)
        ]
        same = next((i for i, item in enumerate(items) if i >= len(old) or item is not old[i]), len(items))
        return cls(text, protocol, fields, items, places, before.keys[:same] if before else ())

    def shared_with(self, text: str) -> int:
        """Return the number of first messages that another request has at the same places."""
        same = (text.startswith(place.raw, place.start) for place in self.places)
        return next((i for i, is_same in enumerate(same) if not is_same), len(self.places))

    @cached_property
    def keys(self) -> list[str]:
        """Return the keys of the messages, in order.

        Raises:
            Refused: a message is nested too deeply.
        """
        try:
            return keys_of([item.value for item in self.items], self.known)
        except ValueError as error:
            raise Refused(str(error)) from None

    @cached_property
    def contents(self) -> RequestContents:
        """Return the calls, results and texts of the messages."""
        return RequestContents.of([item.value for item in self.items])

    @property
    def why_not(self) -> str:
        """Return the reason this request cannot be edited; "" if it can."""
        return _history_elsewhere(self.protocol, self.fields)

    @cached_property
    def asked(self) -> int:
        """Return the index of the user's last message; a running tool loop begins after it.

        What comes right after results is sent with them, as one message: a reminder does not end the loop.
        """
        behind = False  # results
        found = prompts_of([item.value for item in self.items])  # a message with a key
        for i, item in enumerate(self.items):
            is_user = isinstance(item.value, dict) and item.value.get("role") == "user"
            behind = is_user and (behind or bool(item.results))
            if item.is_asking and not behind:
                found = i
        return found

    @property
    def is_thinking(self) -> bool:
        """Return whether the running tool loop holds thoughts, which the model accepts only with the same history."""
        return any(item.has_thoughts for item in self.items[self.asked :])


def _history_elsewhere(protocol: Protocol, fields: Mapping[str, Place]) -> str:
    """Return the reason a request that refers to a history at its provider cannot be edited; "" for any other."""
    named = _KEPT_ELSEWHERE.get(protocol.format, ())
    found = {name: value for name in named if name in fields and (value := fields[name].value)}
    if followed_answer(protocol.format, found) or "conversation" in found:
        return f"its history is at the provider ({', '.join(found)})"
    return ""


def edited(body: Body, edits: Edits, ended: str) -> str:
    """Return the text of the request with a script applied; the same text if the script changes nothing.

    `ended` is the key of the message before which thoughts are removed.

    Raises:
        Refused: the result would be incomplete, or a message is not an object or has a name twice.
    """
    if not all(isinstance(item.value, dict) for item in body.items):
        raise Refused("a message of its list is not an object")
    try:
        return _edited(body, edits, ended)
    except ValueError as error:
        raise Refused(f"a message cannot be edited: {error}") from None


def _edited(body: Body, edits: Edits, ended: str) -> str:
    gone = _gone(body, edits)
    over = body.keys.index(ended) if ended in body.keys else 0
    sent: list[tuple[str, Item]] = []
    changed = False
    for i, (key, item) in enumerate(zip(body.keys, body.items, strict=True)):
        edit = edits.get(key, _NONE)
        for words in edit.get("before", ()):
            new = Item(value_at(_said(body, words), 0))
            sent.append((new.raw, new))
            changed = True
        raw, mark = item.sent(edit, gone=i in gone, thoughtless=i < over)
        changed |= raw is not item.raw and raw != item.raw
        if raw:
            sent.append((raw, item))  # an edit keeps the ids of calls
        if mark and sent:
            sent[-1] = (_marked(sent[-1][0], mark), sent[-1][1])
    if not changed:
        return body.text
    _require_whole(body, [item for _, item in sent])
    list_text = ",".join(raw for raw, _ in sent)
    return spliced(body.text, [(body.places[0].start, body.places[-1].end, list_text)])


# -- dropped messages


def _gone(body: Body, edits: Edits) -> set[int]:
    """Return the indexes of the messages to drop, except those that a kept message depends on."""
    gone = {i for i, key in enumerate(body.keys) if edits.get(key, _NONE).get("drop")}
    if not gone:
        return gone
    units = Units()
    units.extend(item.links for item in body.items)
    before = -1
    while before != len(gone):
        before = len(gone)
        gone = {i for i in gone if gone.issuperset(units.of(i))}
        if body.protocol.format == "anthropic":
            gone -= _opening(body.items, gone)
    return gone


def _opening(items: Sequence[Item], gone: set[int]) -> set[int]:
    """Return the index of the user's first message if the list would otherwise begin with an answer or a result."""
    first = next((i for i, item in enumerate(items) if i not in gone and not item.is_system), None)
    if first is not None and items[first].is_asking:
        return set()
    return {next((i for i, item in enumerate(items) if item.is_asking), 0)}


# -- edited messages


def _message(item: Item, edit: Mapping[str, Any], *, gone: bool, thoughtless: bool) -> tuple[str, str]:
    """Return the text to send, "" for a dropped message, and a cache marker whose block was removed, otherwise ""."""
    raw, value = item.raw, item.value
    if not isinstance(value, dict):
        return raw, ""
    outputs: Mapping[str, str] = edit.get("outputs") or {}
    strips = thoughtless and item.has_thoughts
    if not gone and not outputs and not strips:
        return raw, ""
    if gone and CACHE_MARK not in raw:
        return "", ""
    fields, blocks = members(raw, "content")
    if gone:
        marks = [_mark_of(block) for block in blocks]
        return "", next((mark for mark in reversed(marks) if mark), "")
    if not isinstance(value.get("content"), list):
        return _flat(item, fields, outputs), ""
    kept, mark = [], ""
    for block in blocks:
        if strips and is_thought(block.value):
            mark = _mark_of(block) or mark
            continue
        kept.append(_block(block, outputs))
    if not kept:
        return "", mark
    content = fields["content"]
    return spliced(raw, [(content.start, content.end, f"[{','.join(kept)}]")]), mark


def _flat(item: Item, fields: Mapping[str, Place], outputs: Mapping[str, str]) -> str:
    """Return a message that is a single result, with its output replaced."""
    name = "output" if "output" in fields else "content"
    new = next((outputs[call] for call in item.results if call in outputs), None)
    if new is None or name not in fields:
        return item.raw
    return spliced(item.raw, [(fields[name].start, fields[name].end, written(new))])


def _block(block: Place, outputs: Mapping[str, str]) -> str:
    value = block.value
    new = outputs.get(str(value.get("tool_use_id"))) if isinstance(value, dict) else None
    if new is None or value.get("type") != "tool_result":
        return block.raw
    content = members(block.raw)[0].get("content")
    if content is None:
        return block.raw
    return spliced(block.raw, [(content.start, content.end, written(new))])


def _mark_of(block: Place) -> str:
    """Return the text of a block's cache marker; "" if it has none."""
    if not isinstance(block.value, dict) or CACHE_MARK not in block.value:
        return ""
    return members(block.raw)[0][CACHE_MARK].raw


def _marked(raw: str, mark: str) -> str:
    """Return a message with a cache marker on its last block; unchanged if it has one or cannot have one."""
    fields, blocks = members(raw, "content")
    if "content" not in fields or CACHE_MARK in fields:
        return raw
    content = fields["content"]
    if isinstance(content.value, str) and content.value.strip():
        new = f'[{{"type":"text","text":{content.raw},"{CACHE_MARK}":{mark}}}]'
        return spliced(raw, [(content.start, content.end, new)])
    last = blocks[-1] if blocks else None
    if last is None or not isinstance(last.value, dict) or CACHE_MARK in last.value:
        return raw
    if last.value.get("type") not in _MARKABLE or last.value.get("text") == "":
        return raw
    return spliced(raw, [(last.end - 1, last.end, f',"{CACHE_MARK}":{mark}}}')])


def _said(body: Body, words: str) -> str:
    """Return the text of a new user message."""
    message = {"role": "user", "content": words}
    return written({"type": "message", **message} if body.protocol.format == "responses" else message)


# -- checks of the result


def _require_whole(body: Body, sent: Sequence[Item]) -> None:
    """Refuse a list that a provider would reject.

    Raises:
        Refused: the list is incomplete; the reason tells if the client's own list already was.
    """
    wire_format = body.protocol.format
    if fault := _fault(sent, wire_format):
        own = _fault(body.items, wire_format)
        if own and any(is_reference(item.value) for item in body.items):
            raise Refused("its calls are at the provider (item_reference)")
        raise Refused(f"the client's own list is not whole: {own}" if own else fault)


def _fault(items: Sequence[Item], wire_format: str) -> str | None:
    """Return the reason a provider would reject a list; None for a complete list."""
    if not items:
        return "nothing would be left of it"
    if wire_format == "anthropic":
        first = next((item for item in items if not item.is_system), None)
        if first is None or not first.is_asking:
            return "it would not begin with the user"
    seen: set[str] = set()
    unanswered: set[str] = set()
    for item in items:
        if not seen.issuperset(item.results):
            return "a result would have no call"
        seen.update(item.links.calls, item.links.ties)
        unanswered.difference_update(item.results)
        unanswered.update(item.calls)
    return "a call would have no result" if unanswered else None

"""Applies an edit script to the text of a request. What is not edited stays byte for byte as it came.

Calls and results stay together whatever the script says, reasoning stays with what it led to, a list begins with the
user, and a mark of the cache moves to the message before where its own goes. Thoughts before the point where a script
began to hold are left out, because models refuse thoughts over a history that has changed; later ones are not touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from webapp.proxy.text import Place, members, spliced, value_at, written
from webapp.services.proxied.keys import Protocol, answer_kind, is_thought, keys_of

Edits = Mapping[str, Mapping[str, Any]]

_MARK = "cache_control"
# Fields by which a Responses call refers to a history that its provider keeps.
_KEPT_ELSEWHERE = ("previous_response_id", "conversation")
_MARKABLE = ("text", "image", "document", "tool_use", "tool_result")


class Refused(Exception):
    """A request that goes unchanged, with the reason in words."""


@dataclass(frozen=True)
class Body:
    """The text of a request, with the places of its messages."""

    text: str
    protocol: Protocol
    fields: Mapping[str, Place]
    items: Sequence[Place]

    @classmethod
    def read(cls, data: bytes, protocol: Protocol) -> Body:
        """Return the body of a request.

        Raises:
            Refused: it is no JSON object with a list of messages.
        """
        try:
            text = data.decode("utf-8")
            fields, items = members(text, 0, protocol.list_name)
        except (ValueError, RecursionError) as error:
            raise Refused(f"its body cannot be read: {error}") from None
        if not items:
            raise Refused("it has no list of messages")
        return cls(text, protocol, fields, items)

    @cached_property
    def keys(self) -> list[str]:
        """Return the keys of the messages, in order."""
        return keys_of([item.value for item in self.items])

    @property
    def why_not(self) -> str | None:
        """Return why such a request cannot be edited at all; None where it can."""
        for name in _KEPT_ELSEWHERE:
            if self.protocol.format == "responses" and name in self.fields and self.fields[name].value:
                return f"its history is at the provider ({name})"
        return None

    @cached_property
    def asked(self) -> int:
        """Return the index of the last words of the user: behind them a running tool loop begins."""
        return next((i for i in reversed(range(len(self.items))) if _is_asking(self.items[i].value)), 0)

    @property
    def is_thinking(self) -> bool:
        """Return whether the running tool loop holds thoughts, which refuse another history."""
        return any(_has_thoughts(item.value) for item in self.items[self.asked :])


def edited(body: Body, edits: Edits, ended: str) -> str:
    """Return the text of the request with a script applied; the text itself where the script changes nothing.

    `ended` is the key of the message before which thoughts are left out.

    Raises:
        Refused: the result would not be whole.
    """
    gone = _gone(body, edits)
    over = body.keys.index(ended) if ended in body.keys else 0
    sent: list[tuple[str, Any]] = []
    changed = False
    for i, item in enumerate(body.items):
        edit, came = edits.get(body.keys[i], {}), item.raw(body.text)
        new = [_said(body, words) for words in edit.get("before", ())]
        raw, mark = _message(body, item, edit, gone=i in gone, thoughtless=i < over)
        changed |= raw != came or bool(new)
        sent += ((words, value_at(words, 0).value) for words in new)
        if raw:
            sent.append((raw, item.value))  # an edit changes no id
        if mark and sent:
            sent[-1] = (_marked(sent[-1][0], mark), sent[-1][1])
    if not changed:
        return body.text
    _require_whole(body, [value for _, value in sent])
    list_text = ",".join(raw for raw, _ in sent)
    return spliced(body.text, [(body.items[0].start, body.items[-1].end, list_text)])


# -- what goes


def _gone(body: Body, edits: Edits) -> set[int]:
    """Return the indexes of the messages that go, less those that something which stays depends on."""
    items = [item.value for item in body.items]
    gone = {i for i, key in enumerate(body.keys) if edits.get(key, {}).get("drop")}
    if not gone:
        return gone
    groups = list(_groups(items))
    before = -1
    while before != len(gone):
        before = len(gone)
        for group in groups:
            if not group <= gone:
                gone -= group
        if body.protocol.format == "anthropic":
            gone -= _opening(items, gone)
    return gone


def _groups(items: Sequence[Any]) -> Iterator[set[int]]:
    """Yield the messages that go or stay together: calls with their results, reasoning with what it led to."""
    calls: dict[str, set[int]] = {}
    for i, item in enumerate(items):
        kind, following = answer_kind(item), i + 1 < len(items)
        if kind == "reasoning" and following and answer_kind(items[i + 1]) is not None:
            yield {i, i + 1}
        own = [*calls_of(item), *results_of(item)]
        for call in own:
            calls.setdefault(call, set()).add(i)
    yield from calls.values()


def _opening(items: Sequence[Any], gone: set[int]) -> set[int]:
    """Return the first words of the user where without them the list would begin with an answer or a result."""
    first = next((i for i in range(len(items)) if i not in gone), None)
    if first is not None and _is_asking(items[first]):
        return set()
    return {next((i for i, item in enumerate(items) if _is_asking(item)), 0)}


def calls_of(item: Any) -> list[str]:
    """Return the ids of the calls in a message, in any of the formats."""
    if not isinstance(item, dict):
        return []
    kind = answer_kind(item)
    if isinstance(item.get("call_id"), str) and kind is not None:
        return [item["call_id"]]
    named = [one.get("id") for one in item.get("tool_calls") or () if isinstance(one, dict)]
    used = [b.get("id") for b in _blocks(item) if b.get("type") == "tool_use"]
    return [str(name) for name in (*named, *used)]


def results_of(item: Any) -> list[str]:
    """Return the ids of the calls whose results are in a message."""
    if not isinstance(item, dict):
        return []
    if isinstance(item.get("call_id"), str) and answer_kind(item) is None:
        return [item["call_id"]]
    if item.get("role") == "tool":
        return [str(item.get("tool_call_id"))]
    return [str(b.get("tool_use_id")) for b in _blocks(item) if b.get("type") == "tool_result"]


def _blocks(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = item.get("content")
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _is_asking(item: Any) -> bool:
    """Return whether a message is the user's own words, not results of tools."""
    return isinstance(item, dict) and item.get("role") == "user" and not results_of(item)


def _has_thoughts(item: Any) -> bool:
    return isinstance(item, dict) and any(is_thought(b) for b in _blocks(item))


# -- what a message becomes


def _message(
    body: Body, item: Place, edit: Mapping[str, Any], *, gone: bool, thoughtless: bool
) -> tuple[str, str]:
    """Return a message as it is sent, "" where it goes, and a mark of the cache that has lost its block."""
    text, value = body.text, item.value
    if not isinstance(value, dict):
        return item.raw(text), ""
    outputs: Mapping[str, str] = edit.get("outputs") or {}
    strips = thoughtless and _has_thoughts(value)
    if not gone and not outputs and not strips:
        return item.raw(text), ""
    if gone and _MARK not in item.raw(text):
        return "", ""
    fields, blocks = members(text, item.start, "content")
    if gone:
        marks = [_mark_of(text, block) for block in blocks]
        return "", next((mark for mark in reversed(marks) if mark), "")
    if not isinstance(value.get("content"), list):
        return _flat(text, item, fields, outputs), ""
    kept, mark = [], ""
    for block in blocks:
        if strips and is_thought(block.value):
            mark = _mark_of(text, block) or mark
            continue
        kept.append(_block(text, block, outputs))
    if not kept:
        return "", mark
    content = fields["content"]
    return spliced(text[item.start : item.end], [_within(item, content, f"[{','.join(kept)}]")]), mark


def _within(item: Place, part: Place, new: str) -> tuple[int, int, str]:
    return part.start - item.start, part.end - item.start, new


def _flat(text: str, item: Place, fields: Mapping[str, Place], outputs: Mapping[str, str]) -> str:
    """Return a message that is one result, with its output replaced."""
    name = "output" if "output" in fields else "content"
    new = next((outputs[call] for call in results_of(item.value) if call in outputs), None)
    if new is None or name not in fields:
        return item.raw(text)
    return spliced(item.raw(text), [_within(item, fields[name], written(new))])


def _block(text: str, block: Place, outputs: Mapping[str, str]) -> str:
    value = block.value
    new = outputs.get(str(value.get("tool_use_id"))) if isinstance(value, dict) else None
    if new is None or value.get("type") != "tool_result":
        return block.raw(text)
    fields, _ = members(text, block.start)
    if "content" not in fields:
        return block.raw(text)
    return spliced(block.raw(text), [_within(block, fields["content"], written(new))])


def _mark_of(text: str, block: Place) -> str:
    """Return a block's mark of the cache as it is written."""
    if not isinstance(block.value, dict) or _MARK not in block.value:
        return ""
    return members(text, block.start)[0][_MARK].raw(text)


def _marked(raw: str, mark: str) -> str:
    """Return a message with a mark of the cache on its last block; as it is where it has one, or no place for one."""
    fields, blocks = members(raw, 0, "content")
    if "content" not in fields or _MARK in fields:
        return raw
    content = fields["content"]
    if isinstance(content.value, str) and content.value.strip():
        new = f'[{{"type":"text","text":{content.raw(raw)},"{_MARK}":{mark}}}]'
        return spliced(raw, [(content.start, content.end, new)])
    last = blocks[-1] if blocks else None
    if last is None or not isinstance(last.value, dict) or _MARK in last.value:
        return raw
    if last.value.get("type") not in _MARKABLE or last.value.get("text") == "":
        return raw
    return spliced(raw, [(last.end - 1, last.end, f',"{_MARK}":{mark}}}')])


def _said(body: Body, words: str) -> str:
    """Return a new message of the user."""
    message = {"role": "user", "content": words}
    return written({"type": "message", **message} if body.protocol.format == "responses" else message)


# -- what is sent


def _require_whole(body: Body, sent: Sequence[Any]) -> None:
    """Refuse a list in which a call or a result has lost its other half, or that begins with neither half.

    Raises:
        Refused: it is so; the reason says where the client's own list was like that.
    """
    wire_format = body.protocol.format
    if fault := _fault(sent, wire_format):
        own = _fault([item.value for item in body.items], wire_format)
        raise Refused(f"the client's own list is not whole: {own}" if own else fault)


def _fault(items: Sequence[Any], wire_format: str) -> str | None:
    """Return what a provider would refuse of a list; None for a list that is whole."""
    if not items:
        return "nothing would be left of it"
    if wire_format == "anthropic":
        first = next((one for one in items if isinstance(one, dict) and one.get("role") != "system"), None)
        if not _is_asking(first):
            return "it would not begin with the user"
    open_calls: set[str] = set()
    for item in items:
        results = results_of(item)
        if set(results) - open_calls:
            return "a result would have no call"
        open_calls -= set(results)
        open_calls |= set(calls_of(item))
    return "a call would have no result" if open_calls else None

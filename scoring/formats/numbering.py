"""Ids for calls and results of formats that tie a result to its call by name and order.

The k-th call of a tool in a round gets the id `order:name#k`. A result without an id has that of the oldest call of the
round that waits for one, of the same tool if the result names one; without such a call it is numbered like a call. A
round begins where the model begins to speak. An id that occurs again in a later round belongs to the latest open call,
as in every format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scoring.messages import Message, Part, ToolCall, ToolResult

_MARK = "order:"


def made_up_id(name: str) -> str:
    """Return the unnumbered id of a call whose wire object has none."""
    return f"{_MARK}{name}#0"


def without_number(part: Part) -> Part:
    """Return the part without the number in a made-up id, to compare it with a part that was read by itself."""
    if isinstance(part, ToolCall) and is_made_up(part.id):
        return replace(part, id=_unnumbered(part.id))
    if isinstance(part, ToolResult) and is_made_up(part.call_id):
        return replace(part, call_id=_unnumbered(part.call_id))
    return part


def _has_made_up(message: Message) -> bool:
    """Return whether any part of a message has a made-up id."""
    for part in message.parts:
        kind = type(part)
        if kind is ToolCall:
            if part.id.startswith(_MARK):  # type: ignore[union-attr]
                return True
        elif kind is ToolResult and part.call_id.startswith(_MARK):  # type: ignore[union-attr]
            return True
    return False


def bare_id(call_id: str) -> str:
    """Return the tool's name in a made-up id; any other id unchanged."""
    return _unnumbered(call_id)[len(_MARK) : -1] if is_made_up(call_id) else call_id


def is_made_up(call_id: str) -> bool:
    """Return whether a decoder made this id up, so that it is in no wire object."""
    return call_id.startswith(_MARK)


def _unnumbered(call_id: str) -> str:
    name, mark, number = call_id.rpartition("#")
    return name + mark if number.isdigit() else call_id


def same_part(alone: Part, listed: Part) -> bool:
    """Return whether two parts are equal, apart from a made-up id: `alone` was read without the rest of its list."""
    if alone == listed:
        return True
    if isinstance(alone, ToolResult) and isinstance(listed, ToolResult) and is_made_up(alone.call_id):
        return replace(alone, call_id=listed.call_id) == listed
    return without_number(alone) == without_number(listed)


def same_call(alone: Part, listed: Part) -> bool:
    """Return whether two calls, or two results, belong to the same call; `alone` was read without its list."""
    if isinstance(alone, ToolCall) and isinstance(listed, ToolCall):
        return (
            _unnumbered(alone.id) == _unnumbered(listed.id) if is_made_up(alone.id) else alone.id == listed.id
        )
    if isinstance(alone, ToolResult) and isinstance(listed, ToolResult):
        return alone.name == listed.name if is_made_up(alone.call_id) else alone.call_id == listed.call_id
    return False


def numbered(messages: Sequence[Message], waiting: Mapping[str, str] | None = None) -> Sequence[Message]:
    """Return the messages with their made-up ids; messages without made-up ids stay the same objects.

    `waiting` are the calls before these messages that have no result yet: id -> tool.
    """
    if not any(map(_has_made_up, messages)):  # as in most lists
        return messages
    model, open_calls = False, dict(waiting or {})
    counts: dict[tuple[type, str], int] = {}
    out: list[Message] = []
    for message in messages:
        if (message.role == "assistant") is not model:
            model, counts = not model, {}
            open_calls = {} if model else open_calls
        done = message
        if _has_made_up(message):
            parts = tuple(_tied(part, without_number(part), counts, open_calls) for part in message.parts)
            done = replace(message, parts=parts)
        elif message.parts:
            note_calls(message, open_calls)
        out.append(done)
    return out


def note_calls(message: Message, waiting: dict[str, str]) -> None:
    """Add the calls of a message to those that wait for a result, and remove those that it answers."""
    for part in message.parts:
        kind = type(part)
        if kind is ToolCall:
            waiting[part.id] = part.name  # type: ignore[union-attr]
        elif kind is ToolResult:
            waiting.pop(part.call_id, None)  # type: ignore[union-attr]


def _tied(part: Part, bare: Part, counts: dict[tuple[type, str], int], waiting: dict[str, str]) -> Part:
    """Return the part with its made-up id: the number in this round, or the call that it answers."""
    if isinstance(bare, ToolCall):
        call = part if bare is part else replace(bare, id=f"{bare.id}{_next(counts, (ToolCall, bare.id))}")
        waiting[call.id] = bare.name
        return call
    if not isinstance(bare, ToolResult):
        return part
    if bare is part:
        waiting.pop(bare.call_id, None)
        return part
    name = bare_id(bare.call_id)
    tied = next((one for one, tool in waiting.items() if tool == name or not name), None)
    if tied is not None:
        del waiting[tied]
        return replace(bare, call_id=tied)
    return replace(bare, call_id=f"{bare.call_id}{_next(counts, (ToolResult, bare.call_id))}")


def _next(counts: dict[tuple[type, str], int], key: tuple[type, str]) -> int:
    counts[key] = counts.get(key, -1) + 1
    return counts[key]

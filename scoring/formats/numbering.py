"""Ids for calls of formats that tie a result to its call by name and order.

The k-th call of a tool in a round gets the id `order:name#k`, and so does the k-th result. A round ends where the
speaker changes, so reading a list whole or turn by turn gives the same ids. An id that occurs again in a later round
belongs to the latest open call, as in every format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from scoring.messages import Message, Part, ToolCall, ToolResult

_MARK = "order:"


def made_up_id(name: str) -> str:
    """Return the unnumbered id of a call whose wire object has none."""
    return f"{_MARK}{name}#0"


def without_number(part: Part) -> Part:
    """Return the part without the number in a made-up id, to compare it with a part that was read by itself."""
    if isinstance(part, ToolCall) and part.id.startswith(_MARK):
        return replace(part, id=_unnumbered(part.id))
    if isinstance(part, ToolResult) and part.call_id.startswith(_MARK):
        return replace(part, call_id=_unnumbered(part.call_id))
    return part


def _has_made_up(parts: Iterable[Part]) -> bool:
    """Return whether any of the parts has a made-up id."""
    for part in parts:
        kind = type(part)
        call_id = part.id if kind is ToolCall else part.call_id if kind is ToolResult else ""  # type: ignore[union-attr]
        if call_id.startswith(_MARK):
            return True
    return False


def bare_id(call_id: str) -> str:
    """Return the tool's name in a made-up id; any other id unchanged."""
    return _unnumbered(call_id)[len(_MARK) : -1] if call_id.startswith(_MARK) else call_id


def is_made_up(call_id: str) -> bool:
    """Return whether a decoder made this id up, so that it is in no wire object."""
    return call_id.startswith(_MARK)


def _unnumbered(call_id: str) -> str:
    name, mark, number = call_id.rpartition("#")
    return name + mark if number.isdigit() else call_id


def numbered(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield the messages with made-up ids numbered by round; messages without made-up ids stay the same objects."""
    model = False
    counts: dict[tuple[type, str], int] = {}
    for message in messages:
        if (message.role == "assistant") is not model:
            model, counts = not model, {}
        yield replace(message, parts=_parts(message, counts)) if _has_made_up(message.parts) else message


def _parts(message: Message, counts: dict[tuple[type, str], int]) -> tuple[Part, ...]:
    return tuple(_counted(part, without_number(part), counts) for part in message.parts)


def _counted(part: Part, bare: Part, counts: dict[tuple[type, str], int]) -> Part:
    """Return the part with its number in this round, if its id is made up."""
    if bare is part:
        return part
    if isinstance(bare, ToolCall):
        return replace(bare, id=f"{bare.id}{_next(counts, (ToolCall, bare.id))}")
    if isinstance(bare, ToolResult):
        return replace(bare, call_id=f"{bare.call_id}{_next(counts, (ToolResult, bare.call_id))}")
    return part


def _next(counts: dict[tuple[type, str], int], key: tuple[type, str]) -> int:
    counts[key] = counts.get(key, -1) + 1
    return counts[key]

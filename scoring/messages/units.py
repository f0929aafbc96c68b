"""Units: the smallest groups of messages that are kept or dropped together.

A tool call and all its results are one unit, also with parallel calls. If an id is used again, a result belongs to the
latest call of that id. The items of one API call that make calls are one unit, and so are a reasoning item and the
items it led to, because providers refuse one without the other. Such calls can have their outputs between them, so an
output does not end the unit; the next reasoning or message does. Messages that share a name in `ties` are one unit as
well. Every other message is a unit of its own.

A turn begins at a user message with words of its own. Nothing here assumes that a system message is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from scoring.messages.parts import Media, Message, Text, ToolCall

# The type of a wire object for isinstance; for a dict it only compares the type.
_OBJECT = (dict, Mapping)
# Items to which others refer by a name that is no call's -> the field with that name.
_NAMED_BY = {"mcp_approval_request": "id", "program": "call_id", "program_output": "call_id"}
_TYING_FIELDS = frozenset({"approval_request_id", "type", "caller"})


@dataclass(frozen=True, slots=True)
class Links:
    """The links of one message to others, from which units are found.

    `calls` and `results` are call ids; `reasoning_only` marks an item that holds only reasoning. `ties` are other names
    that it shares with messages of its unit: that of an approval, or of the program that calls.
    """

    role: str
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    reasoning_only: bool = False
    ties: tuple[str, ...] = ()


class Linked(Protocol):
    """A value with the fields of `Links`, such as `Features`."""

    @property
    def role(self) -> str:
        """Return the speaker's role."""

    @property
    def calls(self) -> tuple[str, ...]:
        """Return the ids of the calls made here."""

    @property
    def results(self) -> tuple[str, ...]:
        """Return the ids of the calls answered here."""

    @property
    def reasoning_only(self) -> bool:
        """Return whether this item holds only reasoning."""

    @property
    def ties(self) -> tuple[str, ...]:
        """Return the other names that tie it to messages."""


def links_of(message: Message) -> Links:
    """Return the links of one message."""
    calls = tuple(c.id for c in message.calls)
    results = tuple(r.call_id for r in message.results)
    return Links(message.role, calls, results, is_reasoning_only(message), ties_of(message))


def ties_of(message: Message) -> tuple[str, ...]:
    """Return the names that tie a message to others, from its wire object; () if it has none."""
    return ties_in(message.wire.value) if message.wire is not None else ()


def ties_in(value: Any) -> tuple[str, ...]:
    """Return the names, besides those of its calls and results, by which a wire object belongs to others.

    A call that a program of the provider made names the program in `caller`; an approval and the call that it allows
    name the request for it.
    """
    if not isinstance(value, _OBJECT):
        return ()
    content = value.get("content")
    if not isinstance(content, list) and _TYING_FIELDS.isdisjoint(value):  # almost every object
        return ()
    found: list[Any] = [value.get("approval_request_id")]
    kind = value.get("type")
    if isinstance(kind, str) and kind in _NAMED_BY:
        found.append(value.get(_NAMED_BY[kind]))
    for one in (value, *content) if isinstance(content, list) else (value,):
        caller = one.get("caller") if isinstance(one, _OBJECT) else None
        if caller is not None and isinstance(caller, _OBJECT):  # mostly None, the slow case of isinstance
            found += (caller.get("tool_id"), caller.get("caller_id"))
    return tuple([name for name in found if isinstance(name, str) and name])


def is_reasoning_only(message: Message) -> bool:
    """Return whether an assistant message holds reasoning but no text, call or media."""
    if message.role != "assistant" or not message.reasoning:
        return False
    return not any(isinstance(p, Text | ToolCall | Media) for p in message.parts)


def has_own_words(message: Message) -> bool:
    """Return whether this is a user message that holds more than tool results."""
    if message.role != "user":
        return False
    return not message.results or any(isinstance(p, Text | Media) for p in message.parts)


class Units:
    """Units, found as messages come in, in amortised constant time for each message.

    `head[i]` is the position of the first message of i's unit, which identifies the unit.
    `members[h]` lists the positions of the unit h in order; it exists only for units of two and more.
    """

    __slots__ = ("_anchor", "_call_of", "_last", "_open", "head", "members")

    def __init__(self) -> None:
        self.head: list[int] = []
        self.members: dict[int, list[int]] = {}
        self._call_of: dict[str, int] = {}  # call id or tie -> position of the latest message that has it
        self._last: Linked | None = None
        self._anchor: int | None = None  # the reasoning item that led to the latest items and outputs
        self._open = False  # the run of assistant items that ends here made a call

    def __copy__(self) -> Units:
        """Return the same units, independent of these."""
        out = Units()
        out.head = self.head[:]
        out.members = {head: members[:] for head, members in self.members.items()}
        out._call_of = self._call_of.copy()
        out._last, out._anchor, out._open = self._last, self._anchor, self._open
        return out

    def extend(self, items: Iterable[Linked]) -> list[int]:
        """Take the next messages; return the heads of units that were merged into an older one, in order."""
        merged: list[int] = []
        head = self.head
        for item in items:
            if item.calls or item.results or item.ties or item.role == "assistant":
                merged += self.append(item)
            else:  # a unit of its own
                head.append(len(head))
                self._anchor, self._open = None, False
                self._last = item
        return merged

    def append(self, item: Linked) -> Sequence[int]:
        """Take the next message; return the heads of units that were merged into an older one (mostly none)."""
        position = len(self.head)
        self.head.append(position)
        merged: Sequence[int] = ()
        if item.role == "assistant":
            before = self._before(item, position)
            if before is not None:
                merged = self.join(before, position)
            if item.reasoning_only:
                self._anchor = position
            elif before is None:
                self._anchor = None
            self._open = self._open or bool(item.calls)
        else:
            self._anchor, self._open = self._anchor if item.results else None, False
        for call in item.calls:
            self._call_of[call] = position
        for result in item.results:
            caller = self._call_of.get(result)
            if caller is not None:
                merged = [*merged, *self.join(caller, position)]
        for name in item.ties:
            other = self._call_of.setdefault(name, position)
            merged = [*merged, *self.join(other, position)]
        self._last = item
        return merged

    def _before(self, item: Linked, position: int) -> int | None:
        """Return the position of an earlier item of the same API call as an assistant item; None if there is none."""
        before = self._last
        if before is not None and before.role == "assistant":
            if before.reasoning_only or self._open or item.calls:
                return position - 1
            return position - 1 if self._anchor is not None and not item.reasoning_only else None
        return self._anchor if item.calls else None

    def join(self, a: int, b: int) -> list[int]:
        """Merge the units of two positions under the older head; return the head that no longer exists."""
        into, gone = self.head[a], self.head[b]
        if into == gone:
            return []
        if into > gone:
            into, gone = gone, into
        moved = self.members.pop(gone, [gone])
        for position in moved:
            self.head[position] = into
        kept = self.members.setdefault(into, [into])
        in_order = kept[-1] < moved[0]
        kept.extend(moved)
        if not in_order:
            kept.sort()
        return [gone]

    def of(self, position: int) -> Sequence[int]:
        """Return the positions of the unit that a position belongs to, in order."""
        head = self.head[position]
        return self.members.get(head, (head,))

    def heads(self) -> list[int]:
        """Return the heads of all units, in order."""
        if not self.members:
            return list(range(len(self.head)))
        return [i for i, head in enumerate(self.head) if i == head]


def waiting(items: Iterable[Linked]) -> set[int]:
    """Return the positions of messages with a call that has no result yet, which is still to come."""
    callers: dict[str, int] = {}
    for position, item in enumerate(items):
        callers.update(dict.fromkeys(item.calls, position))
        for result in item.results:
            callers.pop(result, None)
    return set(callers.values())


def units_of(messages: Sequence[Message]) -> list[tuple[int, ...]]:
    """Return the units of a list, each a tuple of positions, in the order of their first messages."""
    units = Units()
    units.extend(map(links_of, messages))
    return [tuple(units.of(head)) for head in units.heads()]

"""Turns and units: where a conversation may be cut.

A unit is the smallest group that is kept or dropped together. The law: a tool call and all of its results are
one unit, in either direction, with parallel calls and when an id comes again later (a result belongs to the
latest call of its id); the items of one API call that carry calls, and a reasoning item with the items it led
to, are one unit too, because providers refuse the one without the other. The calls that reasoning led to can have
their outputs between them, so an output does not end such a unit; the next reasoning or message does. Messages that
share a name in `ties` are one unit as well. Everything else stands alone.

A turn begins at a user message with words of its own. Nothing here assumes that a system message is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from scoring.messages import Media, Message, Text, ToolCall

# The type of a wire object for isinstance; for a dict it only compares the type.
_OBJECT = (dict, Mapping)
# Items to which others refer by a name that is no call's -> the field with that name.
_NAMED_BY = {"mcp_approval_request": "id", "program": "call_id"}
_TYING_FIELDS = frozenset({"approval_request_id", "type", "caller"})


@dataclass(frozen=True, slots=True)
class Links:
    """The ties of one message to others: all that is needed to find units.

    `calls` and `results` are call ids; `reasoning_only` marks an item that holds reasoning and nothing else. `ties`
    are other names that it shares with messages of its unit: that of an approval, or of the program that calls.
    """

    role: str
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    reasoning_only: bool = False
    ties: tuple[str, ...] = ()


class Linked(Protocol):
    """Anything with the fields of `Links`; `Features` is one as well."""

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
        """Return whether this is an item of reasoning and nothing else."""

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
    """Return whether an assistant message holds reasoning and nothing that is said or done."""
    if message.role != "assistant" or not message.reasoning:
        return False
    return not any(isinstance(p, Text | ToolCall | Media) for p in message.parts)


def has_own_words(message: Message) -> bool:
    """Return whether a user says something here, rather than only handing back tool results."""
    if message.role != "user":
        return False
    return not message.results or any(isinstance(p, Text | Media) for p in message.parts)


class Units:
    """Units found as messages come in, one amortised constant step a message.

    `head[i]` is the position of the first message of i's unit, and serves as the unit's name.
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
            else:  # it stands alone
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
                merged = self._join(before, position)
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
                merged = [*merged, *self._join(caller, position)]
        for name in item.ties:
            other = self._call_of.setdefault(name, position)
            merged = [*merged, *self._join(other, position)]
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

    def _join(self, a: int, b: int) -> list[int]:
        """Make the units of two positions one, named by the older head; return the head that is gone."""
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
    for message in messages:
        units.append(links_of(message))
    return [tuple(units.of(head)) for head in units.heads()]


def turn_starts(messages: Sequence[Message]) -> list[int]:
    """Return the positions at which a turn begins: the user messages. None without a user."""
    return [i for i, message in enumerate(messages) if has_own_words(message)]


def safe_boundary(messages: Sequence[Message], target: int) -> int:
    """Return the position at which a list may be cut in two near `target`: what lies before it can go.

    It is the last turn start above 0 at or before the target, else the next one after it, else 0. Without any
    user message it is the last unit boundary at or before the target.
    """
    target = max(0, min(target, len(messages)))
    starts = turn_starts(messages)
    if not starts:
        return _unit_boundary(messages, target)
    before = [s for s in starts if 0 < s <= target]
    after = [s for s in starts if s > target]
    return before[-1] if before else after[0] if after else 0


def _unit_boundary(messages: Sequence[Message], target: int) -> int:
    """Return the last position at or before `target` that no unit reaches across."""
    units = units_of(messages)
    covered = {i for unit in units for i in range(unit[0] + 1, unit[-1] + 1)}
    return next(i for i in range(target, -1, -1) if i not in covered)

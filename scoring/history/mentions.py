"""The mentions of a history: its names and text lines, which *Foresight* weighs, and the messages that have them.

Mentions are numbered as messages arrive, so that a plan works on small whole numbers and flat columns. The cost of an
append depends only on its own mentions.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from copy import copy

from scoring.history.content import Content
from scoring.history.content.names import has_digit
from scoring.signals import AGENT, ALIKE, FLAG_VALUES, HAS_DIGIT, IS_LINE, TASK, TOOL, USER

_ALL = FLAG_VALUES - 1
_NOT_ALIKE, _NOT_TASK = _ALL - ALIKE, _ALL - TASK
_SPEAKERS = {"assistant": AGENT, "tool": TOOL}


class Mentions:
    """Columns over the mentions of a history, by number.

    `spelled` is a name as spelled, or the hash of a line; `last` is the latest message with the mention, `count` the
    number of messages with it, `flags` the roles that named it and its kind (the bits of `scoring.signals`). `held[i]`
    are the mentions of message i. Only `append` changes them.
    """

    __slots__ = ("_answered", "_numbers", "_task", "count", "flags", "held", "last", "spelled")

    def __init__(self) -> None:
        self._numbers: dict[str | int, int] = {}
        self._answered = False  # after the model's first answer, user messages are no longer the task
        self._task = array("I")  # mentions of the task: the last user message before the first answer
        self.spelled: list[str | int] = []
        self.last = array("I")
        self.count = array("I")
        self.flags = bytearray()
        self.held: list[array[int]] = []

    def extend(self, contents: Sequence[Content | None], roles: Sequence[str]) -> None:
        """Add the mentions of the next messages."""
        if any(contents):
            for content, role in zip(contents, roles, strict=True):
                self.append(content, role)
            return
        opening = roles[: roles.index("assistant")] if "assistant" in roles else roles
        if not self._answered and "user" in opening:
            self._set_task(array("I"))
        self._answered = self._answered or len(opening) < len(roles)
        self.held += [array("I")] * len(roles)

    def append(self, content: Content | None, role: str) -> None:
        """Add the mentions of the next message, which has this role."""
        who = _SPEAKERS.get(role, USER)
        self._answered = self._answered or role == "assistant"
        if role == "user" and not self._answered:
            who = USER | TASK
        held = array("I")
        if content is not None:
            known, alike = len(self.flags), content.alike if who == TOOL else None
            keep = _ALL if alike else _NOT_ALIKE
            if content.names:
                self._add(content.names.split("\n"), who, held, keep)
            self._add(content.lines, who, held, keep)
            if alike:
                self._flag_alike(held, frozenset(alike), known)
        if who & TASK:
            self._set_task(held)
        self.held.append(held)

    def _set_task(self, held: array[int]) -> None:
        """Set the mentions of the task to those of this message, replacing an older one's."""
        for number in frozenset(self._task).difference(held):
            self.flags[number] &= _NOT_TASK
        self._task = held

    def snapshot(self) -> Mentions:
        """Return a copy that does not change while messages are appended; it shares `spelled`, which only grows."""
        out = copy(self)
        out.last, out.count, out.flags, out.held = self.last[:], self.count[:], self.flags[:], self.held[:]
        return out

    def _flag_alike(self, held: array[int], alike: frozenset[int], known: int) -> None:
        """Flag the mentions that occur only in alike lines; those numbered below `known` existed before the message."""
        for place, number in enumerate(held):
            if place not in alike:
                self.flags[number] &= _NOT_ALIKE
            elif number >= known:
                self.flags[number] |= ALIKE

    def _add(self, mentions: Iterable[str | int], who: int, held: array[int], keep: int) -> None:
        position, numbers = len(self.held), self._numbers
        last, count, flags = self.last, self.count, self.flags
        for mention in mentions:
            number = numbers.get(mention)
            if number is None:
                number = numbers[mention] = len(flags)
                self.spelled.append(mention)
                last.append(position)
                count.append(1)
                flags.append(who | _kind(mention))
            else:
                last[number] = position
                count[number] += 1
                flags[number] = flags[number] & keep | who
            held.append(number)


def _kind(mention: str | int) -> int:
    if isinstance(mention, int):
        return IS_LINE
    return HAS_DIGIT if has_digit(mention) else 0

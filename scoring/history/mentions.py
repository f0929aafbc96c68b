"""Which marks (names and text lines) stand where in a history: what *Foresight* weighs.

Marks are numbered as messages come in, so that a plan works on small whole numbers and flat columns. An append takes
time for its own marks alone.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from scoring.history.content import Content
from scoring.history.content.names import has_digit

# Who named a mark, and what kind it is: the bits of `Marks.said`.
AGENT, USER, TOOL, TASK, IS_LINE, HAS_DIGIT = 1, 2, 4, 8, 16, 32
ALIKE = 64  # it stands in nothing but lines that are alike but for their codes (`Content.alike`)
KINDS = 128  # how many values those make together
_ALL = KINDS - 1
_NOT_ALIKE = _ALL - ALIKE
_SPEAKERS = {"assistant": AGENT, "tool": TOOL}


class Marks:
    """Columns over the marks of a history, by number.

    `spelled` is a name as it stands, or the hash of a line; `last` the latest message that has the mark, `count` how
    many have it, `said` who named it and what it is. `held[i]` are the marks of message i. Read only but for `append`.
    """

    __slots__ = ("_numbers", "_task_seen", "count", "held", "last", "said", "spelled")

    def __init__(self) -> None:
        self._numbers: dict[str | int, int] = {}
        self._task_seen = False  # the first message of a user says what it is all about
        self.spelled: list[str | int] = []
        self.last = array("I")
        self.count = array("I")
        self.said = bytearray()
        self.held: list[array[int]] = []

    def append(self, content: Content | None, role: str) -> None:
        """Take the marks of the next message, said by `role`."""
        who = _SPEAKERS.get(role, USER)
        if role == "user" and not self._task_seen:
            self._task_seen, who = True, USER | TASK
        held = array("I")
        if content is not None:
            known, alike = len(self.said), content.alike if who == TOOL else None
            keep = _ALL if alike else _NOT_ALIKE
            if content.names:
                self._add(content.names.split("\n"), who, held, keep)
            self._add(content.lines, who, held, keep)
            if alike:
                self._tell_apart(held, frozenset(alike), known)
        self.held.append(held)

    def _tell_apart(self, held: array[int], alike: frozenset[int], known: int) -> None:
        """Note which marks of a message with alike lines stand in those alone; the first `known` stood before."""
        for place, number in enumerate(held):
            if place not in alike:
                self.said[number] &= _NOT_ALIKE
            elif number >= known:
                self.said[number] |= ALIKE

    def _add(self, marks: Iterable[str | int], who: int, held: array[int], keep: int) -> None:
        position, numbers = len(self.held), self._numbers
        last, count, said = self.last, self.count, self.said
        for mark in marks:
            number = numbers.get(mark)
            if number is None:
                number = numbers[mark] = len(said)
                self.spelled.append(mark)
                last.append(position)
                count.append(1)
                said.append(who | _kind(mark))
            else:
                last[number] = position
                count[number] += 1
                said[number] = said[number] & keep | who
            held.append(number)


def _kind(mark: str | int) -> int:
    if isinstance(mark, int):
        return IS_LINE
    return HAS_DIGIT if has_digit(mark) else 0

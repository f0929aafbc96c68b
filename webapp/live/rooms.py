"""Rooms. Each holds its revision, its last messages and its members.

Each message gets the next revision. No revision is used twice, even after a restart: blocks of them are reserved in
the store first. A page that was disconnected gets the messages it missed while the room still holds them, otherwise a
new snapshot. This module sends nothing, does not use Socket.IO and has no lock: the gateway calls it under its own
lock, except for `prepare`, which waits for the store and is called by one thread only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

OVERVIEW = "overview"
SESSION_PREFIX = "session:"

# Enough for a page that was disconnected for a minute at the highest rate.
REMEMBERED = 600
# Revisions reserved at a time; a restart skips at most this many.
BLOCK = 100
Reserve = Callable[[str, int], int]


@dataclass(frozen=True, slots=True)
class Sent:
    """One message as it was sent."""

    revision: int
    event: str
    payload: dict[str, Any]


class Room:
    """The overview or a session, the revision that its pages have, and these pages."""

    def __init__(self, name: str, revision: int) -> None:
        self.name, self.revision = name, revision
        self.members: set[str] = set()

    @property
    def session_id(self) -> str | None:
        """Return the id of the room's session, None for the overview."""
        return self.name.removeprefix(SESSION_PREFIX) if self.name.startswith(SESSION_PREFIX) else None


class NumberedRoom(Room):
    """A room of the only worker. `reserve(name, count)` reserves revisions and returns the last one reserved before."""

    def __init__(self, name: str, reserve: Reserve) -> None:
        # Changes while no server ran are unknown, so this run begins with a revision that no page has seen.
        last = reserve(name, BLOCK)
        super().__init__(name, last + 1)
        self._reserve, self._reserved = reserve, last + BLOCK
        self._sent: deque[Sent] = deque(maxlen=REMEMBERED)
        self._behind = False

    def prepare(self, count: int) -> None:
        """Reserve `count` revisions if fewer are left; the only method that may wait for the store."""
        if self.revision + count > self._reserved:
            block = max(count, BLOCK)
            self._reserved = self._reserve(self.name, block) + block

    def stamp(self, event: str, payload: dict[str, Any], *, last: bool = True) -> Sent:  # noqa: ARG002
        """Give a message the next reserved revision and remember it."""
        self.revision += 1
        sent = Sent(self.revision, event, {**payload, "room": self.name, "revision": self.revision})
        self._sent.append(sent)
        return sent

    def note_gap(self) -> None:
        """Record that a message was not sent, so that a returning page needs a snapshot."""
        if not self._behind:
            self.revision += 1
            self._sent.clear()
            self._behind = True

    def enter(self, member: str, revision: int | None) -> list[Sent] | None:
        """Add a member; return the messages since `revision`, or None if it needs a snapshot."""
        self.members.add(member)
        self._behind = False
        return self.missed(revision)

    def missed(self, revision: int | None) -> list[Sent] | None:
        """Return the messages after `revision`, oldest first; None if some are no longer held."""
        if revision is None or revision > self.revision:
            return None
        oldest = self._sent[0].revision if self._sent else self.revision + 1
        if revision < oldest - 1:
            return None
        return [sent for sent in self._sent if sent.revision > revision]

"""Rooms: each remembers its revision, its last messages and its members.

A revision grows by one a message and is never given out twice, not even after a restart: blocks of them are
reserved in the store before they are used. A page that was away gets the messages it missed while they are
still remembered; otherwise it needs a new snapshot. Nothing here sends anything, knows Socket.IO, or locks:
one gateway owns the rooms and calls them under its own lock. The exception is `prepare`, which waits for the
store: a single thread reserves revisions and gives them out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

OVERVIEW = "overview"
SESSION_PREFIX = "session:"

# Enough for a page that was away for a minute at the highest rate.
REMEMBERED = 600
# Revisions reserved at a time; a restart skips at most so many.
BLOCK = 100
Reserve = Callable[[str, int], int]


@dataclass(frozen=True, slots=True)
class Sent:
    """One message as it was sent."""

    revision: int
    event: str
    payload: dict[str, Any]


class Room:
    """One room. `reserve(name, count)` sets `count` revisions aside and returns the last one given out before."""

    def __init__(self, name: str, reserve: Reserve) -> None:
        self.name = name
        self._reserve = reserve
        # Changes while no server ran are unknown, so the first revision of a run is one that no page has seen.
        last = reserve(name, BLOCK)
        self.revision = last + 1
        self._reserved = last + BLOCK
        self._sent: deque[Sent] = deque(maxlen=REMEMBERED)
        self.members: set[str] = set()
        self._behind = False

    @property
    def session_id(self) -> str | None:
        """Return the id of the room's session, None for the overview."""
        return self.name.removeprefix(SESSION_PREFIX) if self.name.startswith(SESSION_PREFIX) else None

    def prepare(self, count: int) -> None:
        """Reserve `count` revisions if fewer are left; the only method that may wait for the store."""
        if self.revision + count > self._reserved:
            block = max(count, BLOCK)
            self._reserved = self._reserve(self.name, block) + block

    def stamp(self, event: str, payload: dict[str, Any]) -> Sent:
        """Give a message the next reserved revision and remember it."""
        self.revision += 1
        sent = Sent(self.revision, event, {**payload, "room": self.name, "revision": self.revision})
        self._sent.append(sent)
        return sent

    def pass_over(self) -> None:
        """Note that a message was not sent, so that a page that comes back needs a snapshot."""
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
        """Return the messages after `revision`, oldest first; None if not all of them are remembered."""
        if revision is None or revision > self.revision:
            return None
        oldest = self._sent[0].revision if self._sent else self.revision + 1
        if revision < oldest - 1:
            return None
        return [sent for sent in self._sent if sent.revision > revision]

"""Rooms of several workers: the queue brings every event to every worker in one order, and each sends to its own pages.

The revision of a message is the place in the queue up to which the room's events were sent. It is the same in all
workers, so a page that loses its worker resumes on another, which holds the last notes of all rooms.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from webapp.live.notices import Note
from webapp.live.rooms import REMEMBERED, Room, Sent

# Notes of all rooms together that a worker holds.
NOTES = 40_000


class QueuedNote(NamedTuple):
    """A note, and its event's place in the queue."""

    revision: int
    note: Note


class RecentNotes:
    """The last notes of all rooms. `latest` is the last place in the queue; notes after `since` are complete."""

    def __init__(self) -> None:
        self._notes: deque[QueuedNote] = deque()
        self.latest = self.since = 0

    def add(self, revision: int, notes: tuple[Note, ...]) -> None:
        """Add the notes of an event."""
        if not self.latest:
            self.since = revision - 1
        self.latest = max(self.latest, revision)
        self._notes.extend(QueuedNote(revision, note) for note in notes)
        while len(self._notes) > NOTES:
            self.since = self._notes.popleft().revision

    def missed(self, room: str, revision: int | None) -> list[QueuedNote] | None:
        """Return the notes of a room after a revision, oldest first; None if some are not held, or too many."""
        if not revision or not self.since <= revision <= self.latest:
            return None
        found: list[QueuedNote] = []
        for one in reversed(self._notes):
            if one.revision <= revision:
                break
            if one.note.room in (None, room):
                found.append(one)
                if len(found) > REMEMBERED:
                    return None
        return found[::-1]

    def forget(self) -> None:
        """Hold nothing: events are missing, so every page that comes needs a snapshot."""
        self._notes.clear()
        self.since = self.latest = self.latest + 1


class SharedRoom(Room):
    """A room whose revisions are places in the queue.

    `revision` is the place up to which everything was sent. `ahead` is the place that it moves to with the last of the
    messages that are being sent.
    """

    def __init__(self, name: str, recent: RecentNotes) -> None:
        self.name, self._recent = name, recent
        self.members: set[str] = set()
        self.revision = self.ahead = recent.latest

    def prepare(self, count: int) -> None:
        """Do nothing: the queue has given the revision."""

    def pass_over(self) -> None:
        """Do nothing: a page that joins gets what it missed from `RecentNotes`."""

    def stamp(self, event: str, payload: dict[str, Any], *, last: bool = True) -> Sent:
        """Give a message the room's revision, which moves on with the last of those that are sent together."""
        if last:
            self.revision = self.ahead
        return Sent(self.revision, event, {**payload, "room": self.name, "revision": self.revision})

    def hold(self) -> None:
        """Keep the revision where it is: something could not be sent."""
        self.ahead = self.revision

    def enter(self, member: str, revision: int | None) -> list[QueuedNote] | None:  # type: ignore[override]
        """Add a member; return what it missed since `revision`, or None if it needs a snapshot."""
        self.members.add(member)
        return self.missed(revision)

    def missed(self, revision: int | None) -> list[QueuedNote] | None:  # type: ignore[override]
        """Return the notes after `revision`, oldest first; None if some are no longer held."""
        return self._recent.missed(self.name, revision)

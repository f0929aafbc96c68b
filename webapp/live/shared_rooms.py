"""Rooms of several workers: the queue brings every event to every worker in one order, and each sends to its own pages.

The revision of a message is the place in the queue up to which the room's events were sent. It is the same in all
workers, so a page that loses its worker resumes on another, which holds the last notices of all rooms.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from webapp.live.notices import Notice
from webapp.live.rooms import REMEMBERED, Room, Sent

# The notices of all rooms together that a worker holds.
NOTICES_KEPT = 40_000


class QueuedNotice(NamedTuple):
    """A notice, and its event's place in the queue."""

    revision: int
    notice: Notice


class RecentNotices:
    """The last notices of all rooms. `latest` is the last place in the queue; notices after `since` are complete."""

    def __init__(self) -> None:
        self._notices: deque[QueuedNotice] = deque()
        self.latest = self.since = 0

    def add(self, revision: int, notices: tuple[Notice, ...]) -> None:
        """Add the notices of an event."""
        if not self.latest:
            self.since = revision - 1
        self.latest = max(self.latest, revision)
        self._notices.extend(QueuedNotice(revision, notice) for notice in notices)
        while len(self._notices) > NOTICES_KEPT:
            self.since = self._notices.popleft().revision

    def missed(self, room: str, revision: int | None) -> list[QueuedNotice] | None:
        """Return the notices of a room after a revision, oldest first; None if some are not held, or too many."""
        if not revision or not self.since <= revision <= self.latest:
            return None
        found: list[QueuedNotice] = []
        for one in reversed(self._notices):
            if one.revision <= revision:
                break
            if one.notice.room in (None, room):
                found.append(one)
                if len(found) > REMEMBERED:
                    return None
        return found[::-1]

    def forget(self) -> None:
        """Hold nothing: events are missing, so every page that comes needs a snapshot."""
        self._notices.clear()
        self.since = self.latest = self.latest + 1


class SharedRoom(Room):
    """A room whose revisions are places in the queue.

    `revision` is the place up to which everything was sent. `ahead` is the place that it moves to with the last of the
    messages that are being sent.
    """

    def __init__(self, name: str, recent: RecentNotices) -> None:
        super().__init__(name, recent.latest)
        self.ahead, self._recent = self.revision, recent

    def prepare(self, count: int) -> None:
        """Do nothing: the queue has given the revision."""

    def note_gap(self) -> None:
        """Do nothing: a page that joins gets what it missed from `RecentNotices`."""

    def stamp(self, event: str, payload: dict[str, Any], *, last: bool = True) -> Sent:
        """Give a message the room's revision, which moves on with the last of those that are sent together."""
        if last:
            self.revision = self.ahead
        return Sent(self.revision, event, {**payload, "room": self.name, "revision": self.revision})

    def hold(self) -> None:
        """Keep the revision where it is: something could not be sent."""
        self.ahead = self.revision

    def enter(self, member: str, revision: int | None) -> list[QueuedNotice] | None:
        """Add a member; return what it missed since `revision`, or None if it needs a snapshot."""
        self.members.add(member)
        return self.missed(revision)

    def missed(self, revision: int | None) -> list[QueuedNotice] | None:
        """Return the notices after `revision`, oldest first; None if some are no longer held."""
        return self._recent.missed(self.name, revision)

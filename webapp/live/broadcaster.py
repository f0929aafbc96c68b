"""Sends the pages in each room what has changed, at most ten messages a second for one session in one room.

A publisher adds a notice and continues. One thread turns what waits into messages, whose content is read only then, so
that a slow or dead page delays nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from webapp.errors import NotFound, StoreError
from webapp.live.notices import Notice, Payload
from webapp.live.payloads import Payloads
from webapp.live.rooms import OVERVIEW, NumberedRoom, Reserve, Sent
from webapp.live.shared_rooms import QueuedNotice, RecentNotices, SharedRoom
from webapp.live.throttle import Pending

log = logging.getLogger("coppice.live")

AnyRoom = NumberedRoom | SharedRoom

# A room without pages keeps its messages this long, for a page that comes back.
ROOM_SECONDS = 600.0
# The time between two looks at rooms and pages.
LOOK_SECONDS = 1.0
# Pause before reading again after the store was busy.
RETRY_SECONDS = 0.5
# Pages that open the overview within this time share one reading of it.
SHARED_SECONDS = 2.0
# Rough cost of sending one row to one page; with many pages the overview is updated less often.
PAGE_ROW_SECONDS = 10e-6


class Key(NamedTuple):
    """The place where messages wait: a room and a session, "" for none; with `page` for that page of the room alone."""

    room: str
    subject: str
    page: str = ""


class OverviewReading(NamedTuple):
    """The overview as a page that joined it got it, at a revision and a time of the monotonic clock."""

    revision: int
    at: float
    content: Payload


class Joined(NamedTuple):
    """The answer to a page that joins: the revision that it has, the number of messages it missed, or a snapshot."""

    revision: int
    missed: int
    snapshot: Payload | None


class Broadcaster:
    """The rooms, and what waits to be sent to them.

    `emit(message, to)` passes a message to a room or a page. With `recent` the events of all workers come in one order.
    """

    def __init__(
        self,
        payloads: Payloads,
        emit: Callable[[Sent, str], None],
        reserve: Reserve,
        recent: RecentNotices | None,
    ) -> None:
        self._payloads, self._emit, self._reserve, self._recent = payloads, emit, reserve, recent
        self._wake = threading.Condition()
        self._rooms: dict[str, AnyRoom] = {}
        self._used: dict[str, float] = {}  # when each room was last seen with pages
        self._pending: dict[Key, Pending] = {}
        self._sending: list[tuple[Key, Pending]] = []
        self._overview: OverviewReading | None = None
        self._not_before = 0.0
        self._closed = False

    # -- what waits

    def add(self, revision: int, notices: tuple[Notice, ...]) -> None:
        """Queue the notices of an event; takes the same short time for any number of pages.

        `revision` is that of the event in the queue, 0 without one.
        """
        with self._wake:
            if self._recent is not None:
                self._recent.add(revision, notices)
            for notice in notices:
                for room in self._rooms_of(notice):
                    self._pending.setdefault(Key(room, notice.subject), Pending()).add(notice, revision)
            if notices:
                self._wake.notify()

    def forget_recent(self) -> None:
        """Forget the last notices: events are missing, so that every page that comes needs a snapshot."""
        with self._wake:
            if self._recent is not None:
                self._recent.forget()

    def _rooms_of(self, notice: Notice) -> list[str]:
        """Return the rooms whose pages are sent a notice.

        With a queue these are rooms with pages: a page that comes later gets what it missed from `RecentNotices`, and
        would get it twice. Without one, a room without pages records that it sent nothing.
        """
        names = list(self._rooms) if notice.room is None else [notice.room]
        if self._recent is None:
            return names
        return [name for name in names if (room := self._rooms.get(name)) is not None and room.members]

    # -- pages that come and go

    def join(self, name: str, page: str, revision: int | None, enter: Callable[[], None]) -> Joined:
        """Add a page to a room. What it missed since `revision` is sent again; without that it gets a snapshot.

        `enter` lets Socket.IO know; what it raises is passed on, as are the errors of the services.
        """
        room = self._room(name)
        with self._wake:
            enter()
            if name not in self._rooms:  # forgotten meanwhile, with what it was to be sent
                room.note_gap()
            room = self._rooms.setdefault(name, room)
            missed = room.enter(page, revision)
            begins = self._revision(room)
            reading, later = self._recent_overview(room) if missed is None else (None, [])
            for one in [*(missed or []), *later]:
                if isinstance(one, QueuedNotice):  # read when it is sent, after what was sent before
                    key = Key(name, one.notice.subject, page)
                    self._pending.setdefault(key, Pending()).add(one.notice, one.revision)
                    begins = min(begins, one.revision - 1)
                else:
                    self._emit(one, page)
            self._wake.notify()
        if missed is not None:
            return Joined(begins, len(missed), None)
        return Joined(begins, 0, self._snapshot(room, begins) if reading is None else reading.content)

    def leave(self, page: str, name: str | None = None) -> None:
        """Remove a page from a room, or from all of them."""
        with self._wake:
            for room in self._rooms.values():
                if name in (None, room.name):
                    room.members.discard(page)

    def _revision(self, room: AnyRoom) -> int:
        """Return the revision up to which a room's pages were sent everything."""
        if self._recent is None:
            return room.revision
        waiting = [(key, one) for key, one in self._pending.items() if one.count()]
        return last_complete([*waiting, *self._sending]).get(room.name, self._recent.latest)

    def _recent_overview(
        self, room: AnyRoom
    ) -> tuple[OverviewReading | None, Sequence[Sent] | Sequence[QueuedNotice]]:
        """Return the overview as read a moment ago and the messages sent since; None if it must be read now.

        After a restart hundreds of pages reconnect at once.
        """
        reading = self._overview
        if room.session_id is not None or reading is None or time.monotonic() - reading.at > SHARED_SECONDS:
            return None, []
        later = room.missed(reading.revision)
        return (None, []) if later is None else (reading, later)

    def _snapshot(self, room: AnyRoom, revision: int) -> Payload:
        if room.session_id is not None:
            return self._payloads.session(room.session_id)
        started = time.monotonic()
        self._overview = OverviewReading(revision, started, self._payloads.overview())
        return self._overview.content

    def _room(self, name: str) -> AnyRoom:
        with self._wake:
            found = self._rooms.get(name)
        if found is None:
            fresh = (
                NumberedRoom(name, self._reserve) if self._recent is None else SharedRoom(name, self._recent)
            )
            with self._wake:
                found = self._rooms.setdefault(name, fresh)
        return found

    def _forget_rooms(self) -> None:
        """Forget the rooms that have had no page for ROOM_SECONDS; a page that comes back later gets a snapshot."""
        now = time.monotonic()
        with self._wake:
            self._used = {
                name: now if room.members else self._used.get(name, now) for name, room in self._rooms.items()
            }
            for name, at in self._used.items():
                if now - at > ROOM_SECONDS:
                    del self._rooms[name]

    # -- sending

    def run(self, look: Callable[[], None]) -> None:
        """Send what is due until it is closed, and call `look` every LOOK_SECONDS; the work of one thread."""
        next_look = time.monotonic() + LOOK_SECONDS
        while True:
            with self._wake:
                if self._closed:
                    return
                wait = min(self._next_due(), next_look) - time.monotonic()
                if wait > 0:
                    self._wake.wait(wait)
            self.flush()
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + LOOK_SECONDS
                self._forget_rooms()
                look()

    def close(self) -> None:
        """End the thread that sends."""
        with self._wake:
            self._closed = True
            self._wake.notify()

    def _next_due(self) -> float:
        due = (pending.due_at() for pending in self._pending.values())
        return max(min(due, default=float("inf")), self._not_before)

    def flush(self) -> None:
        """Send everything that is due. The rows of several sessions go to the overview in one message."""
        now = time.monotonic()
        due = self._take_due(now)
        rows = {
            key.subject: taken
            for key, taken in due
            if key.room == OVERVIEW and not key.page and taken.is_row()
        }
        if len(rows) < 2:
            rows = {}
        alone = [(key, taken) for key, taken in due if rows.get(key.subject) is not taken]
        ends = {key.room: key for key, _ in alone if not (rows and key.room == OVERVIEW)}
        for key, taken in alone:
            try:
                self._send(key, taken, now, last=ends.get(key.room) == key)
            except Exception:
                log.exception("cannot send messages to %s", key.room)
        if rows:
            try:
                self._send_rows(rows, now)
            except Exception:
                log.exception("cannot send rows to the overview")
        with self._wake:
            self._sending = []

    def _take_due(self, now: float) -> list[tuple[Key, Pending]]:
        """Take what is due, and forget what neither waits nor has been sent lately."""
        with self._wake:
            if now < self._not_before:
                return []
            due = [
                (key, pending.take(now)) for key, pending in self._pending.items() if pending.due_at() <= now
            ]
            idle = [
                key for key, one in self._pending.items() if not one.count() and one.pace.due_at(10) <= now
            ]
            for key in idle:
                del self._pending[key]
            self._sending = due
            self._note_progress()
        return due

    def _note_progress(self) -> None:
        """Note how far the rooms are complete before and after what is being sent."""
        if self._recent is None:
            return
        waiting = last_complete((key, one) for key, one in self._pending.items() if one.count())
        sending = last_complete(self._sending)
        for name in sending:
            room = self._rooms.get(name)
            if isinstance(room, SharedRoom):
                room.ahead = waiting.get(name, self._recent.latest)
                room.revision = min(room.ahead, sending[name])

    def _send(self, key: Key, taken: Pending, now: float, *, last: bool) -> None:
        """Send what waits for a session in a room; `last` where the room is sent nothing after it for now."""
        room = self._rooms.get(key.room)
        if room is None:  # no page has joined since the start, so nothing has to be kept
            return
        try:
            room.prepare(1 + taken.count())
            if self._is_empty(room):
                return
            started = time.monotonic()
            messages = self._payloads.messages(key.subject, taken)
            cost = time.monotonic() - started
        except NotFound:  # deleted meanwhile: only events with a payload, such as the deletion, are sent
            messages, cost = [one for one in taken.events if one[1]], 0.0
        except StoreError as error:
            self._later({key: taken}, now, error)
            return
        with self._wake:
            sent = [
                room.stamp(event, payload, last=last and n == len(messages))
                for n, (event, payload) in enumerate(messages, 1)
            ]
            self._pending.setdefault(key, Pending()).pace.took(len(sent), now, cost)
            # Under the lock, so that a page that subscribes meanwhile gets each message exactly once.
            for one in sent:
                self._emit(one, key.page or room.name)

    def _send_rows(self, subjects: Mapping[str, Pending], now: float) -> None:
        """Send the rows of several sessions in one message: each message costs time in every open overview."""
        room = self._rooms.get(OVERVIEW)
        if room is None:
            return
        try:
            room.prepare(1)
            if self._is_empty(room):
                return
            started = time.monotonic()
            found = [row for subject in subjects if (row := self._row(subject)) is not None]
            cost = time.monotonic() - started + len(room.members) * len(found) * PAGE_ROW_SECONDS
        except StoreError as error:
            self._later({Key(OVERVIEW, subject): one for subject, one in subjects.items()}, now, error)
            return
        with self._wake:
            for subject in subjects:
                self._pending.setdefault(Key(OVERVIEW, subject), Pending()).pace.took(1, now, cost)
            self._emit(room.stamp("sessions:updated", {"sessions": found}), room.name)

    def _row(self, subject: str) -> Payload | None:
        """Return a session's row; None if it has been deleted."""
        try:
            return self._payloads.row(subject)
        except NotFound:
            return None

    def _is_empty(self, room: AnyRoom) -> bool:
        """Return whether a room has no pages; it then notes that a message was not sent."""
        if room.members:
            return False
        with self._wake:
            room.note_gap()
        return True

    def _later(self, taken: Mapping[Key, Pending], now: float, error: StoreError) -> None:
        """Keep what could not be read, and retry after RETRY_SECONDS."""
        log.warning("cannot read what pages are sent, trying again: %s", error)
        with self._wake:
            for key, one in taken.items():
                self._pending.setdefault(key, Pending()).put_back(one)
                room = self._rooms.get(key.room)
                if isinstance(room, SharedRoom):
                    room.hold()
            self._not_before = now + RETRY_SECONDS


def last_complete(waiting: Iterable[tuple[Key, Pending]]) -> dict[str, int]:
    """Return for each room the revision before the first of the messages that wait."""
    found: dict[str, int] = {}
    for key, one in waiting:
        found[key.room] = min(found.get(key.room, one.first - 1), one.first - 1)
    return found

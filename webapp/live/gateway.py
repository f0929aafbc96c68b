"""The Socket.IO gateway: sends events to the pages that show them. No other module emits.

A publisher adds a notice and continues. One thread turns these into messages, at most ten a second for one session
in one room, and passes them to Socket.IO, which queues them for each client. So a slow or dead page delays nothing. A
client with too large a backlog (messages here, bytes on its websocket) is disconnected, and gets a snapshot when it
reconnects. Requests from pages also arrive here and call the same services as over HTTP.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from flask import Flask, request
from flask_socketio import SocketIO, join_room, leave_room
from pydantic import ValidationError

from webapp.access.gate import IDENTITY, Gate, may_change
from webapp.access.identity import Identity
from webapp.app import App
from webapp.bodies import Body, SocketPlan, SocketPrune, SocketUndo, Subscribe, refusal
from webapp.errors import Forbidden, Malformed, NotFound, StoreError, is_failure, to_json
from webapp.events import Event, ModelsChanged, SettingsChanged
from webapp.live.admission import Admission
from webapp.live.notices import Notice, Payload, notices_of
from webapp.live.rooms import OVERVIEW, SESSION_PREFIX, Room, Sent
from webapp.live.shared import QueuedNotice, RecentNotices, SharedRoom
from webapp.live.throttle import Pending
from webapp.live.websockets import Outbox, Websockets
from webapp.services.planning.message_pages import PageRequest
from webapp.services.planning.requests import PlanRequest, PruneRequest

log = logging.getLogger("coppice.live")

# Messages that may wait for one client before it is disconnected, and the seconds between two checks.
LAG_LIMIT = 500
LAG_SECONDS = 1.0
# A room without pages keeps its messages this long, for a page that comes back.
ROOM_SECONDS = 600.0
# Pause before reading again after the store was busy.
RETRY_SECONDS = 0.5
SNAPSHOT_MESSAGES = 50
# The sessions that changed last; a page reads the rest of the overview over HTTP.
SNAPSHOT_SESSIONS = 100
# Parts of Engine.IO's log messages about malformed requests and packets of clients; it adds tracebacks.
CLIENTS_FAULTS = ("further occurrences", "message handler error")
# Pages that open the overview within this time share one reading of it.
SHARED_SECONDS = 2.0
# Rough cost of sending one row to one page; with many pages the overview is updated less often.
PAGE_ROW_SECONDS = 10e-6


class Key(NamedTuple):
    """The place where messages wait: a room and a session, "" for none; with `page` for that page of the room alone."""

    room: str
    subject: str
    page: str = ""


class Gateway:
    """Connects the bus with the browsers. With a queue, the events of all workers come by that, also our own."""

    def __init__(self, app: App, flask_app: Flask, gate: Gate) -> None:
        self.app, self.gate = app, gate
        self._wake = threading.Condition()
        self._rooms: dict[str, Room] = {}
        self._used: dict[str, float] = {}  # when each room was last seen with pages
        self._pending: dict[Key, Pending] = {}
        self._sending: list[tuple[Key, Pending]] = []
        self._recent = RecentNotices() if app.queue is not None else None
        self._closed = False
        self._not_before = 0.0
        # The last reading of the overview: the revision and time before it, and its content.
        self._shared: tuple[int, float, Payload] = (0, float("-inf"), {})
        self.socketio = SocketIO(
            flask_app,
            async_mode="threading",
            async_handlers=False,  # our own few threads answer
            cors_allowed_origins=gate.allows_origin,
            manage_session=False,
            json=flask_app.json,
            engineio_logger=quiet_logger(),
            # A page that polls would reach another worker each time.
            transports=["websocket"] if app.queue is not None else None,
        )
        self.websockets = Websockets()
        engine = self.socketio.server.eio
        engine._async = {**engine._async, "websocket": self.websockets.transport, "queue": Outbox}  # noqa: SLF001
        flask_app.wsgi_app = Admission(flask_app.wsgi_app, engine.sockets)  # type: ignore[method-assign]
        self._answer("subscribe", Subscribe, self.subscribe)
        self._answer("unsubscribe", Subscribe, self.unsubscribe)
        self._answer("context:plan", SocketPlan, self.plan)
        self._answer("context:prune", SocketPrune, self.prune, changes=True)
        self._answer("context:undo", SocketUndo, self.undo, changes=True)
        self.socketio.on_event("disconnect", self.left)
        self._cancel = app.bus.subscribe(partial(self.heard, 0) if app.queue is None else app.queue.publish)
        if app.queue is not None:
            app.queue.start(self.heard, self.lost)
        self._thread = threading.Thread(target=self._run, name="live", daemon=True)
        self._thread.start()

    # -- notices from the bus

    def heard(self, revision: int, event: Event) -> None:
        """Queue the notices of an event; takes the same short time for any number of pages.

        `revision` is that of the event in the queue, 0 without one.
        """
        if revision and isinstance(event, SettingsChanged | ModelsChanged):
            self.app.environment.forget()
        notices = notices_of(event)
        with self._wake:
            if self._recent is not None:
                self._recent.add(revision, notices)
            for notice in notices:
                for room in self._rooms_of(notice):
                    self._pending.setdefault(Key(room, notice.subject), Pending()).add(notice, revision)
            if notices:
                self._wake.notify()

    def lost(self) -> None:
        """Disconnect every page, so that it comes back for a snapshot: events are missing."""
        self.app.environment.forget()
        with self._wake:
            if self._recent is not None:
                self._recent.forget()
        self._disconnect(lambda _: True)

    def _rooms_of(self, notice: Notice) -> list[str]:
        """Return the rooms whose pages are sent a notice.

        With a queue these are rooms with pages: a page that comes later gets what it missed from `RecentNotices`, and
        would get it twice. Without one, a room without pages records that it sent nothing.
        """
        names = list(self._rooms) if notice.room is None else [notice.room]
        if self._recent is None:
            return names
        return [name for name in names if (room := self._rooms.get(name)) is not None and room.members]

    # -- the sending thread

    def _run(self) -> None:
        next_look = time.monotonic() + LAG_SECONDS
        while True:
            with self._wake:
                if self._closed:
                    return
                wait = min(self._next_due(), next_look) - time.monotonic()
                if wait > 0:
                    self._wake.wait(wait)
            self.flush()
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + LAG_SECONDS
                self._forget_rooms()
                try:
                    self._drop_laggards()
                    self._drop_revoked()
                except Exception:
                    log.exception("cannot disconnect pages that lag or have no access any more")

    def _next_due(self) -> float:
        due = (pending.due_at() for pending in self._pending.values())
        return max(min(due, default=float("inf")), self._not_before)

    def flush(self) -> None:
        """Send everything that is due."""
        now = time.monotonic()
        with self._wake:
            if now < self._not_before:
                return
            due = [
                (key, pending.take(now)) for key, pending in self._pending.items() if pending.due_at() <= now
            ]
            self._forget_idle(now)
            self._sending = due
            self._note_progress()
        rows = {key.subject: taken for key, taken in due if key[::2] == (OVERVIEW, "") and taken.is_row()}
        alone = [(key, taken) for key, taken in due if not (len(rows) > 1 and rows.get(key.subject) is taken)]
        ends = {key.room: key for key, _ in alone}
        if len(rows) > 1:
            ends.pop(OVERVIEW, None)
        for key, taken in alone:
            try:
                self._send(key, taken, now, last=ends.get(key.room) == key)
            except Exception:
                log.exception("cannot send messages to %s", key.room)
        if len(rows) > 1:
            try:
                self._send_rows(rows, now)
            except Exception:
                log.exception("cannot send rows to the overview")
        with self._wake:
            self._sending = []

    def _note_progress(self) -> None:
        """Note how far the rooms are complete before and after what is being sent."""
        if self._recent is None:
            return
        waiting = self._last_complete((key, one) for key, one in self._pending.items() if one.count())
        sending = self._last_complete(self._sending)
        for name in sending:
            room = self._rooms.get(name)
            if isinstance(room, SharedRoom):
                room.ahead = waiting.get(name, self._recent.latest)
                room.revision = min(room.ahead, sending[name])

    @staticmethod
    def _last_complete(waiting: Iterable[tuple[Key, Pending]]) -> dict[str, int]:
        """Return for each room the revision before the first of the messages that wait."""
        found: dict[str, int] = {}
        for key, one in waiting:
            found[key.room] = min(found.get(key.room, one.first - 1), one.first - 1)
        return found

    def _send_rows(self, subjects: Mapping[str, Pending], now: float) -> None:
        """Send the rows of several sessions in one message: each message costs time in every open overview."""
        room = self._rooms.get(OVERVIEW)
        if room is None:
            return
        try:
            room.prepare(1)
            if not room.members:
                with self._wake:
                    room.pass_over()
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
            sent = room.stamp("sessions:updated", {"sessions": found})
            self.socketio.emit(sent.event, sent.payload, to=room.name)

    def _row(self, subject: str) -> Payload | None:
        """Return a session's row; None if it has been deleted."""
        try:
            return self._shown(subject)
        except NotFound:
            return None

    def _shown(self, subject: str) -> Payload:
        """Return a session's row. A verdict without a price gets one in a later row. Raises NotFound."""
        session = self.app.sessions.get(subject)
        self.app.verdict_refresher.request([session])
        return vars(session)

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

    def _forget_idle(self, now: float) -> None:
        idle = [key for key, one in self._pending.items() if not one.count() and one.pace.due_at(10) <= now]
        for key in idle:
            del self._pending[key]

    def _send(self, key: Key, taken: Pending, now: float, *, last: bool) -> None:
        """Send what waits for a session in a room; `last` where the room is sent nothing after it for now."""
        room = self._rooms.get(key.room)
        if room is None:  # no page has joined since the start, so nothing has to be kept
            return
        try:
            room.prepare(1 + taken.count())
            if not room.members:
                with self._wake:
                    room.pass_over()
                return
            started = time.monotonic()
            messages = self._messages(key.subject, taken)
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
                self.socketio.emit(one.event, one.payload, to=key.page or room.name)

    def _messages(self, subject: str, taken: Pending) -> list[tuple[str, Payload]]:
        """Return the messages to send, with payloads read now. Raises what the services raise."""
        made: list[tuple[str, Payload]] = []
        if taken.row:
            made.append(("session:updated", self._shown(subject)))
        if taken.appended:
            rows = self.app.messages.by_number(subject, sorted(set(taken.numbers)), at_once=True)
            made.append(
                ("messages:appended", {"session_id": subject, "messages": rows, "count": taken.appended})
            )
        made += [(event, payload or self._reading(event)) for event, payload in taken.events]
        if taken.stats:
            made.append(("context:stats", {"session_id": subject, **vars(self.app.sessions.stats(subject))}))
        return made

    def _reading(self, event: str) -> Payload:
        if event == "settings:changed":
            return vars(self.app.settings.get())
        return vars(self.app.models.list()) if event == "models:changed" else {}

    def _room(self, name: str) -> Room:
        with self._wake:
            found = self._rooms.get(name)
        if found is None:
            fresh = Room(name, self._reserve) if self._recent is None else SharedRoom(name, self._recent)
            with self._wake:
                found = self._rooms.setdefault(name, fresh)
        return found

    def _reserve(self, room: str, count: int) -> int:
        small = self.app.store.small
        with self.app.store.write():
            last: int = small.revision(room)
            small.put_revision(room, last + count)
        return last

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

    def _drop_laggards(self) -> None:
        engine = self.socketio.server.eio
        for sid, client in list(engine.sockets.items()):
            if client.queue.qsize() > LAG_LIMIT:
                log.warning("a page lags by %d messages and is disconnected", client.queue.qsize())
                client.close(wait=False)
                engine.sockets.pop(sid, None)

    def _drop_revoked(self) -> None:
        """Disconnect pages whose token was revoked, or that have none although one is needed now."""
        environs = self.socketio.server.environ
        admitted: dict[Identity | None, bool] = {}

        def is_revoked(sid: str) -> bool:
            environ = environs.get(sid, {})
            held: Identity | None = environ.get(IDENTITY)
            if held not in admitted:
                admitted[held] = self.gate.is_still_allowed(environ)
            return not admitted[held]

        self._disconnect(is_revoked)

    def _disconnect(self, these: Callable[[str], bool]) -> None:
        """Disconnect pages by the ids of their connections."""
        engine = self.socketio.server.eio
        for sid, client in list(engine.sockets.items()):
            if these(sid):
                client.close(wait=False)
                engine.sockets.pop(sid, None)

    # -- requests from pages

    def _answer(
        self, event: str, model: type[Body], handler: Callable[[Any], Payload], *, changes: bool = False
    ) -> None:
        """Register a handler. Its answer, or its failure in the form used over HTTP, is the acknowledgement.

        With `changes` an operator's token is needed, where the server uses tokens.
        """

        def handle(data: Any = None, *_: Any) -> Payload:
            try:
                if not isinstance(data, dict):
                    raise Malformed(f"{event} takes one object, got {type(data).__name__}")
                if changes and not may_change(request.environ):
                    raise Forbidden("a viewer may look and change nothing")
                return handler(model.model_validate(data))
            except ValidationError as error:
                return refusal(error)
            except Exception as error:
                if is_failure(error):
                    log.exception("%s failed", event)
                return to_json(error)

        self.socketio.on_event(event, handle)

    def subscribe(self, body: Subscribe) -> Payload:
        """Add a page to a room. Missed messages are sent again as events; without them the answer has a snapshot."""
        self._check(body.room)
        room = self._room(body.room)
        sid = page_id()
        with self._wake:
            try:
                join_room(body.room)
            except (KeyError, ValueError) as error:
                raise NotFound("page", sid) from error  # it has disconnected meanwhile
            if body.room not in self._rooms:  # forgotten meanwhile, with what it was to be sent
                room.pass_over()
            room = self._rooms.setdefault(body.room, room)
            missed = room.enter(sid, body.revision)
            revision = self._revision(room)
            shared, later = self._shared_snapshot(room) if missed is None else (None, [])
            for one in [*(missed or []), *later]:
                if isinstance(one, QueuedNotice):  # read when it is sent, after what was sent before
                    key = Key(room.name, one.notice.subject, sid)
                    self._pending.setdefault(key, Pending()).add(one.notice, one.revision)
                    revision = min(revision, one.revision - 1)
                else:
                    self.socketio.emit(one.event, one.payload, to=sid)
            self._wake.notify()
        snapshot = self._snapshot(room, revision) if missed is None and shared is None else shared
        return {"room": room.name, "revision": revision, "missed": len(missed or []), "snapshot": snapshot}

    def _revision(self, room: Room) -> int:
        """Return the revision up to which a room's pages were sent everything."""
        if self._recent is None:
            return room.revision
        waiting = [(key, one) for key, one in self._pending.items() if one.count()]
        return self._last_complete([*waiting, *self._sending]).get(room.name, self._recent.latest)

    def _shared_snapshot(self, room: Room) -> tuple[Payload | None, list[Sent] | list[QueuedNotice]]:
        """Return the overview as read a moment ago and the messages sent since; None if it must be read now.

        After a restart hundreds of pages reconnect at once.
        """
        revision, at, snapshot = self._shared
        if room.session_id is not None or time.monotonic() - at > SHARED_SECONDS:
            return None, []
        later = room.missed(revision)
        return (None, []) if later is None else (snapshot, later)

    def unsubscribe(self, body: Subscribe) -> Payload:
        """Remove a page from a room."""
        leave_room(body.room)
        with self._wake:
            if body.room in self._rooms:
                self._rooms[body.room].members.discard(page_id())
        return {"room": body.room}

    def left(self, *_: Any) -> None:
        """Remove a disconnected page from all rooms."""
        with self._wake:
            for room in self._rooms.values():
                room.members.discard(page_id())

    def _check(self, room: str) -> None:
        if room.startswith(SESSION_PREFIX):
            self.app.sessions.get(room.removeprefix(SESSION_PREFIX))
        elif room != OVERVIEW:
            raise NotFound("room", room)

    def _snapshot(self, room: Room, revision: int) -> Payload:
        if room.session_id is None:
            started = time.monotonic()
            page = self.app.sessions.page(limit=SNAPSHOT_SESSIONS)
            self.app.verdict_refresher.request(page.sessions)
            snapshot = vars(page)
            self._shared = (revision, started, snapshot)
            return snapshot
        return {
            "stats": self.app.sessions.stats(room.session_id),
            "page": self.app.messages.page(room.session_id, PageRequest(limit=SNAPSHOT_MESSAGES)),
        }

    def plan(self, body: SocketPlan) -> Payload:
        """Answer as `POST …/plan` does."""
        return vars(self.app.prunes.plan(body.session_id, PlanRequest(**without_session(body))))

    def prune(self, body: SocketPrune) -> Payload:
        """Answer as `POST …/prune` does."""
        return vars(self.app.prunes.apply(body.session_id, PruneRequest(**without_session(body))))

    def undo(self, body: SocketUndo) -> Payload:
        """Answer as `POST …/operations/<n>/undo` does; without `n`, for the newest operation."""
        return vars(self.app.operations.undo(body.session_id, body.n))

    def close(self) -> None:
        """Stop sending and disconnect every page without waiting for them. Can be called twice.

        What is stored until the queue is closed is still told to the other workers.
        """
        if self.app.queue is None:
            self._cancel()
        with self._wake:
            closed, self._closed = self._closed, True
            self._wake.notify()
        for client in list(self.socketio.server.eio.sockets.values()):
            client.close(wait=False)
        if not closed:
            self.socketio.server.shutdown()  # ends the thread that watches clients, which holds the application
        self.websockets.close()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=2)


def page_id() -> str:
    """Return the id of the connection by which the present request came."""
    sid: str = request.sid  # type: ignore[attr-defined]
    return sid


def without_session(body: Body) -> Payload:
    """Return the fields that were sent, except the session, which services take as an argument."""
    fields = body.given()
    fields.pop("session_id")
    return fields


def quiet_logger() -> logging.Logger:
    """Return Engine.IO's logger without its messages about malformed requests and packets of clients.

    Our own failures are still logged, by our handlers.
    """
    logger = logging.getLogger("coppice.engineio")
    logger.setLevel(logging.ERROR)
    logger.filters = [lambda record: not any(note in record.getMessage() for note in CLIENTS_FAULTS)]
    return logger

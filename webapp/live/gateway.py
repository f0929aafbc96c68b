"""The Socket.IO gateway: between the bus and the browsers. No other module emits.

What is sent is queued for each client by Socket.IO. A client with too large a backlog (messages here, bytes on its
websocket) is disconnected, and gets a snapshot when it reconnects. Requests from pages also arrive here and call the
same services as over HTTP.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Flask, request
from flask_socketio import SocketIO, join_room, leave_room
from pydantic import ValidationError

from webapp.access.gate import Gate, may_change, role_refusal
from webapp.access.identity import OPERATOR, VIEWER
from webapp.app import App
from webapp.bodies import Body, SocketPlan, SocketPrune, SocketUndo, Subscribe, refusal
from webapp.errors import Forbidden, NotFound, StoreError, is_failure, to_json
from webapp.events import Event, ModelsChanged, SettingsChanged
from webapp.live.admission import Admission
from webapp.live.broadcaster import Broadcaster
from webapp.live.disconnecting import disconnect, disconnect_laggards, disconnect_revoked, disconnect_silent
from webapp.live.notices import Payload, notices_of
from webapp.live.payloads import Payloads
from webapp.live.rooms import OVERVIEW, SESSION_PREFIX, Sent
from webapp.live.shared_rooms import RecentNotices
from webapp.live.websockets import Outbox, Websockets

log = logging.getLogger("coppice.live")

# Parts of Engine.IO's log messages about malformed requests and packets of clients; it adds tracebacks.
CLIENTS_FAULTS = ("further occurrences", "message handler error")


class Gateway:
    """Connects the bus with the browsers. With a queue, the events of all workers come by that, also our own."""

    def __init__(self, app: App, flask_app: Flask, gate: Gate) -> None:
        self.app, self.gate = app, gate
        recent = None if app.queue is None else RecentNotices()
        self.broadcaster = Broadcaster(Payloads(app), self._emit, self._reserve, recent)
        self.socketio = SocketIO(
            flask_app,
            async_mode="threading",
            async_handlers=False,  # our own few threads answer
            cors_allowed_origins=gate.allows_origin,
            manage_session=False,
            json=flask_app.json,
            engineio_logger=quiet_logger(),
            # `_disconnect_unwanted` watches them. Engine.IO's own thread for it cannot be ended while it starts.
            monitor_clients=False,
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
        self.socketio.on_event("disconnect", self.on_disconnect)
        self._cancel = app.bus.subscribe(
            partial(self.on_event, 0) if app.queue is None else app.queue.publish
        )
        if app.queue is not None:
            app.queue.start(self.on_event, self.on_events_lost)
        self._thread = threading.Thread(
            target=self.broadcaster.run, args=(self._disconnect_unwanted,), name="live", daemon=True
        )
        self._thread.start()

    # -- from the bus to the pages

    def on_event(self, revision: int, event: Event) -> None:
        """Queue the notices of an event. `revision` is that of the event in the queue, 0 without one."""
        if revision and isinstance(event, SettingsChanged | ModelsChanged):
            self.app.environment.forget()
        self.broadcaster.add(revision, notices_of(event))

    def on_events_lost(self) -> None:
        """Disconnect every page, so that it comes back for a snapshot: events are missing."""
        self.app.environment.forget()
        self.broadcaster.forget_recent()
        disconnect(self.socketio.server, lambda _: True)

    def _emit(self, message: Sent, to: str) -> None:
        self.socketio.emit(message.event, message.payload, to=to)

    def _reserve(self, room: str, count: int) -> int:
        small = self.app.store.small
        with self.app.store.write():
            last: int = small.revision(room)
            small.put_revision(room, last + count)
        return last

    def _disconnect_unwanted(self) -> None:
        """Disconnect the pages that do not answer, lag or have no access any more."""
        try:
            disconnect_silent(self.socketio.server)
            disconnect_laggards(self.socketio.server)
            disconnect_revoked(self.socketio.server, self.gate)
        except StoreError as error:
            log.warning("cannot check which pages still have access, trying again: %s", error)
        except Exception:
            log.exception("cannot disconnect pages that do not answer, lag or have no access any more")

    # -- requests from pages

    def _answer(
        self, event: str, model: type[Body], handler: Callable[[Any], Payload], *, changes: bool = False
    ) -> None:
        """Register a handler. Its answer, or its failure in the form used over HTTP, is the acknowledgement.

        With `changes` an operator's token is needed, where the server uses tokens.
        """

        def handle(data: Any = None, *_: Any) -> Payload:
            try:
                if changes and not may_change(request.environ):
                    raise Forbidden(role_refusal(VIEWER, OPERATOR))
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
        page = page_id()

        def enter() -> None:
            try:
                join_room(body.room)
            except (KeyError, ValueError) as error:
                raise NotFound("page", page) from error  # it has disconnected meanwhile

        joined = self.broadcaster.join(body.room, page, body.revision, enter)
        return {"room": body.room, **joined._asdict()}

    def unsubscribe(self, body: Subscribe) -> Payload:
        """Remove a page from a room."""
        leave_room(body.room)
        self.broadcaster.leave(page_id(), body.room)
        return {"room": body.room}

    def on_disconnect(self, *_: Any) -> None:
        """Remove a disconnected page from all rooms."""
        self.broadcaster.leave(page_id())

    def _check(self, room: str) -> None:
        if room.startswith(SESSION_PREFIX):
            self.app.sessions.get(room.removeprefix(SESSION_PREFIX))
        elif room != OVERVIEW:
            raise NotFound("room", room)

    def plan(self, body: SocketPlan) -> Payload:
        """Answer as `POST …/plan` does."""
        return vars(self.app.prunes.plan(body.session_id, body))

    def prune(self, body: SocketPrune) -> Payload:
        """Answer as `POST …/prune` does."""
        return vars(self.app.prunes.apply(body.session_id, body))

    def undo(self, body: SocketUndo) -> Payload:
        """Answer as `POST …/operations/<n>/undo` does; without `n`, for the newest operation."""
        return vars(self.app.operations.undo(body.session_id, body.n))

    def close(self) -> None:
        """Stop sending and disconnect every page without waiting for them. Can be called twice.

        Other workers still get the events that are published until the queue is closed.
        """
        if self.app.queue is None:
            self._cancel()
        self.broadcaster.close()
        for client in list(self.socketio.server.eio.sockets.values()):
            client.close(wait=False)
        self.websockets.close()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=2)


def page_id() -> str:
    """Return the id of the connection by which the present request came."""
    sid: str = request.sid  # type: ignore[attr-defined]
    return sid


def quiet_logger() -> logging.Logger:
    """Return Engine.IO's logger without its messages about malformed requests and packets of clients.

    Our own failures are still logged, by our handlers.
    """
    logger = logging.getLogger("coppice.engineio")
    logger.setLevel(logging.ERROR)
    logger.filters = [lambda record: not any(note in record.getMessage() for note in CLIENTS_FAULTS)]
    return logger

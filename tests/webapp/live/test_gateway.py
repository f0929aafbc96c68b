"""The live connection, on the real application: recipients, order and pace of its messages."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
import socketio
from flask import Flask

from tests.servers import Server
from tests.waiting import PATIENCE, until
from webapp.app import App
from webapp.bodies import SessionChange
from webapp.errors import BusyStore, LostStore
from webapp.events import (
    ContextPruned,
    Event,
    MessagesAppended,
    ModelsChanged,
    ProblemReported,
    SessionUpdated,
    SettingsChanged,
)
from webapp.live import gateway as gateway_module
from webapp.live.disconnecting import LAG_LIMIT
from webapp.live.gateway import Gateway
from webapp.live.throttle import RATE
from webapp.services.session.answers import Session


@pytest.fixture
def gateway(flask_app: Flask, app: App) -> Gateway:
    """The gateway of an application with one session, `a`."""
    app.new_sessions.create(id="a", model="gpt-5")
    found: Gateway = flask_app.extensions["coppice.live"]
    return found


@pytest.fixture
def visitor(gateway: Gateway, flask_app: Flask) -> Iterator[Page]:
    """A page that has just connected."""
    made = Page(gateway, flask_app)
    yield made
    made.client.disconnect()


class Page:
    """A connected page that sends events and records messages."""

    def __init__(self, gateway: Gateway, flask_app: Flask) -> None:
        self.client = gateway.socketio.test_client(flask_app)
        self.heard: list[tuple[str, dict[str, Any]]] = []

    def says(self, event: str, *data: Any) -> Any:
        """Send an event; return its acknowledgement."""
        return self.client.emit(event, *data, callback=True)

    def hears(self, *names: str, count: int = 1) -> list[dict[str, Any]]:
        """Return the payloads of the messages of these names so far, in order, once there are `count` of them."""
        found: list[dict[str, Any]] = []

        def enough() -> bool:
            self.heard += [(one["name"], one["args"][0]) for one in self.client.get_received()]
            found[:] = [payload for name, payload in self.heard if name in names]
            return len(found) >= count

        until(enough)
        return found


class TestRooms:
    """Rooms, which a page joins for what it shows."""

    def test_a_first_visit_gets_a_snapshot(self, visitor: Page) -> None:
        """The snapshot has its revision."""
        answer = visitor.says("subscribe", {"room": "session:a"})
        assert answer["snapshot"]["stats"]["session"]["id"] == "a"
        assert answer["revision"] >= 1

    def test_the_overview_has_every_session(self, visitor: Page) -> None:
        """The snapshot has a row for each session."""
        answer = visitor.says("subscribe", {"room": "overview"})
        assert [one["id"] for one in answer["snapshot"]["sessions"]] == ["a"]

    def test_a_long_overview_is_sent_in_part(
        self, visitor: Page, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The snapshot has the sessions changed last, and the cursor of the next page."""
        monkeypatch.setattr("webapp.live.payloads.SNAPSHOT_SESSIONS", 2)
        for name in "bcd":
            app.new_sessions.create(id=name, model="gpt-5")
        snapshot = visitor.says("subscribe", {"room": "overview"})["snapshot"]
        whole = [one.id for one in app.sessions.list()]
        assert [one["id"] for one in snapshot["sessions"]] == whole[:2]
        assert (snapshot["total"], snapshot["next"]) == (4, whole[1])

    def test_pages_that_join_together_share_one_read(
        self, visitor: Page, app: App, gateway: Gateway, flask_app: Flask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """They also get the messages since that read."""
        monkeypatch.setattr("webapp.live.broadcaster.SHARED_SECONDS", float("inf"))
        visitor.says("subscribe", {"room": "overview"})
        self.rename(app, visitor, "renamed")
        app.sessions.page = None  # type: ignore[assignment]
        second = Page(gateway, flask_app)
        answer = second.says("subscribe", {"room": "overview"})
        assert [one["id"] for one in answer["snapshot"]["sessions"]] == ["a"]
        assert [one["title"] for one in second.hears("session:updated")][-1] == "renamed"

    def test_a_page_that_reconnects_gets_missed_messages(
        self, visitor: Page, app: App, gateway: Gateway, flask_app: Flask
    ) -> None:
        """The messages have their revisions, and none is repeated."""
        visitor.says("subscribe", {"room": "overview"})
        first, second = (self.rename(app, visitor, title) for title in ("one", "two"))
        again = Page(gateway, flask_app)
        answer = again.says("subscribe", {"room": "overview", "revision": first})
        assert (answer["snapshot"], answer["missed"]) == (None, 1)
        assert [m["revision"] for m in again.hears("session:updated")] == [second]

    @pytest.mark.parametrize("change", [SettingsChanged(), ModelsChanged()])
    def test_a_page_that_was_away_misses_no_change_for_all_sessions(
        self, visitor: Page, app: App, gateway: Gateway, flask_app: Flask, change: Event
    ) -> None:
        """A page that comes back after the only page had gone gets a snapshot."""
        revision = visitor.says("subscribe", {"room": "session:a"})["revision"]
        visitor.says("unsubscribe", {"room": "session:a"})
        app.bus.publish(change)
        gateway.broadcaster.flush()
        answer = Page(gateway, flask_app).says("subscribe", {"room": "session:a", "revision": revision})
        assert answer["snapshot"] is not None

    def test_are_forgotten_some_time_after_their_last_page(
        self, visitor: Page, app: App, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Their messages are not kept for the life of the server; a page that comes back gets a snapshot."""
        visitor.says("subscribe", {"room": "overview"})
        revision = self.rename(app, visitor, "one")
        gateway.broadcaster._forget_rooms()
        monkeypatch.setattr("webapp.live.broadcaster.ROOM_SECONDS", 0.0)
        gateway.broadcaster._forget_rooms()
        assert "overview" in gateway.broadcaster._rooms
        visitor.says("unsubscribe", {"room": "overview"})
        until(lambda: "overview" not in gateway.broadcaster._rooms)
        answer = visitor.says("subscribe", {"room": "overview", "revision": revision})
        assert answer["snapshot"] is not None
        assert answer["revision"] > revision

    @staticmethod
    def rename(app: App, visitor: Page, title: str) -> int:
        """Rename the session and wait for the message; return its revision."""
        visitor.heard.clear()
        app.sessions.patch("a", SessionChange(title=title))
        revisions: list[int] = []

        def renamed() -> bool:  # of this name: the session's beginning may come late
            heard = visitor.hears("session:updated")
            revisions[:] = [one["revision"] for one in heard if one["title"] == title]
            return bool(revisions)

        until(renamed)
        return revisions[-1]

    def test_revisions_grow_by_one(self, visitor: Page, app: App) -> None:
        """Each room counts separately."""
        start = visitor.says("subscribe", {"room": "overview"})["revision"]
        revisions = [self.rename(app, visitor, title) for title in "abc"]
        assert revisions == [start + 1, start + 2, start + 3]

    @pytest.mark.parametrize("room", ["session:nobody", "everything", "", "session:"])
    def test_a_room_that_does_not_exist_is_refused(self, visitor: Page, room: str) -> None:
        """The error has the shape of the API's errors."""
        assert visitor.says("subscribe", {"room": room})["error"]["type"] == "not_found"

    def test_a_page_that_disconnects_while_it_joins_is_no_failure(
        self,
        visitor: Page,
        gateway: Gateway,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        """It joins no room, and the log has no traceback."""
        manager = gateway.socketio.server.manager

        def leave(_: str) -> None:
            manager.disconnect(manager.sid_from_eio_sid(visitor.client.eio_sid, "/"), "/")

        monkeypatch.setattr(gateway, "_check", leave)
        visitor.client.emit("subscribe", {"room": "session:a"})
        assert [one for one in caplog.records if one.levelname == "ERROR"] == []
        assert gateway.broadcaster._rooms["session:a"].members == set()

    def test_a_page_that_left_gets_no_message(self, visitor: Page, app: App) -> None:
        """A page can leave a room."""
        visitor.says("subscribe", {"room": "session:a"})
        visitor.says("subscribe", {"room": "overview"})
        visitor.says("unsubscribe", {"room": "session:a"})
        app.sessions.patch("a", SessionChange(title="x"))
        visitor.hears("session:updated")
        assert {payload["room"] for _, payload in visitor.heard} == {"overview"}


class TestMessages:
    """Messages of events."""

    @pytest.mark.parametrize(
        ("change", "event", "field"),
        [(SettingsChanged(), "settings:changed", "settings"), (ModelsChanged(), "models:changed", "models")],
    )
    def test_a_change_for_all_sessions_reaches_every_room(
        self, visitor: Page, app: App, change: Event, event: str, field: str
    ) -> None:
        """The message has the current settings or models."""
        visitor.says("subscribe", {"room": "session:a"})
        visitor.says("subscribe", {"room": "overview"})
        app.bus.publish(change)
        heard = visitor.hears(event, count=2)
        assert {one["room"] for one in heard} == {"session:a", "overview"}
        assert all(one[field] for one in heard)

    def test_a_prune_is_sent_with_its_numbers(self, visitor: Page, app: App) -> None:  # B14
        """The room of the session gets the tokens before and after, and the dropped messages."""
        visitor.says("subscribe", {"room": "session:a"})
        app.bus.publish(ContextPruned("a", 1, "manual", 100, 60, 2, ("m1", "m2"), 1.0))
        [payload] = visitor.hears("context:pruned")
        sizes = [payload[name] for name in ("original", "final", "removed", "tokenReduction")]
        assert sizes == [100, 60, 2, 40]
        assert payload["removed_ids"] == ["m1", "m2"]

    def test_a_problem_is_a_toast(self, visitor: Page, app: App) -> None:
        """The toast is sent to the room of its session only."""
        visitor.says("subscribe", {"room": "session:a"})
        app.bus.publish(ProblemReported("a", "line 212 is not JSON"))
        assert visitor.hears("toast:warning")[0]["message"] == "line 212 is not JSON"

    def test_a_deletion_is_sent(self, visitor: Page, app: App) -> None:
        """The session's own pages get it, too, instead of any pending message."""
        visitor.says("subscribe", {"room": "session:a"})
        visitor.says("subscribe", {"room": "overview"})
        app.sessions.delete("a")
        assert {m["room"] for m in visitor.hears("session:deleted", count=2)} == {"session:a", "overview"}

    def test_an_append_sends_the_session_once(self, visitor: Page, app: App) -> None:
        """In its own room only the statistics contain the session."""
        visitor.says("subscribe", {"room": "session:a"})
        app.ingest.append_messages("a", [{"role": "user", "content": "hello"}])
        assert visitor.hears("context:stats")
        visitor.hears("messages:appended")
        assert [event for event, payload in visitor.heard if "session" in payload or "id" in payload] == [
            "context:stats"
        ]

    def test_appended_messages_are_sent_as_rows(self, visitor: Page, app: App) -> None:
        """Rows have scores and fates, and the statistics follow."""
        visitor.says("subscribe", {"room": "session:a"})
        app.ingest.append_messages("a", [{"role": "user", "content": "hello"}])
        [payload] = visitor.hears("messages:appended")
        assert [row["text"] for row in payload["messages"]] == ["hello"]
        assert visitor.hears("context:stats")[-1]["session"]["messages"] == 1


class TestFloods:
    """Many events, sent as at most ten messages a second."""

    def test_are_joined_to_a_few_messages(self, visitor: Page, app: App) -> None:
        """A thousand appends are few messages with the complete count."""
        visitor.says("subscribe", {"room": "session:a"})
        started = time.monotonic()
        for n in range(1000):
            app.bus.publish(MessagesAppended("a", (n,), 1))
        until(lambda: sum(m["count"] for m in visitor.hears("messages:appended")) >= 1000)
        assert sum(m["count"] for m in visitor.hears("messages:appended")) == 1000
        seconds = time.monotonic() - started
        assert len(visitor.heard) <= RATE * (4 + seconds)

    def test_never_delay_a_publisher(self, gateway: Gateway, visitor: Page, app: App) -> None:
        """Publishing returns even while the sending thread waits for a read."""
        visitor.says("subscribe", {"room": "overview"})
        stuck, free = threading.Event(), threading.Event()

        session = app.sessions.get("a")

        def read(_: str) -> Session:
            stuck.set()
            assert free.wait(PATIENCE)
            return session

        gateway.app.sessions.get = read  # type: ignore[assignment]
        try:
            app.bus.publish(SessionUpdated("a"))
            assert stuck.wait(PATIENCE)
            for _ in range(100):
                app.bus.publish(SessionUpdated("a"))
            assert not free.is_set()
        finally:
            free.set()
        assert visitor.hears("session:updated")

    def test_of_many_sessions_are_sent_together(self, gateway: Gateway, visitor: Page, app: App) -> None:
        """The rows of many sessions are one message, because every page of the overview gets it."""
        for n in range(20):
            app.new_sessions.create(id=f"n{n}", model="gpt-5")
        visitor.says("subscribe", {"room": "overview"})
        gateway.broadcaster._not_before = float("inf")  # until all of them have changed
        for n in range(20):
            app.sessions.patch(f"n{n}", SessionChange(title=f"title {n}"))
        gateway.broadcaster._not_before = 0.0
        gateway.on_event(0, SessionUpdated("a"))

        def titles() -> set[str | None]:
            rows = [row for one in visitor.hears("sessions:updated") for row in one["sessions"]]
            return {row["title"] for row in [*rows, *visitor.hears("session:updated", count=0)]}

        until(lambda: {f"title {n}" for n in range(20)} <= titles())
        assert len(visitor.heard) < 10

    def test_with_a_busy_store_are_sent_later(self, gateway: Gateway, visitor: Page, app: App) -> None:
        """A failed read is repeated."""
        visitor.says("subscribe", {"room": "overview"})
        answers: list[Any] = [BusyStore("busy"), replace(app.sessions.get("a"), title="at last")]

        def read(_: str) -> Session:
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            found: Session = answer
            return found

        gateway.app.sessions.get = read  # type: ignore[assignment]
        app.bus.publish(SessionUpdated("a"))
        until(lambda: "at last" in [payload["title"] for payload in visitor.hears("session:updated")])

    def test_without_a_page_need_no_read(self, gateway: Gateway, app: App) -> None:
        """No row is read for an empty room."""
        gateway.app.sessions.get = None  # type: ignore[assignment]
        for _ in range(10):
            app.bus.publish(SessionUpdated("a"))
        gateway.broadcaster.flush()
        assert gateway.broadcaster._rooms == {}


class TestRequests:
    """Requests of pages, answered by the acknowledgement."""

    @pytest.mark.parametrize(
        ("event", "data", "kind"),
        [
            ("context:plan", {"session_id": "nobody"}, "not_found"),
            ("context:prune", {"session_id": "a", "plan_id": "old"}, "stale_plan"),
            ("context:prune", {"session_id": "a", "max_tokens": "5"}, "invalid"),
            ("context:plan", {}, "invalid"),
            ("context:plan", [1, 2], "invalid"),
            ("context:plan", "text", "invalid"),
            ("subscribe", None, "invalid"),
            ("context:undo", {"session_id": "a", "n": 99}, "not_found"),
        ],
    )
    def test_that_are_invalid_get_errors_like_the_api(
        self, visitor: Page, event: str, data: Any, kind: str
    ) -> None:
        """Every kind of invalid request gets such an error."""
        assert visitor.says(event, data)["error"]["type"] == kind

    def test_can_plan_prune_and_undo(self, visitor: Page, app: App) -> None:  # X1, X2
        """The shown plan is applied, and undo restores all messages."""
        texts = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} " * 400} for n in range(60)]
        app.ingest.append_messages("a", texts)
        visitor.says("subscribe", {"room": "session:a"})
        plan = visitor.says("context:plan", {"session_id": "a", "max_tokens": 20_000})
        applied = visitor.says("context:prune", {"session_id": "a", "plan_id": plan["plan_id"]})
        assert applied["operation"]["messages"] == plan["removed_count"]
        assert visitor.hears("context:pruned")[0]["removed"] == plan["removed_count"]
        undone = visitor.says("context:undo", {"session_id": "a"})
        assert undone["undone"] == [applied["operation"]["n"]]
        assert len(visitor.hears("context:restored")[0]["message_ids"]) == plan["removed_count"]

    def test_never_reveal_internal_errors(self, visitor: Page, gateway: Gateway) -> None:
        """An unforeseen error is reported as internal."""
        gateway.app.prunes.plan = None  # type: ignore[assignment]
        error = visitor.says("context:plan", {"session_id": "a"})["error"]
        assert error["type"] == "internal"
        assert "NoneType" not in error["message"]


class TestOverTheWire:
    """Connections with a real server and real clients."""

    @pytest.mark.parametrize("transport", ["websocket", "polling"])
    def test_both_transports_work(self, live_server: Server, transport: str) -> None:
        """A page that cannot open a websocket polls."""
        heard = threading.Event()
        client = socketio.Client()
        client.on("session:updated", lambda _: heard.set())
        client.connect(live_server.url, transports=[transport], wait_timeout=PATIENCE)
        try:
            client.call("subscribe", {"room": "overview"})
            live_server.app.new_sessions.create(id="a", model="gpt-5")
            assert heard.wait(PATIENCE)
        finally:
            client.disconnect()

    @pytest.mark.parametrize("transport", ["websocket", "polling"])
    @pytest.mark.parametrize(
        "headers",
        [{"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}],
    )
    def test_foreign_pages_cannot_connect(
        self, live_server: Server, transport: str, headers: dict[str, str]
    ) -> None:
        """A foreign origin and a rebound name are refused."""
        client = socketio.Client(reconnection=False)
        with pytest.raises(socketio.exceptions.ConnectionError):
            client.connect(live_server.url, headers=headers, transports=[transport], wait_timeout=PATIENCE)

    def test_a_page_that_lags_too_far_is_disconnected(self, live_server: Server) -> None:
        """Its backlog is bounded, and it gets a snapshot when it reconnects."""
        gateway: Gateway = live_server.flask.extensions["coppice.live"]
        gone = threading.Event()
        client = socketio.Client(reconnection=False)
        client.on("disconnect", lambda *_: gone.set())
        client.connect(live_server.url, transports=["websocket"], wait_timeout=PATIENCE)
        [engine_client] = gateway.socketio.server.eio.sockets.values()
        engine_client.queue.qsize = lambda: LAG_LIMIT + 1
        assert gone.wait(PATIENCE)

    def test_a_page_that_polls_no_more_is_disconnected(self, live_server: Server) -> None:
        """It has no connection whose end would say so."""
        gateway: Gateway = live_server.flask.extensions["coppice.live"]
        engine = gateway.socketio.server.eio
        engine.ping_interval = engine.ping_timeout = 0.1
        said = httpx.get(f"{live_server.url}/socket.io/?EIO=4&transport=polling", timeout=PATIENCE)
        assert "pingInterval" in said.text
        until(lambda: not engine.sockets)

    def test_closing_disconnects_every_page(self, live_server: Server) -> None:
        """The connections end at once, so that the server can stop."""
        gone = threading.Event()
        client = socketio.Client(reconnection=False)
        client.on("disconnect", lambda *_: gone.set())
        client.connect(live_server.url, transports=["websocket"], wait_timeout=PATIENCE)
        gateway: Gateway = live_server.flask.extensions["coppice.live"]
        gateway.close()
        assert gone.wait(PATIENCE)
        # To end a thread of Engine.IO's that watches clients fails while it starts.
        assert gateway.socketio.server.eio.service_task_handle is None


class TestAccess:
    """The check every second which pages still have access."""

    def test_that_cannot_be_made_is_a_line_in_the_log(
        self, gateway: Gateway, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """While the store is away, the log has its reason and no traceback."""

        def fail(*_: object) -> None:
            raise LostStore("the store is away")

        monkeypatch.setattr(gateway_module, "disconnect_revoked", fail)
        with caplog.at_level("WARNING"):
            gateway._disconnect_unwanted()
        said = {(one.getMessage().rpartition(": ")[2], one.exc_info) for one in caplog.records}
        assert said == {("the store is away", None)}

"""Failures: JSON for programs, a page for people, and never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import pytest
from flask import Flask

from tests.webapp.building import managed, wire
from tests.webapp.promises import Client
from webapp.app import App
from webapp.errors import BusyStore, ClosedStore, Conflict, FullDisk, NotFound, StalePlan
from webapp.routes.problems import wants_json

Failing = Callable[[Exception], Client]


@pytest.fixture
def failing(flask_app: Flask, monkeypatch: pytest.MonkeyPatch) -> Failing:
    """A function that makes the service behind /api/sessions fail, and returns a client."""

    def fail_with(error: Exception) -> Client:
        def fail(*_: object) -> NoReturn:
            raise error

        monkeypatch.setattr(flask_app.extensions["coppice"].sessions, "list", fail)
        return Client(flask_app, flask_app.response_class)

    return fail_with


class TestUnderTheApi:
    """Failures of the API, which are JSON of one shape."""

    @pytest.mark.parametrize(
        ("error", "status", "kind"),
        [
            (NotFound("session", "x"), 404, "not_found"),
            (StalePlan("plan again"), 409, "stale_plan"),
            (Conflict("exists"), 409, "conflict"),
            (BusyStore("busy"), 503, "store_busy"),
            (FullDisk("full"), 503, "store_full"),
            (ClosedStore("closed"), 503, "store_closed"),
            (RuntimeError("secret inside"), 500, "internal"),
            (RecursionError("deep"), 500, "internal"),
        ],
    )
    def test_errors_have_their_status(
        self, failing: Failing, error: Exception, status: int, kind: str
    ) -> None:
        """A table has the statuses; an unexpected error is 500 and reveals nothing internal."""
        answer = failing(error).get("/api/sessions")
        assert (answer.status_code, answer.json["error"]["type"]) == (status, kind)
        assert set(answer.json["error"]) == {"type", "message", "details"}
        assert b"secret" not in answer.data
        assert b"Traceback" not in answer.data

    def test_a_busy_store_says_when_to_retry(self, failing: Failing) -> None:
        """The header is Retry-After."""
        assert failing(BusyStore("busy")).get("/api/sessions").headers["Retry-After"] == "1"

    @pytest.mark.parametrize("value", ["", "{", '{"role": "us', "\x01"])
    def test_a_damaged_value_in_the_store_is_reported_as_such(
        self, client: Client, app: App, value: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The answer says how to find the row, and the log where it was read."""
        session = managed(app, wire("user", "one"))
        with app.store.write():
            app.store.db.run("UPDATE messages SET card = ?", (value,))
        answer = client.get(f"/api/sessions/{session}/messages")
        assert (answer.status_code, answer.json["error"]["type"]) == (503, "store_damaged")
        assert "coppice verify" in answer.json["error"]["message"]
        assert "JSONDecodeError" in caplog.text

    @pytest.mark.parametrize(
        ("method", "path", "status"),
        [
            ("GET", "/api/nothing", 404),
            ("GET", "/api", 404),
            ("GET", "/api/", 404),
            ("POST", "/api/sessions/x/operations/notanumber/undo", 404),
            ("POST", "/api/sessions/x/operations/99999999999999999999/undo", 404),
            ("DELETE", "/api/settings", 405),
            ("PUT", "/api/sessions", 405),
        ],
    )
    def test_unknown_paths_and_methods_are_json_too(
        self, client: Client, method: str, path: str, status: int
    ) -> None:
        """They are not HTML."""
        answer = client.open(path, method=method)
        assert (answer.status_code, answer.mimetype) == (status, "application/json")

    def test_a_wrong_method_lists_the_allowed_ones(self, client: Client) -> None:
        """They are in the header and in the text."""
        answer = client.put("/api/sessions")
        assert {"GET", "POST"} <= set(answer.headers["Allow"].split(", "))
        assert "expected GET" in answer.json["error"]["message"]

    def test_too_large_a_body_is_413(self, client: Client) -> None:
        """The declared length is checked before the body is read."""
        declared = {"CONTENT_LENGTH": str(10**12)}
        answer = client.post("/api/sessions", json={}, environ_overrides=declared)
        assert (answer.status_code, answer.json["error"]["type"]) == (413, "too_large")
        assert "has 1,000,000,000,000 bytes" in answer.json["error"]["message"]


class TestElsewhere:
    """Failures of pages."""

    def test_an_unknown_page_is_a_page(self, client: Client) -> None:
        """The page has the status and a link back."""
        answer = client.get("/nothing")
        assert (answer.status_code, answer.mimetype) == (404, "text/html")

    def test_the_requested_path_is_escaped(self, client: Client) -> None:
        """A path with markup in it is shown as text."""
        assert b"<script>alert" not in client.get("/<script>alert(1)</script>").data

    def test_a_session_that_does_not_exist_is_a_page(self, client: Client) -> None:
        """The page says that the session is unknown."""
        answer = client.get("/sessions/nobody")
        assert (answer.status_code, answer.mimetype) == (404, "text/html")

    def test_programs_are_recognised_by_their_path(self) -> None:
        """This includes programs that monitor the server."""
        assert [wants_json(p) for p in ("/api/x", "/healthz", "/", "/apis")] == [True, True, False, False]

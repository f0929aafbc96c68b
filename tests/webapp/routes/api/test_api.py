"""The API as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.promises import Client
from webapp.app import App
from webapp.routes.api import routes

PROMISED = """
GET /sessions, POST /sessions, GET /sessions/{}, PATCH /sessions/{}, DELETE /sessions/{}, POST /sessions/{}/messages,
GET /sessions/{}/messages, GET /sessions/{}/stats, GET /sessions/{}/context, POST /sessions/{}/plan,
POST /sessions/{}/prune, GET /sessions/{}/operations, POST /sessions/{}/operations/{}/undo, GET /sessions/{}/archive,
POST /sessions/{}/messages/{}/pin, POST /sessions/{}/messages/{}/unpin, POST /sessions/{}/messages/{}/restore,
POST /sessions/{}/messages/{}/drop, POST /sessions/{}/messages/{}/drop-first, GET /sessions/{}/export, POST /import,
GET /settings, PUT /settings, POST /settings/reset, GET /models, PUT /models/{}, DELETE /models/{}, GET /search
"""


def shape(path: str) -> str:
    """Return a path without the names of its parameters."""
    return "/".join("{}" if step.startswith("<") else step for step in path.split("/"))


class TestTheApi:
    """Promises that users, agents and checks rely on."""

    def test_has_every_promised_route(self) -> None:
        """Every route of the interface exists."""
        served = {f"{route.method} {shape(route.path)}" for route in routes()}
        assert {one.strip() for one in PROMISED.split(",")} <= served

    def test_changes_nothing_by_get(self, client: Client, app: App, ids: list[str]) -> None:
        """No GET changes the session, its context or its history."""
        client.post("/api/sessions/a/prune", json={"max_tokens": 8000})
        before = (app.sessions.get("a").version, client.get("/api/sessions/a/context").json["messages"])
        for route in routes():
            if route.method == "GET":
                path = route.path.replace("<session_id>", "a").replace("<message_id>", ids[0])
                client.get("/api" + path.replace("<int(max=2147483647):n>", "1"))
        after = (app.sessions.get("a").version, client.get("/api/sessions/a/context").json["messages"])
        assert after == before

    @pytest.mark.parametrize("route", [r for r in routes() if r.body], ids=lambda route: route.name)
    def test_refuses_unreadable_bodies(self, client: Client, ids: list[str], route: Any) -> None:
        """Every route answers 400 to nesting too deep, another encoding and half a body."""
        path = route.path.replace("<session_id>", "a").replace("<message_id>", ids[0])
        path = "/api" + path.replace("<int(max=2147483647):n>", "1").replace("<path:name>", "x")
        too_deep, no_utf8, half, latin1 = b"[" * 100_000, b"\xff", b"{", '{"a":"ä"}'.encode("latin-1")
        for data in (too_deep, no_utf8, half, latin1):
            answer = client.open(path, method=route.method, data=data, content_type="application/json")
            assert (answer.status_code, answer.json["error"]["type"]) == (400, "malformed"), data[:9]

"""The routes of webhooks."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.webapp.promises import Client
from webapp.access.identity import VIEWER
from webapp.app import App

URL = "http://127.0.0.1:9/hook"


class TestWebhooks:
    """/api/webhooks and its subpaths."""

    def test_are_created_changed_and_deleted(self, client: Client) -> None:  # X16
        """The secret is only in the answers that create it."""
        assert [one["name"] for one in client.get("/api/webhooks").json["events"]] == [
            "context:pruned", "context:summarized", "session:above_target",
        ]  # fmt: skip
        made = client.post("/api/webhooks", json={"url": URL, "events": ["context:pruned"]})
        assert made.status_code == 201
        assert made.json["secret"].startswith("whsec_")
        changed = client.patch("/api/webhooks/1", json={"active": False, "url": URL + "2"}).json
        assert (changed["active"], changed["url"], changed["events"]) == (
            False,
            URL + "2",
            ["context:pruned"],
        )
        rotated = client.post("/api/webhooks/1/rotate", json={}).json["secret"]
        seen = client.get("/api/webhooks").text + client.get("/api/webhooks/1/deliveries").text
        assert made.json["secret"] not in seen
        assert rotated not in seen
        assert client.delete("/api/webhooks/1").json == {"ok": True}
        assert client.get("/api/webhooks").json["webhooks"] == []

    def test_list_their_deliveries(self, client: Client) -> None:
        """A test delivery waits for a server, and can be sent again."""
        client.post("/api/webhooks", json={"url": URL})
        [one] = client.post("/api/webhooks/1/test", json={}).json["deliveries"]
        assert (one["event"], one["state"], one["tries"]) == ("webhook:test", "waiting", 0)
        again = client.post(f"/api/webhooks/1/deliveries/{one['id']}/again", json={})
        assert again.json["message_id"] == one["message_id"]

    @pytest.mark.parametrize(
        "body", [{}, {"url": "x"}, {"url": URL, "events": []}, {"url": URL, "events": ["x"]}, {"url": URL, "no": 1},
                 {"url": URL, "secret": "short"}, {"url": "http://169.254.169.254/"}],
    )  # fmt: skip
    def test_refuse_invalid_fields(self, client: Client, body: dict[str, object]) -> None:
        """The answer is 422, with the field."""
        assert client.post("/api/webhooks", json=body).status_code == 422

    @pytest.mark.parametrize("path", ["webhooks/5", "webhooks/x/test", "webhooks/1/deliveries/7/again"])
    def test_that_are_unknown_are_404(self, client: Client, path: str) -> None:
        """An id is a number."""
        client.post("/api/webhooks", json={"url": URL})
        method = "PATCH" if path == "webhooks/5" else "POST"
        assert client.open(f"/api/{path}", method=method, json={}).status_code == 404

    def test_are_hidden_from_viewers(self, app: App, flask_app: Flask, client: Client) -> None:
        """The address of a webhook may be a secret."""
        _, token = app.access_tokens.make("v", VIEWER)
        headers = {"Authorization": f"Bearer {token}"}
        assert client.get("/api/sessions", headers=headers).status_code == 200
        for path in ("/api/webhooks", "/api/webhooks/1/deliveries"):
            assert client.get(path, headers=headers).status_code == 403

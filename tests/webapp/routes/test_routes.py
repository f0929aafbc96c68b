"""Rules that hold for every route."""

from __future__ import annotations

from flask import Flask

from tests.webapp.promises import Client
from webapp.routes.api.routing import EXTENSION


class TestTheApplication:
    """The application with all its routes."""

    def test_has_pages_api_files_and_metrics(self, flask_app: Flask) -> None:
        """The endpoints of each are registered."""
        endpoints = {rule.endpoint for rule in flask_app.url_map.iter_rules()}
        assert {"overview", "session", "settings", "search", "static", "healthz", "metrics"} <= endpoints
        assert {"api.list_sessions", "api.openapi"} <= endpoints

    def test_knows_the_services(self, flask_app: Flask, app: object) -> None:
        """Views find the services in the application."""
        assert flask_app.extensions[EXTENSION] is app

    def test_never_redirects(self, client: Client) -> None:
        """An address has one spelling."""
        for path in ("/api//sessions", "/api/sessions/", "/settings/", "/settings//"):
            assert client.get(path).status_code == 404

    def test_ignores_no_parameter(self, client: Client) -> None:
        """One that a route does not have is refused by name, also where it has none, or has a body."""
        for answer in (
            client.get("/api/savings?session=a"),
            client.get("/api/sessions?sessoin=a"),
            client.post("/api/sessions/a/prune?max_tokens=100", json={}),
        ):
            assert answer.status_code == 422
            assert "unknown; expected no such field" in answer.json["error"]["message"]

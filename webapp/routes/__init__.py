"""The HTTP routes. Each parses its request, calls one service and returns its answer; no product rule is here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Flask
from werkzeug.exceptions import HTTPException

from webapp.access.gate import Gate
from webapp.access.identity import OPERATOR, VIEWER
from webapp.app import App
from webapp.routes import api, assets, compression, health, json_answers, pages, problems
from webapp.routes.api.routing import EXTENSION, Route


def install(flask_app: Flask, app: App, gate: Gate) -> None:
    """Give the Flask application every route, the services they call, and its gate."""
    flask_app.extensions[EXTENSION] = app
    flask_app.extensions[pages.GATE] = gate
    flask_app.url_map.merge_slashes = False  # the default redirects `//` to `/`, with HTML even under /api
    for part in (json_answers, problems, compression, assets, pages, health, api):
        part.install(flask_app)


# Endpoints that answer without a token: the pages (empty shells), their files, and the health check. The page of a
# session asks `Gate.may_view` first, because it shows the session's title and if the session exists.
OPEN = frozenset({"overview", "session", "settings", "search", "memory", "widget", "static", "healthz"})
SAFE = frozenset({"GET", "HEAD"})


def needed_by(flask_app: Flask) -> Callable[[dict[str, Any]], str | None]:
    """Return a function that gives the role a request needs, from its route; None if no token is needed."""

    def needs(environ: dict[str, Any]) -> str | None:
        safe = environ["REQUEST_METHOD"] in SAFE
        try:
            endpoint, _ = flask_app.url_map.bind_to_environ(environ).match()
        except HTTPException:  # no such route, or not with this method
            endpoint = ""
        if safe and endpoint in OPEN:
            return None
        route = flask_app.view_functions.get(endpoint)
        if isinstance(route, Route) and (safe or route.method != "GET"):
            return route.role
        return VIEWER if safe else OPERATOR

    return needs

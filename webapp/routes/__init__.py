"""The HTTP edges: parse, call one service, return its answer. No rule of the product is here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Flask
from werkzeug.exceptions import HTTPException

from webapp.access.gate import Gate
from webapp.access.passes import OPERATOR, PROXY, VIEWER
from webapp.app import App
from webapp.routes import answers, api, assets, compression, health, pages, problems
from webapp.routes.api.routing import EXTENSION


def install(flask_app: Flask, app: App, gate: Gate) -> None:
    """Give the Flask application every route, the services they call, and its gate."""
    flask_app.extensions[EXTENSION] = app
    flask_app.extensions[pages.GATE] = gate
    flask_app.url_map.merge_slashes = False  # an address has one spelling; a redirect would be HTML
    for part in (answers, problems, compression, assets, pages, health, api):
        part.install(flask_app)


# Endpoints that answer without a token: the pages, which are empty shells, their files, and the check of health. The
# page of a session would tell whether it exists, and its title: it asks `Gate.admits` first.
OPEN = frozenset({"overview", "session", "settings", "search", "memory", "widget", "static", "healthz"})
# Endpoints that are posted to and change nothing.
LOOKING = frozenset({"api.plan_prune", "api.suggest_settings"})
# Endpoints that only an operator reads: the address of a webhook may be a secret by itself.
OPERATORS = frozenset({"api.list_webhooks", "api.list_deliveries"})
# The endpoint that a proxy hands its copies to; with its token it reaches no other.
HANDING_OVER = "api.take_call"
SAFE = frozenset({"GET", "HEAD"})


def needed_by(flask_app: Flask) -> Callable[[dict[str, Any]], str | None]:
    """Return a function that tells the role a request needs by the table that will route it; None for open ones."""

    def needs(environ: dict[str, Any]) -> str | None:
        safe = environ["REQUEST_METHOD"] in SAFE
        try:
            endpoint, _ = flask_app.url_map.bind_to_environ(environ).match()
        except HTTPException:  # no such route, or not by this method
            endpoint = ""
        if safe and endpoint in OPEN:
            return None
        if endpoint == HANDING_OVER:
            return PROXY
        return VIEWER if (safe and endpoint not in OPERATORS) or endpoint in LOOKING else OPERATOR

    return needs

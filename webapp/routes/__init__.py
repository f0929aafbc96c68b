"""The HTTP edges: parse, call one service, return its answer. No rule of the product is here."""

from __future__ import annotations

from flask import Flask

from webapp.app import App
from webapp.auth import Gate
from webapp.routes import answers, api, assets, health, pages, problems
from webapp.routes.api.routing import EXTENSION


def install(flask_app: Flask, app: App, gate: Gate) -> None:
    """Give the Flask application every route, the services they call, and its gate."""
    flask_app.extensions[EXTENSION] = app
    flask_app.extensions[pages.GATE] = gate
    flask_app.url_map.merge_slashes = False  # an address has one spelling; a redirect would be HTML
    for part in (answers, problems, assets, pages, health, api):
        part.install(flask_app)

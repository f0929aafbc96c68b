"""The JSON API. Each module declares its routes in one table, from which they are served, documented and tested."""

from __future__ import annotations

from flask import Flask

from webapp.routes.api import (
    access,
    context,
    documents,
    memory,
    messages,
    proxied,
    pushed,
    retention,
    sessions,
    settings,
    transfer,
    webhooks,
)
from webapp.routes.api.routing import Route, serve

TABLES = (
    sessions.table,
    messages.table,
    context.table,
    memory.table,
    settings.table,
    transfer.table,
    retention.table,
    webhooks.table,
    proxied.table,
    pushed.table,
    access.table,
)


def routes() -> list[Route]:
    """Return every route of the API, in the order of the documentation."""
    return [route for table in TABLES for route in table]


def install(flask_app: Flask) -> None:
    """Register the API, and the document that describes it."""
    serve(flask_app, routes())
    documents.install(flask_app, routes())

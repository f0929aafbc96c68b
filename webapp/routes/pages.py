"""The pages: empty shells. Each holds one root element, whose data comes from `/api` and Socket.IO.

The one page that names a session looks it up only for whoever may know of it; the page tells the rest itself.
A page is answered with a policy that runs our own files and the one import map that bears this answer's nonce.
"""

from __future__ import annotations

import secrets
from typing import Any

from flask import Flask, Response, current_app, g, render_template, request

from webapp.auth import SECURITY_HEADERS, content_policy
from webapp.routes.api.routing import EXTENSION
from webapp.routes.assets import import_map, modules

GATE = "coppice.gate"


def overview() -> str:
    """All sessions."""
    return render_template("overview.html", page="overview")


def session(session_id: str) -> str:
    """One session; an error page where there is none. Without the token, where one is set, the same shell for any."""
    admitted = current_app.extensions[GATE].admits(request.environ)
    found = current_app.extensions[EXTENSION].sessions.get(session_id) if admitted else None
    return render_template("session.html", page="session", session_id=session_id, session=found)


def settings() -> str:
    """Weights, targets, models."""
    return render_template("settings.html", page="settings")


def search() -> str:
    """Everything ever said."""
    return render_template("search.html", page="search", q=request.args.get("q", ""))


def memory() -> str:
    """Memories and learnings."""
    return render_template("memory.html", page="memory")


def nonce() -> str:
    """This answer's nonce; the same however often it is asked for."""
    if "csp_nonce" not in g:
        g.csp_nonce = secrets.token_urlsafe(16)
    return str(g.csp_nonce)


def context() -> dict[str, Any]:
    """What every template knows."""
    return {"csp_nonce": nonce(), "importmap": import_map(), "modules": modules}


def protect(response: Response) -> Response:
    """The headers of every answer; a page also gets its policy, and is not kept."""
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Content-Security-Policy"] = content_policy(nonce(), request.host)
    if response.mimetype == "text/html":
        response.headers["Cache-Control"] = "no-store"
    return response


def install(flask_app: Flask) -> None:
    """Registers the pages and what their templates are given."""
    flask_app.context_processor(context)
    flask_app.after_request(protect)
    flask_app.add_url_rule("/", "overview", overview)
    flask_app.add_url_rule("/sessions/<session_id>", "session", session)
    flask_app.add_url_rule("/settings", "settings", settings)
    flask_app.add_url_rule("/search", "search", search)
    flask_app.add_url_rule("/memory", "memory", memory)

"""The pages: empty shells with one root element each, whose data comes from `/api` and Socket.IO.

The page of a session looks it up only if the reader has access. Its script reports a missing session, and shows it
once it arrives.
The content security policy of a page allows our own files, and the one import map with this answer's nonce.
"""

from __future__ import annotations

import secrets
from functools import partial
from typing import Any

from flask import Flask, Response, current_app, g, render_template, request

from webapp.access.headers import NO_PAGE_POLICY, PAGE_HEADERS, SECURITY_HEADERS, content_policy
from webapp.app import App
from webapp.errors import NotFound, StoreError
from webapp.routes.api.routing import EXTENSION
from webapp.routes.assets import import_map, modules, to_prefetch
from webapp.services.ingest.following import followed_agents
from webapp.services.integrations.agent_config import integration_texts
from webapp.services.settings.common_settings import choice_texts, signal_texts, weighing_texts

GATE = "coppice.gate"
# The pages that are the same for every request of an operator, and of a viewer.
SHELLS = ("settings", "search", "memory", "widget")


def overview() -> str:
    """Return the page of all sessions."""
    app: App = current_app.extensions[EXTENSION]
    agents = followed_agents() if app.config.follow else {}
    return render_template("overview.html", page="overview", agents=agents)


def session(session_id: str) -> tuple[str, int]:
    """Return the page of a session; of one that does not exist yet, the same shell with status 404.

    Without access it is one shell for any id.
    """
    found, status = None, 200
    if current_app.extensions[GATE].may_view(request.environ):
        try:
            found = current_app.extensions[EXTENSION].sessions.get(session_id)
        except NotFound:
            status = 404
    return render_template("session.html", page="session", session_id=session_id, session=found), status


def nonce() -> str:
    """Return the nonce of this answer, made at the first call."""
    if "csp_nonce" not in g:
        g.csp_nonce = secrets.token_urlsafe(16)
    return str(g.csp_nonce)


def context() -> dict[str, Any]:
    """Return the variables of every template."""
    choices = {
        **choice_texts(),
        **weighing_texts(),
        "integration": integration_texts(),
        "signal": signal_texts(),
    }
    files = {"import_map": import_map, "modules": modules, "to_prefetch": to_prefetch}
    return {"csp_nonce": nonce(), **files, "choices": choices, "only_views": _only_views()}


def _only_views() -> bool:
    """Return whether the reader can change nothing; False if the store cannot say."""
    try:
        return bool(current_app.extensions[GATE].only_views(request.environ))
    except StoreError:
        return False


def protect(response: Response) -> Response:
    """Add the security headers that the answer does not set itself; a page also gets its content policy."""
    is_page = response.mimetype == "text/html"
    policy = content_policy(nonce(), request.host) if is_page else NO_PAGE_POLICY
    for name, value in (SECURITY_HEADERS | {"Content-Security-Policy": policy}).items():
        response.headers.setdefault(name, value)
    if is_page:
        response.headers.update(PAGE_HEADERS)
    return response


def install(flask_app: Flask) -> None:
    """Register the pages and the variables of their templates."""
    flask_app.context_processor(context)
    flask_app.after_request(protect)
    flask_app.add_url_rule("/", "overview", overview)
    flask_app.add_url_rule("/sessions/<session_id>", "session", session)
    for page in SHELLS:
        shell = partial(render_template, f"{page}.html", page=page)
        flask_app.add_url_rule(f"/{page}", page, shell)

"""Routes of sessions: list, create, read, change and delete them, and read their sizes."""

from __future__ import annotations

from webapp.answers import Ok
from webapp.app import App
from webapp.bodies import DeleteQuery, NewSession, SessionChange, SessionsQuery, TimelineQuery
from webapp.routes.api.routing import Table
from webapp.routes.problems import RequestFault
from webapp.services.catalog.answers import Savings, Sessions, Stats, Status, Timeline
from webapp.services.session.answers import Session, Verdict

table = Table("sessions")


@table.get("/sessions")
def list_sessions(app: App, query: SessionsQuery) -> Sessions:
    """Return all sessions, or one page of them, latest activity first.

    `state` is idle, active or warning; `q` finds sessions that have each of its words in title, model, folder, id or
    source. `sort` is activity (the default), created, messages, prunes, title, tokens, utilization or verdict (those
    that need an action first); a `-` before it reverses the order. With `limit` the answer is one page; pass its `next`
    as `after` to get the page behind it. A session that becomes active meanwhile moves to the front and is missing from
    later pages.
    """
    page = app.sessions.page(query)
    app.verdict_refresher.request(page.sessions)
    return page


@table.get("/savings")
def read_savings(app: App) -> Savings:
    """Return the tokens that prunes, summaries and drops saved in later calls of all sessions, and their list price."""
    return app.savings.all()


@table.post("/sessions", status=201, errors=(409,))
def create_session(app: App, body: NewSession) -> Session:
    """Create a session for a program that appends messages; 409 if the id exists."""
    return app.new_sessions.create(
        id=body.id,
        title=body.title,
        model=body.model,
        system=body.system,
        tools=body.tools,
        settings=body.settings,
        format=body.format,
    )


@table.get("/sessions/<session_id>", errors=(404,))
def get_session(app: App, session_id: str) -> Session:
    """Return one session."""
    return app.sessions.get(session_id)


@table.route("PATCH", "/sessions/<session_id>", errors=(404, 409))
def change_session(app: App, session_id: str, body: SessionChange) -> Session:
    """Change title, model, window, automatic pruning, settings, `kept` or `proxy_prunes`; 409 if no proxy prunes it."""
    return app.sessions.patch(session_id, body)


@table.route("DELETE", "/sessions/<session_id>", errors=(400, 404))
def delete_session(app: App, session_id: str, query: DeleteQuery) -> Ok:
    """Delete a session and its log permanently; `?confirm=<id>` is required."""
    app.sessions.get(session_id)
    if query.confirm != session_id:
        message = f"deleting a session takes its log along; repeat its id as ?confirm={session_id}"
        raise RequestFault(400, "not_confirmed", message, [{"field": "confirm", "message": message}])
    app.sessions.delete(session_id)
    return Ok(ok=True)


@table.get("/sessions/<session_id>/stats", errors=(404,))
def session_stats(app: App, session_id: str) -> Stats:
    """Return the size of the context, in total and by region, with both triggers and the time of the reading."""
    return app.status.stats(session_id)


@table.get("/sessions/<session_id>/status", errors=(404,))
def session_status(app: App, session_id: str) -> Status:
    """Return both triggers, the last summary and the available tokens, also as one line of text."""
    return app.status.of(session_id)


@table.get("/sessions/<session_id>/verdict", errors=(404,))
def session_verdict(app: App, session_id: str) -> Verdict:
    """Return the recommended action for the context, with the price of its plan."""
    return app.verdicts.of(session_id)


@table.get("/sessions/<session_id>/timeline", errors=(404,))
def session_timeline(app: App, session_id: str, query: TimelineQuery) -> Timeline:
    """Return tokens over time, with prunes and compactions marked."""
    return app.timelines.of(session_id, points=query.points)

"""Reads what the messages to pages contain, from the services and only when they are sent."""

from __future__ import annotations

from webapp.app import App
from webapp.bodies import MessagesQuery, SessionsQuery
from webapp.live.notices import Payload
from webapp.live.throttle import Pending

SNAPSHOT_MESSAGES = 50
# The sessions that changed last; a page reads the rest of the overview over HTTP.
SNAPSHOT_SESSIONS = 100


class Payloads:
    """Reads the content of messages. Every method raises what the services raise."""

    def __init__(self, app: App) -> None:
        self._app = app

    def row(self, session_id: str) -> Payload:
        """Return a session's row. A verdict without a price gets one in a later row."""
        session = self._app.sessions.get(session_id)
        self._app.verdict_refresher.request([session])
        return vars(session)

    def messages(self, session_id: str, taken: Pending) -> list[tuple[str, Payload]]:
        """Return the messages of what waited for a session, each with its name, in the order in which they are sent."""
        made: list[tuple[str, Payload]] = []
        if taken.row:
            made.append(("session:updated", self.row(session_id)))
        if taken.appended:
            rows = self._app.messages.by_number(session_id, sorted(set(taken.numbers)), at_once=True)
            appended = {"session_id": session_id, "messages": rows, "count": taken.appended}
            made.append(("messages:appended", appended))
        made += [(event, payload or self._of_all(event)) for event, payload in taken.events]
        if taken.stats:
            stats = vars(self._app.sessions.stats(session_id))
            made.append(("context:stats", {"session_id": session_id, **stats}))
        return made

    def _of_all(self, event: str) -> Payload:
        """Return the content of a message that concerns no session."""
        if event == "settings:changed":
            return vars(self._app.settings.get())
        return vars(self._app.models.list()) if event == "models:changed" else {}

    def overview(self) -> Payload:
        """Return what a page that joins the overview begins with."""
        page = self._app.sessions.page(SessionsQuery(limit=SNAPSHOT_SESSIONS))
        self._app.verdict_refresher.request(page.sessions)
        return vars(page)

    def session(self, session_id: str) -> Payload:
        """Return what a page that joins a session's room begins with."""
        return {
            "stats": self._app.sessions.stats(session_id),
            "page": self._app.messages.page(session_id, MessagesQuery(limit=SNAPSHOT_MESSAGES)),
        }

"""The activity of a session's agent, judged by the time and the role of its last message."""

from __future__ import annotations

from webapp.services.session.answers import Activity
from webapp.services.session.session import Session

# The age of the last activity up to which a session counts as working, as waiting, and as idle.
WORKING_MS = 90 * 1000
WAITING_MS = 30 * 60 * 1000
IDLE_MS = 24 * 3600 * 1000


def activity_of(session: Session) -> Activity:
    """Return the activity of a session's agent; an imported list that was not used for `IDLE_MS` has ended."""
    row, state = session.row, session.state
    if not row.last_activity_at:
        return "idle"
    age = session.environment.clock() - row.last_activity_at
    if row.source == "import" and age > IDLE_MS:
        return "ended"
    if age > IDLE_MS:
        return "stale"
    at_work = state.last_role in ("user", "tool") or state.tools_open
    if age <= WORKING_MS and at_work:
        return "working"
    return "waiting" if age <= WAITING_MS and not at_work else "idle"

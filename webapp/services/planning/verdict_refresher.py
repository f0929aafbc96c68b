"""VerdictRefresher: makes the plans that verdicts in a list depend on, one at a time in the background.

A list of sessions is answered at once, with the prices that are known. Sessions without a price are judged here
afterwards, and pages are notified of each verdict that changes. The thread rests longer than it works.
"""

from __future__ import annotations

from collections.abc import Iterable

from webapp.services.planning.verdicts import Verdicts
from webapp.services.session.answers import Session
from webapp.services.session.session_worker import SessionWorker

# The pause after a verdict, as a multiple of the processor time that it took.
REST = 9
MOST_WAITING = 10_000


class VerdictRefresher:
    """Judges the sessions of lists that were shown."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._worker = SessionWorker("judging", verdicts.of, rest=REST)

    def request(self, sessions: Iterable[Session]) -> None:
        """Queue the sessions whose verdict lacks the price of a plan."""
        if self._worker.queued < MOST_WAITING:
            self._worker.put(*(one.id for one in sessions if not one.verdict.priced))

    def close(self) -> None:
        """Stop judging."""
        self._worker.close()

"""VerdictRefresher: makes the plans that verdicts in a list depend on, one at a time in the background.

A list of sessions is answered at once, with the prices that are known. Sessions without a price are judged here
afterwards, and pages are notified of each verdict that changes. The thread rests longer than it works.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable

from webapp.errors import CoppiceError
from webapp.services.planning.verdicts import Verdicts
from webapp.services.session.answers import Session

log = logging.getLogger(__name__)

# The pause after a verdict, as a multiple of the processor time that it took: on a busy machine it is no longer.
REST = 9
MOST_WAITING = 10_000


class VerdictRefresher:
    """Judges the sessions of lists that were shown."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts
        self._waiting: dict[str, None] = {}
        self._wake, self._closed = threading.Condition(), False
        self._thread: threading.Thread | None = None

    def request(self, sessions: Iterable[Session]) -> None:
        """Queue the sessions whose verdict lacks the price of a plan."""
        wanted = {one.id: None for one in sessions if not one.verdict.priced}
        with self._wake:
            if self._closed or not wanted:
                return
            if len(self._waiting) < MOST_WAITING:
                self._waiting |= wanted
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="judging", daemon=True)
                self._thread.start()
            self._wake.notify()

    def close(self) -> None:
        """Stop judging."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while (session_id := self._next()) is not None:
            began = time.thread_time()
            try:
                self._verdicts.of(session_id)
            except CoppiceError as error:  # it changed or was deleted meanwhile
                log.info("no verdict on %s: %s", session_id, error)
            except Exception:
                log.exception("a verdict failed")
            with self._wake:
                self._wake.wait_for(lambda: self._closed, REST * (time.thread_time() - began))

    def _next(self) -> str | None:
        """Return the session to judge next, waiting for one; None at the end."""
        with self._wake:
            self._wake.wait_for(lambda: self._closed or self._waiting)
            if self._closed:
                return None
            session_id = next(iter(self._waiting))
            del self._waiting[session_id]
            return session_id

"""AnalysisAhead: analyses the contents of messages while the server has nothing else to do.

The first plan of a session needs the contents of all its messages. An append leaves them out, because they take as long
as all the rest of it; without this, whoever opens a page first would wait for them. Nothing depends on it: a plan
computes what is still missing.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress

from webapp.errors import StoreError
from webapp.events import Event, MessagesAppended
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.session import Session
from webapp.services.session.session_worker import SessionWorker

# Work begins when no message has arrived for this time, in any session: an import or an agent at work comes first.
QUIET_SECONDS = 1.0
# The pause after each batch, as a multiple of the processor time that it took.
REST = 4.0
# The sessions that are analysed after a start: those that the overview shows first.
RECENT = 20


class AnalysisAhead:
    """Analyses sessions in the background as they grow, and those used last after a start."""

    def __init__(self, environment: Environment, histories: Histories) -> None:
        self._environment, self._histories = environment, histories
        self._worker = SessionWorker("analysis", self.analyse)
        self._arrived = -QUIET_SECONDS  # when the last message arrived, by the monotonic clock
        self._closing = threading.Event()

    def start(self) -> None:
        """Analyse the sessions used last, and sessions as they change from now on."""
        self._environment.bus.subscribe(self._on_event)
        store = self._environment.store
        with suppress(StoreError):  # /healthz reports a store that cannot be read
            self._worker.put(*(row.id for row in store.sessions.page(None, RECENT)[0]))

    def close(self) -> None:
        """Stop after the batch that is being analysed."""
        self._closing.set()
        self._worker.close()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, MessagesAppended):
            self._arrived = time.monotonic()
            self._worker.put(event.session_id, after_seconds=QUIET_SECONDS)

    def analyse(self, session_id: str) -> None:
        """Analyse a session batch by batch, while nothing arrives and nobody waits for a plan.

        Raises:
            NotFound: there is no such session.
            StalePlan: the session has changed during a batch; if it grew, it is queued again.
        """
        position: float | None = -1.0  # before the first
        while position is not None and self._is_quiet():
            session, began = Session.load(self._environment, session_id), time.thread_time()
            position = self._histories.analyse_ahead(session, position)
            self._closing.wait(REST * (time.thread_time() - began))

    def _is_quiet(self) -> bool:
        """Wait until no message has arrived for a while and nobody waits; return False if this is closing."""
        while (left := self._left()) > 0:
            if self._closing.wait(left):
                break
        return not self._closing.is_set()

    def _left(self) -> float:
        """Return the seconds until it may be quiet; 0 or less if it is. A plan that is being made comes first."""
        if self._histories.is_computing:
            return QUIET_SECONDS
        return self._arrived + QUIET_SECONDS - time.monotonic()

"""A session that grows by itself, to try Coppice without an agent.

It rises above its target in about two minutes and then grows slowly. It runs on a thread of its own until it is
stopped; its messages go through the normal ingest.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from scoring.messages import Message
from webapp.agents.records import Entry
from webapp.errors import CoppiceError
from webapp.services.catalog.demo_script import SYSTEM, steps
from webapp.services.catalog.sessions import SessionService
from webapp.services.ingest.ingest import Ingest
from webapp.services.ingest.new_sessions import NewSessions
from webapp.services.session.answers import Session

log = logging.getLogger(__name__)

MODEL = "claude-sonnet-4-5"
TITLE = "Demo: a coding agent at work"
# Seconds between steps while it rises, and after it went above the target.
STEP_SECONDS, SLOW_SECONDS = 0.8, 8.0
# Steps that a new demo begins with, so that its page is never empty.
FIRST_STEPS = 4
# Above this share of the limit it stops growing, pruned or not.
FULL_SHARE = 0.97
SEED = 7  # every demo is the same


class Demo:
    """The demo session. `start` and `stop` may be called from any thread, also twice."""

    def __init__(
        self,
        ingest: Ingest,
        new_sessions: NewSessions,
        sessions: SessionService,
        *,
        step_seconds: float = STEP_SECONDS,
    ) -> None:
        self._ingest, self._new_sessions, self._sessions = ingest, new_sessions, sessions
        self._step_seconds = step_seconds
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._session_id: str | None = None

    def start(self) -> Session:
        """Start a demo session, or return the one that is running."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive() and self._session_id is not None:
                try:
                    return self._sessions.get(self._session_id)
                except CoppiceError:  # it was deleted: a new one
                    self._end()
            self._stop.clear()
            made = self._new_sessions.create(title=TITLE, model=MODEL, system=SYSTEM, source="demo")
            self._session_id = made.id
            script = steps(SEED)
            for _ in range(FIRST_STEPS):
                self._append(self._session_id, next(script))
            self._thread = threading.Thread(
                target=self._grow, args=(self._session_id, script), name="demo", daemon=True
            )
            self._thread.start()
            return self._sessions.get(self._session_id)

    def stop(self) -> None:
        """Stop the growth; the session stays."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=10)
        self._thread = None

    def _grow(self, session_id: str, script: Iterator[list[Message]]) -> None:
        seconds = self._step_seconds
        while not self._stop.wait(seconds):
            try:
                session = self._sessions.get(session_id)
                tokens = session.pruned.tokens
                above = tokens > session.target_tokens
                seconds = SLOW_SECONDS * self._step_seconds if above else self._step_seconds
                if tokens < FULL_SHARE * session.limit:
                    self._append(session_id, next(script))
            except CoppiceError as error:
                log.info("the demo ended: %s", error)
                return
            except Exception:
                log.exception("the demo failed")
                return

    def _append(self, session_id: str, messages: Sequence[Message]) -> None:
        now = datetime.now(UTC)
        self._ingest.append_records(session_id, [Entry(one, None, at=now, model=None) for one in messages])

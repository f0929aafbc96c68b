"""SessionWorker: a thread that handles sessions one at a time, each once however often it was queued meanwhile."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from webapp.errors import CoppiceError

log = logging.getLogger(__name__)


class SessionWorker:
    """Calls `handle` with the id of each queued session, in a thread that starts with the first one.

    A session is handled at most once in `interval_seconds`. After each the thread rests `rest` times the processor time
    that it took, which a busy machine does not make longer. A failure is logged, and the next session is handled.
    """

    def __init__(
        self, name: str, handle: Callable[[str], object], *, interval_seconds: float = 0.0, rest: float = 0.0
    ) -> None:
        self._name, self._handle, self._interval, self._rest = name, handle, interval_seconds, rest
        self._queued: dict[str, float] = {}  # session -> the time from which it is due
        self._began: dict[str, float] = {}
        self._wake, self._closed = threading.Condition(), False
        self._thread: threading.Thread | None = None

    @property
    def queued(self) -> int:
        """Return the number of sessions that wait."""
        return len(self._queued)

    def put(self, *session_ids: str, at_once: bool = False, after_seconds: float = 0.0) -> None:
        """Queue sessions, due `after_seconds` from now; with `at_once` whatever the interval says.

        For a session that waits already the new time counts.
        """
        with self._wake:
            if self._closed or not session_ids:
                return
            self._queued |= dict.fromkeys(session_ids, time.monotonic() + after_seconds)
            if at_once:
                for session_id in session_ids:
                    self._began.pop(session_id, None)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def close(self) -> None:
        """Stop after the session that is being handled."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while (session_id := self._next()) is not None:
            began = time.thread_time()
            try:
                self._handle(session_id)
            except CoppiceError as error:  # it changed or was deleted meanwhile
                log.info("%s: nothing for session %s: %s", self._name, session_id, error)
            except Exception:
                log.exception("%s: session %s failed", self._name, session_id)
            if self._rest:
                with self._wake:
                    self._wake.wait_for(lambda: self._closed, self._rest * (time.thread_time() - began))

    def _next(self) -> str | None:
        """Return a session that is due, waiting for one; None at the end."""
        with self._wake:
            while not self._closed:
                now = time.monotonic()
                ready = next((one for one in self._queued if self._due(one) <= now), None)
                if ready is not None:
                    del self._queued[ready]
                    if self._interval:  # of older ones nothing has to be known
                        self._began = {
                            one: at for one, at in self._began.items() if now < at + self._interval
                        }
                        self._began[ready] = now
                    return ready
                due = min(map(self._due, self._queued), default=None)
                self._wake.wait(None if due is None else due - now)
        return None

    def _due(self, session_id: str) -> float:
        """Return the time from which a queued session can be handled."""
        again = self._began[session_id] + self._interval if session_id in self._began else 0.0
        return max(self._queued[session_id], again)

"""ColdCaches: tells when the provider's cache of a session expires because no call has come since (X26).

A prune then costs nothing extra, so the advice on the session changes, and automatic pruning acts before the next call.
"""

from __future__ import annotations

import threading
from contextlib import suppress

from webapp.errors import StoreError
from webapp.events import CacheExpired
from webapp.services.session.environment import Environment
from webapp.services.session.session import Session

# The clock is read at least so often: it may be set, or the machine may have slept.
LOOK_SECONDS = 30.0
RECENT = 100


class ColdCaches:
    """Publishes `CacheExpired` for each session whose cache expires, from a thread that starts with the first one."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._due: dict[str, int] = {}
        self._wake, self._closed = threading.Condition(), False
        self._thread: threading.Thread | None = None

    def watch(self, session: Session) -> None:
        """Wait for the end of a session's cache, which a call has just renewed; nothing happens if it is cold."""
        cache = session.cache
        if cache is None or cache.cold or self._due.get(session.id) == cache.cold_at:
            return
        with self._wake:
            self._due[session.id] = cache.cold_at
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="cold caches", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def watch_recent(self) -> None:
        """Watch the sessions that were used last: their calls may have been made before the server was started."""
        store = self._environment.store
        with suppress(StoreError), store.read():  # /healthz reports a store that cannot be read
            for row in store.sessions.page(None, RECENT)[0]:
                self.watch(Session.of(self._environment, row))

    def close(self) -> None:
        """Stop waiting."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while (session_id := self._next()) is not None:
            self._environment.bus.publish(CacheExpired(session_id))

    def _next(self) -> str | None:
        """Return a session whose cache has expired, waiting for one; None at the end."""
        with self._wake:
            while not self._closed:
                now = self._environment.clock()
                cold = next((one for one, at in self._due.items() if at < now), None)
                if cold is not None:
                    del self._due[cold]
                    return cold
                first = min(self._due.values(), default=None)
                wait = None if first is None else min(LOOK_SECONDS, (first + 1 - now) / 1000)
                self._wake.wait(wait)
        return None

"""ColdCaches: tells when the provider's cache of a session expires because no call has come since (X26).

A prune then costs nothing extra, so the advice on the session changes, and automatic pruning acts before the next call.
"""

from __future__ import annotations

from contextlib import suppress

from webapp.errors import StoreError
from webapp.events import CacheExpired
from webapp.services.session.environment import Environment
from webapp.services.session.session import Session
from webapp.services.session.session_worker import SessionWorker

# The sessions whose caches may still be warm after a start.
RECENT = 100


class ColdCaches:
    """Publishes `CacheExpired` for each session whose cache expires."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._worker = SessionWorker("cold caches", self._look)

    def watch(self, session: Session) -> None:
        """Wait for the end of a session's cache, which a call may have renewed; nothing happens if it is cold."""
        cache = session.cache
        if cache is not None and not cache.cold:
            self._worker.put(session.id, after_seconds=(cache.cold_at + 1 - cache.now) / 1000)

    def watch_recent(self) -> None:
        """Watch the sessions that were used last: their calls may have been made before the server was started."""
        store = self._environment.store
        with suppress(StoreError), store.read():  # /healthz reports a store that cannot be read
            for row in store.sessions.page(None, RECENT)[0]:
                self.watch(Session.of(self._environment, row))

    def close(self) -> None:
        """Stop waiting."""
        self._worker.close()

    def _look(self, session_id: str) -> None:
        """Publish the event if the cache has expired, and wait on if a call has renewed it."""
        with self._environment.store.read():
            session = Session.load(self._environment, session_id)
        if session.cache_is_cold:
            self._environment.bus.publish(CacheExpired(session_id))
        else:
            self.watch(session)

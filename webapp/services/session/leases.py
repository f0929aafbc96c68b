"""Leases of jobs that run once at a time, such as a summary of a session or the following of this machine's files.

With one process a lease is an entry in its memory. Where several workers serve one store, it is a row in the store,
which its holder renews; those of a killed worker run out. The clocks of the machines must agree within seconds.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress

from webapp.errors import StoreError
from webapp.services.session.times import now_ms
from webapp.store import Store

log = logging.getLogger(__name__)

# The time that a lease lasts without renewal, and the pause between two renewals.
LEASE_MS, RENEW_SECONDS = 15_000, 4.0
# The pause before a job asks for its lease again.
RETRY_SECONDS = 2.0
# Names the lock of a lease's transaction, so that no other transaction waits for it.
LEASE = "lease "


class Leases:
    """The leases of one process; if `shared`, other workers serve its store, and it takes them against those."""

    def __init__(self, store: Store, *, shared: bool = False, clock: Callable[[], int] = now_ms) -> None:
        self._store, self.shared, self._clock = store, shared, clock
        self._holder = secrets.token_hex(8)
        self._held: dict[str, Callable[[], object]] = {}
        self._asking: set[str] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def acquire(self, name: str, ended: Callable[[], object] = lambda: None) -> bool:
        """Take a lease until `release`; return False if somebody has it.

        `ended` is called when it is cancelled, or lost to another worker. Raises StoreError.
        """
        with self._lock:
            if self._closed.is_set() or name in self._held or name in self._asking:
                return False
            self._asking.add(name)
        taken = False
        try:
            taken = not self.shared or self._take(name)
        finally:
            with self._lock:
                self._asking.discard(name)
                if taken:
                    self._held[name] = ended
        if taken and self.shared:
            self._start()
        return taken

    def _take(self, name: str) -> bool:
        now = self._clock()
        if self._store.leases.is_held(name, now):
            return False
        with self._store.write(LEASE + name):
            return self._store.leases.acquire(name, self._holder, now, now + LEASE_MS)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._renew_all, name="leases", daemon=True)
                self._thread.start()

    def holds(self, name: str) -> bool:
        """Return whether this process has the lease."""
        with self._lock:
            return name in self._held

    def is_taken(self, name: str) -> bool:
        """Return whether anybody has the lease. Raises StoreError."""
        return self.holds(name) or (self.shared and self._store.leases.is_held(name, self._clock()))

    def cancel(self, name: str) -> bool:
        """Ask who has the lease to end it; return False if nobody has. Raises StoreError."""
        with self._lock:
            ended = self._held.get(name)
        if ended is not None:
            ended()
            return True
        if not self.shared:
            return False
        with self._store.write(LEASE + name):
            return self._store.leases.cancel(name, self._clock())

    def release(self, name: str) -> None:
        """Give a lease back; where the store cannot be written, it runs out."""
        if self._drop(name) and self.shared:
            with suppress(StoreError), self._store.write(LEASE + name):
                self._store.leases.release(name, self._holder)

    def _drop(self, name: str) -> bool:
        with self._lock:
            return self._held.pop(name, None) is not None

    def _renew_all(self) -> None:
        while not self._closed.wait(RENEW_SECONDS):
            try:
                self._renew()
            except StoreError as error:
                log.warning("cannot renew leases: %s", error)

    def _renew(self) -> None:
        """Renew leases; end the jobs whose leases were cancelled or went to another worker. Raises StoreError."""
        with self._lock:
            held = dict(self._held)
        for name, ended in held.items():
            with self._store.write(LEASE + name):
                if self._store.leases.renew(name, self._holder, self._clock() + LEASE_MS):
                    continue
                lost = not self._store.leases.belongs(name, self._holder)
            if lost:
                self._drop(name)
            with suppress(Exception):
                ended()

    def close(self) -> None:
        """Give every lease back."""
        self._closed.set()
        for name in list(self._held):
            self.release(name)


class OneWorkerJob:
    """A job that is started when this worker gets its lease, and stopped when the lease is lost."""

    def __init__(
        self, leases: Leases, name: str, begin: Callable[[], object], end: Callable[[], object]
    ) -> None:
        self._leases, self._name, self._begin, self._end = leases, name, begin, end
        self._stopped, self._wake = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the job, at once where no other worker serves the store."""
        if not self._leases.shared:
            self._begin()
            return
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._wake.clear()
            try:
                if self._leases.acquire(self._name, self._wake.set):
                    self._work()
            except StoreError as error:
                log.warning("cannot take the lease of %s: %s", self._name, error)
            except Exception:
                log.exception("%s failed, and is tried again", self._name)
            self._stopped.wait(RETRY_SECONDS)

    def _work(self) -> None:
        """Run the job until it is stopped or its lease is lost."""
        try:
            self._begin()
            if not self._stopped.is_set():
                self._wake.wait()
        finally:
            try:
                self._end()
            finally:
                self._leases.release(self._name)

    def stop(self) -> None:
        """Stop the job and leave it to others; can be called twice."""
        self._stopped.set()
        self._wake.set()
        if self._thread is None:
            self._end()
        else:
            self._thread.join(timeout=10)

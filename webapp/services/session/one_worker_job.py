"""Runs a job in one worker at a time: the next worker takes over once the job's lease is free."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from webapp.errors import StoreError
from webapp.services.session.leases import Leases

log = logging.getLogger(__name__)

RETRY_SECONDS = 2.0


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

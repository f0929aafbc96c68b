"""The turnstile of a database: only the process that holds it may wait for SQLite's lock.

SQLite gives its lock to the first process that asks while it is free, and a waiting process asks ever less often. So a
process that writes without a pause, as an import does, would keep all others out. It has to pass the turnstile before
each transaction, and waits there while another process waits for the lock.
"""

from __future__ import annotations

import os
import sys
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# The first and the longest pause between two attempts.
PAUSES = (0.001, 0.01)


class Turnstile:
    """A lock that lets waiting processes write in turn.

    It is on the folder of the database, needs no file of its own, and ends with its process. Where there are no such
    locks (Windows, some network drives), everybody passes at once.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = -1
        with suppress(OSError):  # Windows opens no folder
            self._folder = os.open(folder, os.O_RDONLY)
            weakref.finalize(self, os.close, self._folder)

    @contextmanager
    def entered(self, seconds: float) -> Iterator[None]:
        """Hold the lock during the block; after `seconds` go on without it, because its holder may hang."""
        until, (pause, longest) = time.monotonic() + seconds, PAUSES
        while not (entered := self._enter()) and time.monotonic() < until:
            time.sleep(pause)
            pause = min(2 * pause, longest)
        try:
            yield
        finally:
            if entered:
                self._leave()

    def _enter(self) -> bool:
        """Return False while another process holds it."""
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            except OSError:
                return True
        return True

    def _leave(self) -> None:
        if sys.platform != "win32":
            import fcntl

            with suppress(OSError):
                fcntl.flock(self._folder, fcntl.LOCK_UN)

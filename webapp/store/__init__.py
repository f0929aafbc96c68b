"""The store: the only place with SQL. One class for each subject, all on one set of connections.

`store.write()` opens a transaction and `store.read()` a snapshot; the methods of the subjects run inside the one that
is open on the calling thread. Every method raises only errors of `webapp.errors`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from webapp.config import BUSY_SECONDS, Database
from webapp.errors import BusyStore, ClosedStore, DamagedStore, RefusedRow, StoreError, install_command
from webapp.store.access import Access
from webapp.store.aftermaths import Aftermaths
from webapp.store.context import Contexts
from webapp.store.copies import Copies
from webapp.store.engine import Engine
from webapp.store.leases import Leases
from webapp.store.log import Log
from webapp.store.memories import Memories
from webapp.store.operations import Operations
from webapp.store.parts import PARTS
from webapp.store.savings import Saved
from webapp.store.session_dump import Dump
from webapp.store.sessions import Sessions
from webapp.store.small_tables import SmallTables
from webapp.store.sql import upsert
from webapp.store.sqlite.connection import Connections
from webapp.store.summaries import Summaries
from webapp.store.usage import Usage
from webapp.store.verify import faults_of_store
from webapp.store.webhooks import Webhooks

# Enough for a hundred thousand messages; the checkpoint thread does the rest.
MERGE_ROUNDS = 400
# The name under which a check writes, beside the revisions of rooms.
HEALTH = "health"


def opened(database: Database, busy_seconds: float, durable: bool) -> Engine:
    """Return the engine over a database, which is made or brought up to date where needed.

    Raises:
        StoreError: it cannot be opened, or what PostgreSQL needs is not installed.
    """
    if isinstance(database, Path):
        return Connections(database, busy_seconds, durable)
    try:
        from webapp.store.postgresql.engine import Postgresql
    except ImportError as error:
        raise StoreError(f"{database} needs psycopg: {install_command('postgresql')} ({error})") from error
    return Postgresql(database, busy_seconds, durable)


class _Transaction:
    """A thread's transaction: when it began, in ns of the monotonic clock, None outside of one, and what its end does.

    An object of its own, because a generator that is left inside a transaction may be closed by another thread.
    """

    def __init__(self) -> None:
        self.began: int | None = None
        self.at_end: list[Callable[[], None]] = []


class _Thread(threading.local):
    """The transaction of each thread."""

    def __init__(self) -> None:
        self.transaction = _Transaction()


class Store:
    """All subjects of one database."""

    def __init__(
        self, database: Database, *, busy_seconds: float = BUSY_SECONDS, durable: bool = False
    ) -> None:
        self.db = opened(database, busy_seconds, durable)
        self.sessions = Sessions(self.db)
        self.log = Log(self.db)
        self.contexts = Contexts(self.db)
        self.operations = Operations(self.db)
        self.summaries = Summaries(self.db)
        self.memories = Memories(self.db)
        self.usage = Usage(self.db)
        self.words = self.db.words
        self.small = SmallTables(self.db)
        self.copies = Copies(self.db)
        self.savings = Saved(self.db)
        self.aftermaths = Aftermaths(self.db)
        self.access = Access(self.db)
        self.webhooks = Webhooks(self.db)
        self.leases = Leases(self.db)
        self.dump = Dump(self.db)
        self._thread = _Thread()
        self._inspected = False
        self._failed: StoreError | None = None  # why the last write failed, if the next may fail too

    @contextmanager
    def write(self, session_id: str | None = None) -> Iterator[None]:
        """Open a transaction; with `session_id` one that writes to no other session (see `Engine.write`)."""
        try:
            with self._noted(), self.db.write(session_id):
                yield
        except (BusyStore, ClosedStore, RefusedRow):  # says nothing about the disk
            raise
        except StoreError as error:
            self._failed = error
            raise
        self._failed = None

    @contextmanager
    def read(self) -> Iterator[None]:
        """Run several queries on one snapshot."""
        with self._noted(), self.db.read():
            yield

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Note when the thread's outermost transaction begins, and do what waits for its end."""
        own = self._thread.transaction
        if own.began is not None:
            yield
            return
        own.began = time.monotonic_ns()
        try:
            yield
        finally:
            own.began, waiting, own.at_end = None, own.at_end, []
            for act in waiting:
                act()

    def began(self) -> int:
        """Return when the thread's transaction began, in ns of the monotonic clock; outside of one, the time now.

        What others committed since then is not seen in it.
        """
        began = self._thread.transaction.began
        return time.monotonic_ns() if began is None else began

    def at_end(self, act: Callable[[], None]) -> None:
        """Call `act` once the thread's transaction is committed or taken back, at once outside of one."""
        own = self._thread.transaction
        if own.began is None:
            act()
        else:
            own.at_end.append(act)

    def size(self) -> int:
        """Return the size of the database on the disk in bytes, including its write-ahead log."""
        return self.db.size()

    def check(self) -> None:
        """Raise an error unless the database answers and its file is sound; the first call starts a check of all pages.

        After a write that the disk did not take, it tries to write; while others write, that error is still the answer.

        Raises:
            DamagedStore: pages of the file cannot be used.
            StoreError: the database does not answer, or cannot be written.
        """
        self.db.value("SELECT 1 FROM sessions LIMIT 1")
        if failed := self._failed:
            try:
                with self.write():
                    self.small.put_revision(HEALTH, self.small.revision(HEALTH) + 1)
            except BusyStore:
                raise failed from None
        if self.db.damage:
            raise DamagedStore(self.db.damage)
        if not self._inspected:
            self._inspected = True
            threading.Thread(target=self._inspect, name="inspection", daemon=True).start()

    def _inspect(self) -> None:
        with suppress(StoreError):  # reported by the next check, or closed meanwhile
            self.db.inspect()

    def maintain(self) -> None:
        """Do the maintenance that a big import leaves: merge the index, empty the write-ahead log.

        Later appends then do not have to do it. Other threads can write in between.
        """
        for _ in range(MERGE_ROUNDS):
            with self.write():
                if not self.words.merge():
                    break
        self.db.checkpoint()

    def verify(self) -> Iterator[str]:
        """Yield every fault in the store, one line each; a sound store yields none."""
        with self.read():
            yield from faults_of_store(self.db)

    def seal(self, session: int, names: Collection[str]) -> None:
        """Write the seals for the present contents of parts of a session.

        Call it inside a `write()` that writes nothing else.
        """
        for part in PARTS:
            if part.name in names:
                found = self.db.seals_of(part, session).get((session, part.name), 0)
                self.db.run(
                    upsert("seals", ("session", "part", "value"), keys=2), (session, part.name, found)
                )

    def close(self) -> None:
        """Close the database."""
        self.db.close()

"""Connections and transactions: one connection for each thread, in WAL mode.

Writes run inside `write()`, which takes the write lock at once (BEGIN IMMEDIATE), so that what was read inside it
is still true at commit. `write()` can be nested within a thread. Threads wait for each other on our own lock, which is
fairer than SQLite's sleeping. A separate thread does checkpoints and maintains the search index, so an append never
pays for them. In-memory databases are not supported, because threads could not share one.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from glob import escape
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from webapp.config import BUSY_SECONDS, default_folder
from webapp.errors import (
    BusyStore,
    ClosedStore,
    ForeignStore,
    LostStore,
    ReadOnlyStore,
    StoreError,
)
from webapp.store.engine import Engine, refuse_newer
from webapp.store.parts import Part, of_rows, rows_of
from webapp.store.private import make_folder, make_private
from webapp.store.sqlite.backup import back_up, read_only
from webapp.store.sqlite.failures import read_only_store, store_error
from webapp.store.sqlite.migrations import migrations, parts_to_seal, step_names
from webapp.store.sqlite.seals import Seals, seal_again
from webapp.store.sqlite.turnstile import Turnstile
from webapp.store.sqlite.words import Words

log = logging.getLogger(__name__)

# Faults of the file that are reported; one that is torn in the middle has thousands.
FILE_FAULTS = 20
# Pages (80 MB of log) after which SQLite itself does a checkpoint; usually our thread has done one before.
AUTOCHECKPOINT_PAGES = 20_000
CHECKPOINT_SECONDS = 1.0
# Upkeep takes the write lock for a few milliseconds at a time, and lets others in between.
UPKEEP_ROUNDS = 4
UPKEEP_PAUSE_SECONDS = 0.05
CLOSE_SECONDS = 2.0  # a statement that takes longer is interrupted
LOCKED_SECONDS = 0.01
# The most threads that wait to write, and how long they wait for each other. After a wait for another process failed,
# waits for it are short for LOCKED_OUT_SECONDS.
WAITING = 16
TURN_SECONDS = 5.0
LOCKED_OUT_SECONDS = 2.0
LOCKED_OUT_WAIT_SECONDS = 0.05
CACHE_KIB = 32_000
EACH = 200  # rows that are read at a time
MMAP_BYTES = 1 << 30


class Connections(Engine):
    """Opens the database, one connection per thread, and runs statements on the calling thread's."""

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS, durable: bool = False) -> None:
        super().__init__(str(path))
        self.path = path
        self.words = Words(self)
        self._busy_seconds = busy_seconds
        self._synchronous = "FULL" if durable else "NORMAL"
        self._local = threading.local()
        self._all: weakref.WeakSet[_ThreadConnection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._waiting = threading.Semaphore(WAITING)
        self._locked_at = float("-inf")
        self._number: int | None = None  # of the file, once it is open
        self._written = threading.Event()
        self._checkpointer: threading.Thread | None = None
        self.read_only = path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
        with self._translated("opening the database"):
            # A file of another program or of a newer version is refused before anything changes it.
            if path.is_file() and path.stat().st_size:
                is_store(path)
            if not self.read_only:
                make_folder(path.parent, own=path.parent == default_folder())
                if not path.is_dir():
                    make_private(path)
            self._turnstile = Turnstile(path.parent)
            self._migrate()
            self._number = path.stat().st_ino

    def _migrate(self) -> None:
        own = self._thread_connection()
        connection = own.connection
        if not (waiting := migrations.pending(Database(connection))):
            return
        if self.read_only:
            raise ReadOnlyStore(
                f"{self.path} was written by an older version and is read-only; make it writable once, or copy it"
            )
        connection.execute("BEGIN IMMEDIATE")
        try:
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'sessions'").fetchone():
                self._keep_copy(f"{self.path.name}.before-{waiting[0].name}")
            # A damaged text stops no step; `verify` reports it.
            connection.text_factory = partial(str, encoding="utf-8", errors="replace")
            migrations.apply(Database(connection))
            seal_again(connection, parts_to_seal([step.name for step in waiting]))
            connection.execute("COMMIT")
        except BaseException:
            own.roll_back()
            raise
        finally:
            connection.text_factory = str

    def _keep_copy(self, name: str) -> None:
        """Copy the database before a migration, unless an attempt since it was last written has done so.

        The lock is held, so an incomplete copy is one of an attempt that was killed.
        """
        for left in self.path.parent.glob(f"{escape(name)}*.part-*"):
            left.unlink()
        target, number = self.path.with_name(name), 1
        while target.exists():
            if target.stat().st_mtime_ns >= self.path.stat().st_mtime_ns:
                return
            number += 1  # of an earlier update, from which somebody went back
            target = self.path.with_name(f"{name}-{number}")
        back_up(self.path, target)
        log.info("kept a copy from before the migration: %s", target)

    def _thread_connection(self) -> _ThreadConnection:
        own: _ThreadConnection | None = getattr(self._local, "own", None)
        if own is None:
            if self._closed.is_set():
                raise self._ending()
            with self._translated("opening"):
                own = _ThreadConnection(self._open())
            self._local.own = own
            with self._lock:
                self._all.add(own)
        return own

    def _refuse_other_file(self) -> None:
        """Raise LostStore if the opened file has lost its name: what is written to it would be gone at the end."""
        with suppress(FileNotFoundError):
            if self._number in (None, self.path.stat().st_ino):
                return
        raise LostStore(
            f"{self.path} was moved, deleted or replaced while it was open; nothing is stored. Put it back, or start "
            "Coppice again to use what is there now"
        )

    def _open(self) -> sqlite3.Connection:
        if self._number is not None:  # SQLite would create a missing file, without tables
            self._refuse_other_file()
        connection = read_only(self.path) if self.read_only else self._open_to_write()
        for pragma in (
            f"cache_size=-{CACHE_KIB}",
            f"mmap_size={MMAP_BYTES}",
            "temp_store=MEMORY",
            "foreign_keys=ON",
            "recursive_triggers=ON",  # so that rows that REPLACE deletes are sealed too
        ):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _open_to_write(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            isolation_level=None,
            timeout=self._busy_seconds,
            check_same_thread=False,
            cached_statements=256,
        )
        self._write_ahead(connection)
        connection.execute(f"PRAGMA synchronous={self._synchronous}")
        connection.execute(f"PRAGMA wal_autocheckpoint={AUTOCHECKPOINT_PAGES}")
        return connection

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Switch to the write-ahead log; waits for a lock itself, because SQLite does not wait there."""
        until = time.monotonic() + self._busy_seconds
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(LOCKED_SECONDS)
            else:
                return

    def _store_error(self, error: BaseException, doing: str) -> StoreError | None:
        return store_error(error, doing, self.path)

    def inspect(self) -> None:
        """Check every page of the file, table by table; record a fault in `damage`."""
        names = self.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        for (name,) in names:
            if self._closed.is_set() or self.damage:
                return
            said = self.value(f"PRAGMA quick_check('{name}')")
            if said != "ok":
                self.damage = f"{self.path} is damaged ({said}); put a copy back (`coppice restore`)"

    def seals_of(self, part: Part, session: int | None = None) -> dict[tuple[int, str], int]:
        return of_rows(part, self.each(rows_of(part, session)))

    def columns(self, table: str) -> dict[str, str]:
        return {name: kind for _, name, kind, *_ in self.rows(f"PRAGMA table_info({table})")}

    def last_number(self, table: str, column: str) -> int:
        given = self.value("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
        return int(given or self.value(f"SELECT max({column}) FROM {table}") or 0)

    def set_last_number(self, table: str, column: str, number: int) -> None:
        """Make the next row of a table get a number after this one; a table that reuses numbers stays as it is."""
        self.run("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (number, table))
        numbers_again = "SELECT 1 FROM sqlite_master WHERE name = ? AND sql LIKE '%AUTOINCREMENT%'"
        if number and self.value(numbers_again, (table,)) and not self.last_number(table, column):
            self.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))

    def faults(self) -> Iterator[str]:
        """Yield faults of pages, indexes and constraints, as SQLite itself finds them."""
        for (said,) in self.each(f"PRAGMA integrity_check({FILE_FAULTS})"):
            if said != "ok":
                yield f"the file {self.path}: {said}"

    def size(self) -> int:
        """Return the size of the database on the disk in bytes, including its write-ahead log."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        own = self._thread_connection()
        with own.using, self._translated("reading"):
            return own.connection.execute(sql, values).fetchall()

    def each(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        own = self._thread_connection()
        with own.using, self._translated("reading"):
            cursor = own.connection.execute(sql, values)
        try:
            while True:
                with own.using, self._translated("reading"):
                    rows = cursor.fetchmany(EACH)
                if not rows:
                    return
                yield from rows
        finally:
            # A query that failed or was left keeps its snapshot until its cursor is closed, and the traceback of an
            # error can keep the cursor: this thread could not write any more.
            with own.using, suppress(sqlite3.ProgrammingError):  # the connection was closed meanwhile
                cursor.close()

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        own = self._thread_connection()
        with own.using, self._translated("writing"):
            return own.connection.execute(sql, values).rowcount

    def run_many(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        own = self._thread_connection()
        with own.using, self._translated("writing"):
            own.connection.executemany(sql, values)

    @contextmanager
    def write(self, session_id: str | None = None) -> Iterator[None]:  # noqa: ARG002  # one writer at a time
        own = self._thread_connection()
        connection = own.connection
        if own.writing:
            yield
            return
        if self.read_only:
            raise read_only_store(self.path)
        with own.using, self._translated("writing"):
            self._refuse_other_file()
            reading = connection.in_transaction
            if not reading:
                own.seals.watch(connection)  # before the lock, because the first time takes a moment
        if reading:
            raise StoreError(f"writing to {self.path} inside a read: end the read first")
        self._take_turn(own)
        try:
            own.writing = True
            try:
                yield
                with own.using, self._translated("writing"):
                    own.seals.write(connection)
                    connection.execute("COMMIT")
            except BaseException:
                own.roll_back()
                raise
        finally:
            own.writing = False
            self._writing.release()
        self._written.set()
        self._watch_log()

    def _take_turn(self, own: _ThreadConnection) -> None:
        """Begin a transaction when it is this thread's turn.

        Threads wait for each other, and one of them for another process. Only a limited number may wait. After a wait
        for another process has failed, further waits for it are short for a while, and the threads that waited behind
        it give up at once.

        Raises:
            BusyStore: too many threads wait, or the wait was too long.
        """
        if not self._waiting.acquire(blocking=False):
            raise BusyStore(f"the database {self.path} is busy: {WAITING} others wait to write; try again")
        came = time.monotonic()
        try:
            if not self._writing.acquire(timeout=TURN_SECONDS):
                raise BusyStore(f"the database {self.path} is busy: another thread is writing; try again")
            try:
                wait, now = self._wait(came), time.monotonic()
                with own.using, self._translated("writing"), self._turnstile.entered(wait / 2):
                    left = max(0, now + wait - time.monotonic())
                    own.connection.execute(f"PRAGMA busy_timeout={int(left * 1000)}")
                    own.connection.execute("BEGIN IMMEDIATE")
            except BusyStore:
                self._locked_at = time.monotonic()
                self._writing.release()
                raise
            except BaseException:
                self._writing.release()
                raise
        finally:
            self._waiting.release()

    def _wait(self, came: float) -> float:
        """Return how many seconds a thread that came at `came` waits for another process."""
        if self._locked_at > came:
            return 0
        locked_out = time.monotonic() - self._locked_at < LOCKED_OUT_SECONDS
        return min(self._busy_seconds, LOCKED_OUT_WAIT_SECONDS) if locked_out else self._busy_seconds

    @contextmanager
    def read(self) -> Iterator[None]:
        own = self._thread_connection()
        with own.using, self._translated("reading"):
            nested = own.connection.in_transaction
            if not nested:
                own.connection.execute("BEGIN")
        if nested:
            yield
            return
        try:
            yield
        finally:
            own.roll_back()

    def checkpoint(self) -> None:
        """Move the contents of the log file into the database, as far as readers allow."""
        own = self._thread_connection()
        with own.using, self._translated("checkpointing"):
            own.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def _watch_log(self) -> None:
        if self._checkpointer is None:
            with self._lock:
                if not self._closed.is_set() and self._checkpointer is None:
                    checkpointer = threading.Thread(
                        target=_keep_checkpointing,
                        args=(weakref.ref(self), self._written, self._closed),
                        name="checkpoints",
                        daemon=True,
                    )
                    checkpointer.start()
                    self._checkpointer = checkpointer  # after the start, because `close` joins this thread

    def close(self) -> None:
        """Close every thread's connection after its statement has ended or was interrupted.

        The store cannot be used afterwards.
        """
        with self._lock:  # no thread is being started
            self._closed.set()
        self._written.set()
        if self._checkpointer is not None:
            self._checkpointer.join(timeout=5)
        with self._lock:
            for own in list(self._all):
                own.close()
        self._local = threading.local()


class _ThreadConnection:
    """A thread's connection, known to `close()` without being kept alive after the thread.

    `writing` is True inside a transaction of `write()`. A running statement holds `using`: a connection closed inside
    another thread's statement would end the whole process.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.seals = Seals()
        self.writing = False
        self.using = threading.RLock()

    def roll_back(self) -> None:
        """Roll back the open transaction, if there is one."""
        self.seals.forget()
        # A connection closed meanwhile has discarded the transaction.
        with self.using, suppress(sqlite3.ProgrammingError):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection, from any thread."""
        if not self.using.acquire(timeout=CLOSE_SECONDS):
            self.connection.interrupt()
            self.using.acquire()
        try:
            self.connection.close()
        finally:
            self.using.release()

    def __del__(self) -> None:
        self.connection.close()


def _keep_checkpointing(
    connections: weakref.ref[Connections], written: threading.Event, closed: threading.Event
) -> None:
    while not closed.is_set():
        written.wait()
        if closed.wait(CHECKPOINT_SECONDS):
            return
        target = connections()
        if target is None:
            return
        try:
            for _ in range(UPKEEP_ROUNDS):
                with target.write():
                    more = target.words.merge()
                if not more or closed.wait(UPKEEP_PAUSE_SECONDS):
                    break
            target.checkpoint()
        except ClosedStore:  # it was closed just as the upkeep began
            return
        except StoreError as error:
            log.warning("%s", error)
        written.clear()  # our own maintenance sets it too; other writes since then are handled after the next write
        del target


def is_store(path: Path) -> bool:
    """Return whether a database is a store, also one of an older version; False if it has no tables.

    Raises:
        ForeignStore: it is another program's, or of a newer version.
        sqlite3.Error: it cannot be read.
    """
    with closing(read_only(path)) as connection:
        found = Database(connection)
        applied = {step.name for step in migrations.applied(found)}
        if not applied and set(found.table_names()) - {migrations.migrations_table}:
            raise ForeignStore(f"{path} is the database of another program; name another file")
    refuse_newer(str(path), applied - step_names())
    return bool(applied)

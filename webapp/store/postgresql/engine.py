"""The engine over PostgreSQL: a pool of connections, and locks that tell sessions apart.

Outside of `read()` and `write()` each statement borrows a connection for itself. A transaction that writes to one
session takes a lock shared by all such writers and one of the session's own; any other takes the shared lock for itself
alone. So what was read inside is still true at commit, and appends to different sessions do not wait for each other.
Locks end with the transaction, also that of a process that was killed. `read()` is a snapshot (REPEATABLE READ). No
error's message has a password in it.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from psycopg import RawCursor, RawServerCursor, errors
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolTimeout

from webapp.config import PostgresqlAddress
from webapp.errors import BusyStore, DamagedStore, FullDisk, LostStore, ReadOnlyStore, RefusedRow, StoreError
from webapp.store.engine import Engine, refuse_newer
from webapp.store.parts import Part
from webapp.store.postgresql import schema, seals
from webapp.store.postgresql.values import adapted
from webapp.store.postgresql.words import VectorWords

# A writer waits this many times longer than in SQLite: here the threads of one process wait at the same lock.
PATIENCE = 5
CONNECT_SECONDS = 10.0
REACH_SECONDS = 2
# The pool doubles its pauses between attempts; after this time it gives up, and the next request makes one at once.
RECONNECT_SECONDS = 10.0
# Writers that wait for a lock hold a connection; some are always left for readers.
CONNECTIONS, WRITERS = 16, 10
CLOSE_SECONDS = 5.0
EACH = 200  # rows that are read at a time
# Two numbers name a lock: ours, and what it locks. 0 locks the store.
STORE_LOCK, SESSION_LOCK = 0x636F7070, 0x636F7071
# A transaction that writes ends after this time without a statement: its process hangs, or its machine is gone.
IDLE_MS = 120_000
KINDS = {"bigint": "INTEGER", "numeric": "REAL", "double precision": "REAL", "text": "TEXT", "bytea": "BLOB"}
BUSY = (
    errors.LockNotAvailable,
    errors.DeadlockDetected,
    errors.SerializationFailure,
    errors.TooManyConnections,
    PoolTimeout,
)
READ_ONLY = (errors.ReadOnlySqlTransaction, errors.InsufficientPrivilege)
REFUSED = (psycopg.IntegrityError, psycopg.DataError, psycopg.ProgrammingError)
DAMAGED = (errors.DataCorrupted, errors.IndexCorrupted)

Connection = psycopg.Connection[tuple[Any, ...]]


class _Held:
    """A connection that a thread holds for a transaction. `session_id` is the only session that it writes to."""

    def __init__(self, connection: Connection, *, writing: bool, session_id: str | None = None) -> None:
        self.connection, self.writing, self.session_id = connection, writing, session_id


class Postgresql(Engine):
    """A database of PostgreSQL."""

    short_ids = True

    def __init__(self, server: PostgresqlAddress, busy_seconds: float, durable: bool) -> None:
        super().__init__(str(server))
        self.server = server
        self.words = VectorWords(self)
        self._wait_ms = max(1, int(busy_seconds * 1000 * PATIENCE))
        self._durable = durable
        self._local = threading.local()
        self._writers = threading.Semaphore(WRITERS)
        self._noted: WeakKeyDictionary[Connection, seals.Seals] = WeakKeyDictionary()
        self._names = count()
        with self._translated("opening"):
            self._pool: ConnectionPool[Connection] = ConnectionPool(
                server.url,
                kwargs={"autocommit": True, "cursor_factory": RawCursor, "context": _ADAPTED},
                min_size=1,
                max_size=CONNECTIONS,
                configure=self._configure,
                open=False,
                timeout=CONNECT_SECONDS,
                reconnect_timeout=RECONNECT_SECONDS,
                name="store",
            )
            # Raises at once what a pool would try again and again, and log.
            psycopg.connect(server.url, connect_timeout=int(CONNECT_SECONDS)).close()
            self._pool.open()
        try:
            self._migrate()
        except BaseException:
            self.close()
            raise

    def _configure(self, connection: Connection) -> None:
        """Set what our statements rely on, and listen to the triggers of the seals."""
        noted = self._noted[connection] = seals.Seals()
        connection.add_notice_handler(lambda said: noted.hear(said.message_primary or ""))
        settings = {
            seals.SWITCH: "on",
            "lock_timeout": str(self._wait_ms),
            "bytea_output": "hex",
            "extra_float_digits": "1",
            "client_min_messages": "warning",  # those of the triggers come all the same
            **({"synchronous_commit": "on"} if self._durable else {}),
        }
        calls = ", ".join(f"set_config(${2 * n + 1}, ${2 * n + 2}, false)" for n in range(len(settings)))
        connection.execute(f"SELECT {calls}", [one for pair in settings.items() for one in pair])

    def _migrate(self) -> None:
        if not self._missing():  # the usual start waits for no writer
            return
        with self.write():
            for name, statements in self._missing().items():
                for statement in statements:
                    if isinstance(statement, str):
                        self.run(statement)
                    else:
                        statement(self)
                self.run("INSERT INTO schema_steps (name) VALUES (?)", (name,))

    def _missing(self) -> dict[str, Sequence[schema.Statement]]:
        """Return the statements of the steps that the database does not have, by name."""
        # to_regclass alone may use what the connection has cached; reading a table first makes it see new tables.
        if not self.rows("SELECT 1 FROM pg_class WHERE oid = to_regclass('schema_steps')"):
            return {schema.SINCE: schema.schema(), **dict.fromkeys(schema.STEPS, ())}
        done = {name for (name,) in self.rows("SELECT name FROM schema_steps")}
        refuse_newer(self.name, done - {schema.SINCE, *schema.STEPS})
        return {name: statements for name, statements in schema.STEPS.items() if name not in done}

    # -- statements

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._using("reading") as connection:
            return connection.execute(_numbered(sql), values).fetchall()

    def each(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        held = self._held()
        if held is None:
            yield from self.rows(sql, values)
            return
        cursor = RawServerCursor(held.connection, f"each_{next(self._names)}")
        with self._using("reading"):
            cursor.execute(_numbered(sql), values)
        try:
            while True:
                if self._held() is not held:
                    raise StoreError(f"reading {self.name} failed: the transaction of this query has ended")
                with self._using("reading"):
                    rows = cursor.fetchmany(EACH)
                if not rows:
                    return
                yield from rows
        finally:
            if self._held() is held:  # otherwise the cursor ended with its transaction
                with suppress(psycopg.Error):
                    cursor.close()

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        with self._using("writing") as connection:
            return connection.execute(_numbered(sql), values).rowcount

    def run_many(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        rows = list(values)  # a generator may ask the database itself
        if len(rows) == 1:
            self.run(sql, rows[0])
        elif rows:
            with self._using("writing") as connection, connection.cursor() as cursor:
                cursor.executemany(_numbered(sql), rows)

    @contextmanager
    def _using(self, doing: str) -> Iterator[Connection]:
        """Yield the connection of the thread's transaction, or one for a statement by itself."""
        held = self._held()
        with self._translated(doing):
            if held is not None:
                try:
                    yield held.connection
                except psycopg.Error:
                    if not held.writing:  # a snapshot goes on as a new one after a statement that failed
                        self._local.held = _Held(held.connection, writing=False)
                        with suppress(psycopg.Error):
                            held.connection.execute("ROLLBACK")
                            held.connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                    raise
            else:
                with self._borrowed() as connection:
                    yield connection

    def _held(self) -> _Held | None:
        found: _Held | None = getattr(self._local, "held", None)
        return found

    @contextmanager
    def _borrowed(self) -> Iterator[Connection]:
        if self._closed.is_set():
            raise self._ending()
        try:
            connection = self._pool.getconn()
        except PoolTimeout:
            # If the database is away, this fails with the reason; otherwise all connections are in use.
            psycopg.connect(self.server.url, connect_timeout=REACH_SECONDS).close()
            raise
        try:
            yield connection
        finally:
            lost = connection.closed
            self._pool.putconn(connection)
            if lost and not self._closed.is_set():  # and the others with it, as when the server starts again
                self._pool.check()

    # -- transactions

    @contextmanager
    def write(self, session_id: str | None = None) -> Iterator[None]:
        held = self._held()
        if held is not None and held.writing:
            if held.session_id not in (None, session_id):
                raise StoreError(f"writing beyond session {held.session_id}, which alone is locked")
            yield
            return
        if held is not None:
            raise StoreError(f"writing to {self.server} inside a read: end the read first")
        with (
            self._turn(),
            self._transaction(_begin(session_id), writing=True, session_id=session_id) as connection,
        ):
            yield
            with self._translated("writing"):
                noted = self._noted[connection]
                noted.write(lambda sql, values: connection.execute(_numbered(sql), values))
                if connection.info.transaction_status == TransactionStatus.INERROR:
                    raise StoreError(f"writing to {self.server} failed before; nothing was stored")
                connection.execute("COMMIT")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait until few enough threads write or wait for a lock."""
        if not self._writers.acquire(timeout=self._wait_ms / 1000):
            raise BusyStore(f"the database {self.name} is busy: {WRITERS} others wait to write; try again")
        try:
            yield
        finally:
            self._writers.release()

    @contextmanager
    def read(self) -> Iterator[None]:
        if self._held() is not None:
            yield
            return
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ", writing=False):
            yield

    @contextmanager
    def _transaction(
        self, begin: str, *, writing: bool, session_id: str | None = None
    ) -> Iterator[Connection]:
        """Hold a connection for the thread; what was not committed at the end is rolled back."""
        with self._translated("writing" if writing else "reading"):
            lent = self._borrowed()
            connection = lent.__enter__()
        try:
            with self._translated("writing" if writing else "reading"):
                connection.execute(begin)
            self._local.held = _Held(connection, writing=writing, session_id=session_id)
            yield connection
        finally:
            self._local.held = None
            self._noted[connection].forget()
            with suppress(psycopg.Error):
                if connection.info.transaction_status != TransactionStatus.IDLE:
                    connection.execute("ROLLBACK")
            lent.__exit__(None, None, None)

    # -- the database itself

    def seals_of(self, part: Part, session: int | None = None) -> dict[tuple[int, str], int]:
        rows = self.rows(seals.query(part, session))
        return {(owner, part.name): value for owner, value in rows if value}

    def columns(self, table: str) -> dict[str, str]:
        sql = (
            "SELECT column_name::text, data_type::text FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND table_name = ? ORDER BY ordinal_position"
        )
        return {name: KINDS[kind] for name, kind in self.rows(sql, (table,))}

    def last_number(self, table: str, column: str) -> int:
        return int(
            self.value(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {table}_{column}_seq")
        )

    def set_last_number(self, table: str, column: str, number: int) -> None:
        self.rows(
            "SELECT setval(pg_get_serial_sequence(?, ?), ?, ? = 1)",
            (table, column, max(1, number), number > 0),
        )

    def faults(self) -> Iterator[str]:
        """Yield indexes that the database itself does not use any more."""
        sql = (
            "SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indrelid "
            "WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace"
        )
        for (name,) in self.rows(sql):
            yield f"the index {name} of {self.server} is not valid"

    def inspect(self) -> None:
        """Do nothing: PostgreSQL itself checks the checksum of each page that it reads."""

    def size(self) -> int:
        return int(self.value("SELECT pg_database_size(current_database())"))

    def checkpoint(self) -> None:
        """Gather what waits beside the index of words."""
        self.words.merge()

    def close(self) -> None:
        """Close the connections; one that is used is closed at the end of its transaction."""
        self._closed.set()
        self._pool.close(timeout=CLOSE_SECONDS)

    def _store_error(self, error: BaseException, doing: str) -> StoreError | None:
        return _store_error(error, doing, self.server) if isinstance(error, psycopg.Error) else None


_ADAPTED = adapted()


def _begin(session_id: str | None) -> str:
    """Return the statements that open a transaction with its locks: the store's, or a share of it and a session's."""
    begun = f"BEGIN; SET LOCAL idle_in_transaction_session_timeout = {IDLE_MS}"
    if session_id is None:
        return f"{begun}; SELECT pg_advisory_xact_lock({STORE_LOCK}, 0)"
    number = zlib.crc32(session_id.encode("utf-8", "replace")) - (1 << 31)
    return (
        f"{begun}; SELECT pg_advisory_xact_lock_shared({STORE_LOCK}, 0); "
        f"SELECT pg_advisory_xact_lock({SESSION_LOCK}, {number})"
    )


def _store_error(error: psycopg.Error, doing: str, server: PostgresqlAddress) -> StoreError:
    text = server.masked(" ".join((error.diag.message_primary or str(error)).split()))
    if isinstance(error, BUSY):
        return BusyStore(f"the database {server} is busy: another process is writing; try again")
    if isinstance(error, errors.DiskFull):
        return FullDisk(f"no room left for {server}; nothing was stored. Free some space and try again")
    if isinstance(error, READ_ONLY):
        return ReadOnlyStore(f"{server} is read-only: looking works, nothing can be stored ({text})")
    if isinstance(error, DAMAGED):
        return DamagedStore(f"{server} is damaged ({text}); put a copy back")
    kinds = ((REFUSED, RefusedRow), (psycopg.OperationalError, LostStore))
    kind = next((ours for theirs, ours in kinds if isinstance(error, theirs)), StoreError)
    return kind(f"{doing} {server} failed: {text}")


@lru_cache(maxsize=2048)
def _numbered(sql: str) -> str:
    """Return a statement with $1, $2 … where values are bound as `?`; no statement of ours has another `?`."""
    first, *rest = sql.split("?")
    return first + "".join(f"${n}{text}" for n, text in enumerate(rest, 1))

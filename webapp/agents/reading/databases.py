"""Databases of other programs: they are only read, and the files of a program that has its own open stay as they are.

A program that opens its database while another one rebuilds the index of the write-ahead log (`-shm`) is refused
("database is locked"), and some agents do not wait. So that index is opened read-only: SQLite uses it while a program
has the database open, and else makes one of its own in memory. Only for a log without an index is one made on disk.

A database whose log is missing, a link to elsewhere, only a header, or empty and without an index is opened as
immutable, so that SQLite creates nothing and reads no other file. Pipes are refused, because SQLite would wait for
their other end.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import Any

from webapp.agents.reading.finding import leads_out

_BUSY_SECONDS = 2.0
_RETRY_SECONDS = 0.01
# In bytes. SQLite waits ten seconds for a log of only a header, as a killed program leaves it, and then gives up.
_LOG_HEADER = 32
# Another program rebuilds the index of the log, or is about to. SQLite itself does not wait for that.
_REBUILT = frozenset({sqlite3.SQLITE_READONLY_RECOVERY, sqlite3.SQLITE_READONLY_CANTINIT})


class ForeignTables:
    """The tables of a database of another program."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def names(self) -> set[str]:
        """Return the names of all tables.

        Raises:
            OSError: the database is damaged, or locked for too long.
        """
        try:
            known = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return {name for (name,) in known}
        except sqlite3.Error as error:
            raise OSError(str(error)) from error

    def rows(self, table: str, where: Mapping[str, Any] | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table whose columns equal `where`, in the order of their ids; none if it does not exist.

        Raises:
            OSError: the database is damaged, locked for too long, or lacks a column.
        """
        wanted = where or {}
        conditions = " AND ".join(f"{_quoted(column)} = ?" for column in wanted)
        text = f"SELECT * FROM {_quoted(table)}" + (f" WHERE {conditions}" if wanted else "") + " ORDER BY id"
        try:
            known = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?"
            if self._connection.execute(known, [table]).fetchone() is None:
                return
            cursor = self._connection.execute(text, list(wanted.values()))
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))
        except sqlite3.Error as error:
            raise OSError(str(error)) from error


@contextmanager
def open_foreign(path: Path) -> Iterator[ForeignTables]:
    """Open a database for reading. All that is read is of the moment of opening.

    Raises:
        OSError: it is missing or cannot be opened.
    """
    with closing(_connection(path.resolve())) as connection:
        yield ForeignTables(connection)


def _connection(database: Path) -> sqlite3.Connection:
    """Return a connection that has begun to read. Raises OSError."""
    way, until = _way(database), time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            return _begun(f"{database.as_uri()}?mode=ro{way}")
        except sqlite3.Error as error:
            before, way = way, _way(database)
            # A program that ends can take its log away at this moment.
            passes = way != before or error.sqlite_errorcode in _REBUILT
            if not passes or time.monotonic() > until:
                raise OSError(str(error)) from error
        time.sleep(_RETRY_SECONDS)


def _begun(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _way(database: Path) -> str:
    """Return the parameters to open a database with, by the files beside it. Raises OSError if one is a pipe."""
    sizes = {end: _size(database.with_name(database.name + end)) for end in ("", "-wal", "-shm", "-journal")}
    log = database.with_name(database.name + "-wal")
    if sizes["-wal"] in (None, _LOG_HEADER) or leads_out(log, log.parent):
        return "&immutable=1"
    if sizes["-shm"] is not None:
        return "&readonly_shm=1"
    # Without an index the database is a copy, which no program has open.
    return "" if sizes["-wal"] else "&immutable=1"


def _size(path: Path) -> int | None:
    """Return the size of a file, None if it is missing. Raises OSError if it is not a regular file."""
    try:
        about = path.stat()
    except FileNotFoundError:
        return None
    if not S_ISREG(about.st_mode):
        raise OSError(f"{path.name} is not a regular file")
    return about.st_size


def _quoted(name: str) -> str:
    # In double quotes SQLite takes a missing column for text.
    return f"[{name.replace(']', '')}]"

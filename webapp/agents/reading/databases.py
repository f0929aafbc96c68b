"""Databases of other programs: they are only read; they are not locked, and no file is written beside them.

A program that opens its database while a reader rebuilds the index of the log is refused ("database is locked"), and
some agents do not wait. Readers here have an index of their own and take no locks; what they read counts if nothing of
it was overwritten meanwhile. A database whose write-ahead log is empty, missing, or a link to elsewhere is opened as
immutable, so that SQLite creates nothing and reads no other file. Pipes are refused, because SQLite would wait for
their other end.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

from webapp.agents.reading.finding import leads_out, open_file

_BUSY_SECONDS = 2.0
# SQLite's own access to files, but for the locks.
_WITHOUT_LOCKS = "win32-none" if os.name == "nt" else "unix-none"
_TRIES = 4
# The bytes of a log's head, in which its random salts are.
_HEAD = 32

Read = TypeVar("Read")


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


def read_foreign(path: Path, read: Callable[[ForeignTables], Read]) -> Read:
    """Return what `read` makes of the tables of a database; it is called again if they changed meanwhile.

    Raises:
        OSError: the database is missing, damaged, or cannot be opened.
    """
    for _ in range(_TRIES):
        before = _mark(path)
        try:
            with _opened(path, f"&vfs={_WITHOUT_LOCKS}") as tables:
                made = read(tables)
        except OSError:
            if _mark(path) == before:
                raise
            continue
        if _mark(path) == before:
            return made
    with _opened(path, "") as tables:  # a program that writes this much has it open
        return read(tables)


def _mark(path: Path) -> tuple[float, int, bytes]:
    """Return a value that changes when pages that a reader without locks relies on are overwritten.

    New pages are added to the log until a checkpoint writes them into the database; after that the log begins again,
    with a new head.
    """
    log = _log_of(path)
    try:
        about = path.stat()
        with open_file(log) if log.exists() else BytesIO() as file:
            return about.st_mtime_ns, about.st_size, file.read(_HEAD)
    except OSError:
        return 0, 0, b""


def _log_of(path: Path) -> Path:
    real = path.resolve()
    return real.with_name(f"{real.name}-wal")


@contextmanager
def _opened(path: Path, without_locks: str) -> Iterator[ForeignTables]:
    """Open a database for reading.

    Raises:
        OSError: it is missing or cannot be opened.
    """
    real, log = path.resolve(), _log_of(path)
    for end in ("", "-wal", "-shm", "-journal"):
        beside = real.with_name(real.name + end)
        if beside.exists() and not beside.is_file():
            raise OSError(f"{beside.name} is not a regular file")
    live = log.exists() and log.stat().st_size > 0 and not leads_out(log, log.parent)
    address = f"{real.as_uri()}?mode=ro{without_locks if live else '&immutable=1'}"
    try:
        connection = sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS)
    except sqlite3.Error as error:
        raise OSError(str(error)) from error
    with closing(connection):
        if live and without_locks:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")  # the index of the log is not shared
        yield ForeignTables(connection)


def _quoted(name: str) -> str:
    # In double quotes SQLite takes a missing column for text.
    return f"[{name.replace(']', '')}]"

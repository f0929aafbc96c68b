"""Databases of other programs: they are only read; not even a lock file is written beside them.

A database whose write-ahead log is empty, missing, or a link to elsewhere is opened as immutable, so that SQLite
creates nothing and reads no other file. Pipes are refused, because SQLite would wait for their other end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from webapp.agents.reading.finding import leads_out

_BUSY_SECONDS = 2.0


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
    """Open a database for reading.

    Raises:
        OSError: it is missing or cannot be opened.
    """
    real = path.resolve()
    for end in ("", "-wal", "-shm", "-journal"):
        beside = real.with_name(real.name + end)
        if beside.exists() and not beside.is_file():
            raise OSError(f"{beside.name} is not a regular file")
    log = real.with_name(real.name + "-wal")
    live = log.exists() and log.stat().st_size > 0 and not leads_out(log, log.parent)
    address = f"{real.as_uri()}?mode=ro{'' if live else '&immutable=1'}"
    try:
        connection = sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS)
    except sqlite3.Error as error:
        raise OSError(str(error)) from error
    with closing(connection):
        yield ForeignTables(connection)


def _quoted(name: str) -> str:
    # In double quotes SQLite takes a missing column for text.
    return f"[{name.replace(']', '')}]"

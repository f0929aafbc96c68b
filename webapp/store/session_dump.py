"""Writes a whole session as records and reads them back; our own export consists of these records.

Records are JSON-ready: the session first, then the rows of the tables of DUMPED, each in the order of its rows. Bytes
are base64. Loaded records are checked like the store itself (`faults_of`) before they are kept.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scoring.errors import shown
from webapp.store.engine import Subject
from webapp.store.keys import SESSION_TABLES, key, number, of_session, refuse_long
from webapp.store.log import pack, unpack
from webapp.store.sessions import COLUMNS, SessionRow
from webapp.store.sql import insert, listed

# The tables with records; answers to repeated requests are left out.
DUMPED = tuple(table for table in SESSION_TABLES if table != "idempotency")
# Rows that are written at a time.
BATCH = 500
# Session columns that belong to a place and not to the session.
LOCAL = frozenset({"key", "deleted_at", "path"})
# The values that a column of a declared type may hold besides NULL; SQLite itself takes any.
HOLDS: dict[str, tuple[type, ...]] = {
    "INTEGER": (int,), "REAL": (int, float), "TEXT": (str,), "BLOB": (bytes,),
}  # fmt: skip
# Columns of texts in an index.
INDEXED = frozenset({"source_id", "call_key", "region", "change"})
SESSION_COLUMNS = tuple(name for name in COLUMNS if name not in LOCAL)


class Dump(Subject):
    """Reads and writes all rows of one session."""

    def records(self, row: SessionRow) -> Iterator[dict[str, Any]]:
        """Yield every row of a session as a record."""
        yield {"type": "session", **{name: _out(getattr(row, name)) for name in SESSION_COLUMNS}}
        for table in DUMPED:
            columns = tuple(self._db.columns(table))
            where, values = of_session(table, row.key)
            sql = f"SELECT {listed(columns)} FROM {table} WHERE {where} ORDER BY 1, 2, 3"
            for found in self._db.each(sql, values):
                yield _record(table, columns, found)

    def load(self, session: int, records: Iterable[Mapping[str, Any]]) -> None:
        """Write records (without the session's own) as rows of a session that has no rows yet.

        Raises:
            Invalid: an id in them is too long.
            KeyError, TypeError, ValueError, OverflowError: a record does not have the form that `records` writes.
        """
        declared = {table: self._db.columns(table) for table in DUMPED}
        waiting: dict[str, list[tuple[Any, ...]]] = {}
        for record in records:
            table = record["type"]
            waiting.setdefault(table, []).append(_row(session, table, declared[table], record))
            if len(waiting[table]) >= BATCH:
                self._insert(table, declared[table], waiting.pop(table))
        for table, rows in waiting.items():
            self._insert(table, declared[table], rows)

    def _insert(self, table: str, declared: Mapping[str, str], rows: list[tuple[Any, ...]]) -> None:
        # The position of a summary is half a place before a message.
        holds = [HOLDS["REAL" if name == "position" else kind] for name, kind in declared.items()]
        for row in rows:
            for name, value, kinds in zip(declared, row, holds, strict=True):
                if value is not None and type(value) not in kinds:
                    raise ValueError(f"bad value for {name} in {table}: {str(value)[:80]}")
                if name in INDEXED and isinstance(value, str):
                    refuse_long(value, f"{name} in {table}")
        self._db.run_many(insert(table, tuple(declared)), rows)


def _record(table: str, columns: Iterable[str], row: tuple[Any, ...]) -> dict[str, Any]:
    """Return the record of a row: the columns that have a value, and the number in its key instead of that."""
    first, *rest = columns
    values = {name: value for name, value in zip(rest, row[1:], strict=True) if value is not None}
    if (packed := values.pop("raw", None)) is not None:
        raw = unpack(packed) or b""
        try:
            values["raw"] = raw.decode()
        except UnicodeDecodeError:
            values["raw"] = raw
    numbered = {} if first == "session" else {"n": number(row[0])}
    return {"type": table, **numbered, **{name: _out(value) for name, value in values.items()}}


def _row(session: int, table: str, columns: Iterable[str], record: Mapping[str, Any]) -> tuple[Any, ...]:
    first, *rest = columns
    values = {name: _in(record.get(name)) for name in rest}
    if table == "entries" and (raw := values["raw"]) is not None:
        values["raw"] = pack(raw.encode() if isinstance(raw, str) else raw)
    return (session if first == "session" else key(session, _number(record["n"])), *values.values())


def _number(value: Any) -> int:
    if not isinstance(value, int) or not 0 <= value < 1 << 32:
        raise ValueError(f"expected a number of a row, got {shown(value)}")
    return value


def _out(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _in(value: Any) -> Any:
    if isinstance(value, Mapping):
        return base64.b64decode(value["base64"], validate=True)
    return value

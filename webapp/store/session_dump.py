"""Writes a whole session as records and reads them back; our own export consists of these records.

Records are JSON-ready: the session first, then the tables of KEYED, the items of operations, and the tables of OWNED,
each in the order of its rows. Bytes are base64. Loaded records are checked like the store itself (`faults_of`) before
they are kept.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from webapp.store.engine import Engine
from webapp.store.keys import bounds, key, number, refuse_long
from webapp.store.log import ENTRY_COLUMNS, MESSAGE_COLUMNS, pack, unpack
from webapp.store.operations import COLUMNS as OPERATION_COLUMNS
from webapp.store.operations import ITEM_COLUMNS
from webapp.store.sessions import COLUMNS, SessionRow
from webapp.store.sql import insert, listed
from webapp.store.summaries import COLUMNS as SUMMARY_COLUMNS
from webapp.store.usage import SAMPLE_COLUMNS, CallRow

# table -> its columns; the first tells the row with its session, or the session alone
KEYED: dict[str, tuple[str, ...]] = {
    "entries": ENTRY_COLUMNS,
    "messages": MESSAGE_COLUMNS,
    "operations": OPERATION_COLUMNS,
    "samples": SAMPLE_COLUMNS,
    "summaries": SUMMARY_COLUMNS,
}
OWNED: dict[str, tuple[str, ...]] = {
    "context_items": ("session", "view", "position", "kind", "ref", "stand_in"),
    "totals": ("session", "view", "region", "tokens", "messages"),
    "calls": ("session", *CallRow._fields),
}
# Rows that are read or written at a time.
BATCH = 500
# Everything that has records beside the session's own.
COLUMNS_OF: dict[str, tuple[str, ...]] = {**KEYED, "operation_items": ITEM_COLUMNS, **OWNED}
# Session columns that belong to a place and not to the session.
LOCAL = frozenset({"key", "deleted_at", "path"})
# What a column of a declared type may hold besides NULL; SQLite itself takes anything.
HOLDS: dict[str, tuple[type, ...]] = {
    "INTEGER": (int,), "REAL": (int, float), "TEXT": (str,), "BLOB": (bytes,),
}  # fmt: skip
# Columns of texts in an index.
INDEXED = frozenset({"source_id", "call_key", "region", "change"})
SESSION_COLUMNS = tuple(name for name in COLUMNS if name not in LOCAL)


class Dump:
    """Reads and writes all rows of one session."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    def records(self, row: SessionRow) -> Iterator[dict[str, Any]]:
        """Yield every row of a session as a record."""
        yield {"type": "session", **{name: _out(getattr(row, name)) for name in SESSION_COLUMNS}}
        low, high = bounds(row.key)
        for table, columns in KEYED.items():
            sql = f"SELECT {listed(columns)} FROM {table} WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?"
            at = low
            while rows := self._db.rows(sql, (at, high, BATCH)):
                for found in rows:
                    yield self._keyed(table, columns, found)
                at = rows[-1][0] + 1
        sql = (
            f"SELECT {listed(ITEM_COLUMNS)} FROM operation_items WHERE operation BETWEEN ? AND ? "
            "ORDER BY operation, no, change"
        )
        for operation, *values in self._db.rows(sql, (low, high)):
            yield {"type": "operation_items", "n": number(operation), **_named(ITEM_COLUMNS[1:], values)}
        for table, columns in OWNED.items():
            sql = f"SELECT {listed(columns[1:])} FROM {table} WHERE session = ? ORDER BY 1, 2"
            for found in self._db.rows(sql, (row.key,)):
                yield {"type": table, **_named(columns[1:], found)}

    def _keyed(self, table: str, columns: tuple[str, ...], found: tuple[Any, ...]) -> dict[str, Any]:
        values = _named(columns[1:], found[1:])
        if "raw" in values:
            raw = unpack(found[columns.index("raw")]) or b""
            values.pop("raw")
            try:
                values["raw"] = raw.decode()
            except UnicodeDecodeError:
                values["raw"] = _out(raw)
        return {"type": table, "n": number(found[0]), **values}

    def load(self, session: int, records: Iterable[Mapping[str, Any]]) -> None:
        """Write records (without the session's own) as rows of a session that has no rows yet.

        Raises:
            Invalid: an id in them is too long.
            KeyError, TypeError, ValueError, OverflowError: a record does not have the form that `records` writes.
        """
        waiting: dict[str, list[tuple[Any, ...]]] = {}
        for record in records:
            table = record["type"]
            waiting.setdefault(table, []).append(_row(session, table, record))
            if len(waiting[table]) >= BATCH:
                self._insert(table, waiting.pop(table))
        for table, rows in waiting.items():
            self._insert(table, rows)

    def _insert(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        columns = COLUMNS_OF[table]
        holds = self._holds(table, columns)
        for row in rows:
            for name, value, kinds in zip(columns, row, holds, strict=True):
                if value is not None and type(value) not in kinds:
                    raise ValueError(f"bad value for {name} in {table}: {str(value)[:80]}")
                if name in INDEXED and isinstance(value, str):
                    refuse_long(value, f"{name} in {table}")
        self._db.run_many(insert(table, columns), rows)

    def _holds(self, table: str, columns: Iterable[str]) -> list[tuple[type, ...]]:
        """Return the types that each column accepts."""
        declared = {name: HOLDS[kind] for name, kind in self._db.columns(table).items()}
        if "position" in declared:  # the position of a summary is half a place before a message
            declared["position"] = HOLDS["REAL"]
        return [declared[name] for name in columns]


def _row(session: int, table: str, record: Mapping[str, Any]) -> tuple[Any, ...]:
    values = {name: _in(record.get(name)) for name in COLUMNS_OF[table][1:]}
    if table == "entries" and (raw := values["raw"]) is not None:
        values["raw"] = pack(raw.encode() if isinstance(raw, str) else raw)
    return (session if table in OWNED else key(session, _number(record["n"])), *values.values())


def _number(value: Any) -> int:
    if not isinstance(value, int) or not 0 <= value < 1 << 32:
        raise ValueError(f"expected a number of a row, got {value!r}")
    return value


def _named(columns: Iterable[str], values: Iterable[Any]) -> dict[str, Any]:
    """Return the columns that have a value."""
    return {name: _out(value) for name, value in zip(columns, values, strict=True) if value is not None}


def _out(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _in(value: Any) -> Any:
    if isinstance(value, Mapping):
        return base64.b64decode(value["base64"], validate=True)
    return value

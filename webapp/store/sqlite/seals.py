"""Seals in SQLite: temporary triggers of our own connections note every row with its hash; the commit writes the seals.

Another program that opens the database has no such triggers.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Any

from webapp.store.parts import PARTS, Part, digest, of_rows, rows_of
from webapp.store.sql import listed

SCHEMA = """
CREATE TABLE seals (
    session INTEGER NOT NULL,
    part TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (session, part)
) WITHOUT ROWID
"""
ADD = (  # SQLite has no XOR
    "INSERT INTO seals (session, part, value) VALUES (?, ?, ?) ON CONFLICT (session, part) DO UPDATE SET "
    "value = (seals.value | excluded.value) - (seals.value & excluded.value)"
)


class Seals:
    """The changes of seals caused by the rows of a transaction, kept for one connection until it commits."""

    def __init__(self) -> None:
        self.noted: dict[tuple[int, str], int] = {}
        self._watching = False

    def watch(self, connection: sqlite3.Connection) -> None:
        """Record every row that this connection writes from now on; call it outside of transactions."""
        if self._watching:
            return
        connection.create_function("seal_row", -1, self.note)
        for part in PARTS:
            for name, event, rows in (
                ("in", "INSERT", ("NEW",)),
                ("out", "DELETE", ("OLD",)),
                ("change", f"UPDATE OF {listed(part.columns)}", ("OLD", "NEW")),
            ):
                calls = ", ".join(_call(part, row) for row in rows)
                connection.execute(
                    f"CREATE TEMP TRIGGER seal_{part.name}_{name} AFTER {event} ON main.{part.table} "
                    f"BEGIN SELECT {calls}; END"
                )
        self._watching = True

    def note(self, part: str, session: int, *values: Any) -> None:
        """Record a row that was added or removed; both change a seal in the same way."""
        value = digest(values)
        self.noted[session, part] = self.noted.get((session, part), 0) ^ value

    def write(self, connection: sqlite3.Connection) -> None:
        """Write the changed seals; call it last before the commit."""
        if self.noted:
            rows = [(session, part, value) for (session, part), value in self.noted.items() if value]
            connection.executemany(ADD, rows)
            self.noted.clear()

    def forget(self) -> None:
        """Discard the recorded changes, because the transaction was rolled back."""
        self.noted.clear()


def _call(part: Part, row: str) -> str:
    return f"seal_row('{part.name}', {part.session.format(row + '.')}, {listed(part.columns, row + '.')})"


def seal_again(connection: sqlite3.Connection, names: Collection[str]) -> None:
    """Write the seals of these parts for the rows as they are now, after a migration that changed them."""
    for part in PARTS:
        if part.name in names:
            connection.execute("DELETE FROM seals WHERE part = ?", (part.name,))
            found = of_rows(part, connection.execute(rows_of(part)))
            connection.executemany(ADD, [(owner, name, value) for (owner, name), value in found.items()])

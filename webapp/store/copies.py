"""Pruned copies of sessions, written for an agent to resume from, with their origin and promised size."""

from __future__ import annotations

from typing import NamedTuple

from webapp.store.engine import Subject
from webapp.store.sql import insert


class CopyRow(NamedTuple):
    """One copy. `tokens_before` is the size of its origin's context, `tokens_promised` the expected size of its own."""

    session_id: str
    origin_id: str
    title: str
    at: int
    tokens_before: int
    tokens_promised: int


_SELECT = f"SELECT {', '.join(CopyRow._fields)} FROM copies"


class Copies(Subject):
    """Rows of `copies`."""

    def put(self, copy: CopyRow) -> None:
        """Store a new copy."""
        self._db.run(insert("copies", CopyRow._fields), copy)

    def find(self, session_id: str) -> CopyRow | None:
        """Return the copy with this session id, or None."""
        row = self._db.row(f"{_SELECT} WHERE session_id = ?", (session_id,))
        return CopyRow(*row) if row else None

    def of(self, origin_id: str) -> list[CopyRow]:
        """Return the copies made of a session, newest first."""
        rows = self._db.rows(f"{_SELECT} WHERE origin_id = ? ORDER BY at DESC", (origin_id,))
        return [CopyRow(*row) for row in rows]

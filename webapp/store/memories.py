"""Memories and learnings: short texts that outlive sessions, found by their words.

A search is for any of its words, best match first; among equals the latest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from webapp.errors import NotFound
from webapp.store.engine import Subject

MEMORY, LEARNING = "memory", "learning"
# The most texts of a kind in a list.
LISTED = 1_000
_COLUMNS = "id, text, session_id, message_id, created_at, updated_at"


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory or learning, and where it was recorded."""

    id: int
    text: str
    session_id: str | None
    message_id: str | None
    created_at: int
    updated_at: int


class Memories(Subject):
    """All memories and learnings."""

    def add(self, kind: str, text: str, session_id: str | None, message_id: str | None, at: int) -> MemoryRow:
        """Add a text; return its row."""
        sql = (
            "INSERT INTO memories (kind, text, session_id, message_id, created_at, updated_at) "
            f"VALUES (?, ?, ?, ?, ?, ?) RETURNING {_COLUMNS}"
        )
        [row] = self._db.rows(sql, (kind, text, session_id, message_id, at, at))
        self._db.words.put_memory(row[0], text)
        return MemoryRow(*row)

    def get(self, kind: str, number: int) -> MemoryRow:
        """Return one text.

        Raises:
            NotFound: none of this kind has this number.
        """
        row = self._db.row(f"SELECT {_COLUMNS} FROM memories WHERE id = ? AND kind = ?", (number, kind))
        if row is None:
            raise NotFound(kind, number)
        return MemoryRow(*row)

    def change(self, kind: str, number: int, text: str, at: int) -> MemoryRow:
        """Replace the text of one row.

        Raises:
            NotFound: none of this kind has this number.
        """
        self._db.run(
            "UPDATE memories SET text = ?, updated_at = ? WHERE id = ? AND kind = ?", (text, at, number, kind)
        )
        found = self.get(kind, number)
        self._db.words.put_memory(number, text)
        return found

    def remove(self, kind: str, number: int) -> None:
        """Delete one text.

        Raises:
            NotFound: none of this kind has this number.
        """
        if not self._db.run("DELETE FROM memories WHERE id = ? AND kind = ?", (number, kind)):
            raise NotFound(kind, number)
        self._db.words.remove_memory(number)

    def all(self, kind: str) -> list[MemoryRow]:
        """Return the texts of a kind, latest first, at most `LISTED`."""
        sql = f"SELECT {_COLUMNS} FROM memories WHERE kind = ? ORDER BY updated_at DESC, id DESC LIMIT ?"
        return [MemoryRow(*row) for row in self._db.rows(sql, (kind, LISTED))]

    def search(self, kind: str, words: Iterable[str], limit: int = 50) -> list[MemoryRow]:
        """Return the texts of a kind with any of the words, best match first; without words there are none."""
        rows = self._db.words.memories_with(kind, words, _COLUMNS.split(", "), limit)
        return [MemoryRow(*row) for row in rows]

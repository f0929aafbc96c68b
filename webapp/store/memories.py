"""Memories and learnings: short texts that outlive sessions, found by their words.

Triggers keep the index in step with the table. A search finds texts with any of its words, best match first; among
equals the latest first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from webapp.errors import NotFound
from webapp.store.connection import Connections

MEMORY, LEARNING = "memory", "learning"
_COLUMNS = "id, kind, text, session_id, message_id, created_at, updated_at"
_WORD = re.compile(r"\w+", re.UNICODE)


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory or learning (`kind`), and where it was recorded."""

    id: int
    kind: str
    text: str
    session_id: str | None
    message_id: str | None
    created_at: int
    updated_at: int


class Memories:
    """All memories and learnings. Writes belong inside `Connections.write()`."""

    def __init__(self, db: Connections) -> None:
        self._db = db

    def add(self, kind: str, text: str, session_id: str | None, message_id: str | None, at: int) -> MemoryRow:
        """Add a text; return its row."""
        self._db.run(
            "INSERT INTO memories (kind, text, session_id, message_id, created_at, updated_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (kind, text, session_id, message_id, at, at),
        )
        return self.get(kind, int(self._db.value("SELECT last_insert_rowid()")))

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
        return self.get(kind, number)

    def remove(self, kind: str, number: int) -> None:
        """Delete one text.

        Raises:
            NotFound: none of this kind has this number.
        """
        if not self._db.run("DELETE FROM memories WHERE id = ? AND kind = ?", (number, kind)):
            raise NotFound(kind, number)

    def index_again(self) -> None:
        """Rebuild the word index from the texts."""
        self._db.run("INSERT INTO memory_words (memory_words) VALUES ('rebuild')")

    def all(self, kind: str, limit: int = 1_000) -> list[MemoryRow]:
        """Return the texts of a kind, latest first."""
        sql = f"SELECT {_COLUMNS} FROM memories WHERE kind = ? ORDER BY updated_at DESC, id DESC LIMIT ?"
        return [MemoryRow(*row) for row in self._db.rows(sql, (kind, limit))]

    def search(self, kind: str, words: Iterable[str], limit: int = 50) -> list[MemoryRow]:
        """Return the texts of a kind with any of the words, best match first; without words there are none."""
        expression = _any_of(words)
        if not expression:
            return []
        columns = ", ".join("m." + name for name in _COLUMNS.split(", "))
        sql = (
            f"SELECT {columns} FROM memory_words w JOIN memories m ON m.id = w.rowid "
            "WHERE memory_words MATCH ? AND m.kind = ? ORDER BY bm25(memory_words), m.updated_at DESC, m.id DESC "
            "LIMIT ?"
        )
        rows: list[tuple[Any, ...]] = self._db.rows(sql, (expression, kind, limit))
        return [MemoryRow(*row) for row in rows]


def _any_of(words: Iterable[str]) -> str:
    """Return an FTS5 expression for any of the words; characters other than letters and digits only separate words."""
    text = " ".join(words).replace("\0", " ").encode("utf-8", "replace").decode()
    found = list(dict.fromkeys(_WORD.findall(text)))[:64]
    return " OR ".join(f'"{word}"' for word in found)

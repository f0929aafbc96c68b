"""The index of words in SQLite: two FTS5 tables. That of entries, which may be large, holds no text of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from webapp.store.engine import Engine
from webapp.store.indexed_text import INDEXED_CHARS
from webapp.store.keys import SHIFT, bounds, key, number
from webapp.store.search_index import SearchFilter, WordIndex, any_words, in_pairs, terms

# About a millisecond of work with the write lock held.
MERGE_PAGES = 24
_CALLED = "EXISTS (SELECT 1 FROM json_each(m.card, '$.calls') c WHERE c.value ->> 'name' = ?)"
_OF_TOOL = f"(m.card ->> 'tool' = ? OR {_CALLED})"


def match_expression(q: str) -> str | None:
    """Return a search text as an FTS5 expression, None for a text without words."""
    quoted = ['"' + text.replace('"', '""') + '"' + ("*" if begins else "") for text, begins in terms(q)]
    return " ".join(quoted) or None


class Words(WordIndex):
    """The FTS5 tables `entry_words` and `memory_words`."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    def add(self, session: int, texts: Iterable[tuple[int, str]]) -> None:
        self._db.run_many("INSERT INTO entry_words (rowid, text) VALUES (?, ?)", _rows(session, texts))

    def remove(self, session: int, texts: Iterable[tuple[int, str]]) -> None:
        sql = "INSERT INTO entry_words (entry_words, rowid, text) VALUES ('delete', ?, ?)"
        self._db.run_many(sql, _rows(session, texts))

    def clear(self) -> None:
        self._db.run("INSERT INTO entry_words (entry_words) VALUES ('delete-all')")

    def merge(self) -> bool:
        """Merge some of the index's segments, a bounded amount of work; return whether more may be needed."""
        before = self._db.value("SELECT total_changes()")
        self._db.run("INSERT INTO entry_words (entry_words, rank) VALUES ('merge', ?)", (MERGE_PAGES,))
        return int(self._db.value("SELECT total_changes()")) - int(before) > 1

    def numbers(self, session: int) -> set[int]:
        sql = "SELECT id FROM entry_words_docsize WHERE id BETWEEN ? AND ?"
        return {number(found) for (found,) in self._db.each(sql, bounds(session))}

    def in_session(self, session: int, q: str) -> list[int]:
        expression = match_expression(q)
        if expression is None:
            return []
        sql = (
            "SELECT DISTINCT e.message_no FROM entry_words w JOIN entries e ON e.key = w.rowid "
            "WHERE entry_words MATCH ? AND w.rowid BETWEEN ? AND ? ORDER BY e.message_no"
        )
        return [no for (no,) in self._db.rows(sql, (expression, *bounds(session)))]

    def everywhere(
        self, q: str, within: SearchFilter, limit: int, offset: int = 0
    ) -> list[tuple[int, int, int]]:
        expression = match_expression(q)
        if expression is None:
            return []
        where, values = within.condition("w.rowid", _OF_TOOL)
        sql = (
            "SELECT w.rowid, e.message_no FROM entry_words w JOIN entries e ON e.key = w.rowid "
            f"LEFT JOIN messages m ON m.key = (w.rowid >> {SHIFT} << {SHIFT}) + e.message_no "
            f"WHERE entry_words MATCH ? {where} ORDER BY bm25(entry_words), w.rowid DESC LIMIT ? OFFSET ?"
        )
        rows = self._db.rows(sql, (expression, *values, limit, offset))
        return [(k >> SHIFT, number(k), no) for k, no in rows]

    def put_memory(self, number: int, text: str) -> None:
        self.remove_memory(number)
        self._db.run("INSERT INTO memory_words (rowid, text) VALUES (?, ?)", (number, in_pairs(text)))

    def remove_memory(self, number: int) -> None:
        self._db.run("DELETE FROM memory_words WHERE rowid = ?", (number,))

    def memories(self) -> set[int]:
        return {number for (number,) in self._db.each("SELECT id FROM memory_words_docsize")}

    def memories_with(
        self, kind: str, words: Iterable[str], columns: Sequence[str], limit: int
    ) -> list[tuple[Any, ...]]:
        expression = " OR ".join(
            found for word in any_words(words) if (found := match_expression(f'"{word}"'))
        )
        if not expression:
            return []
        sql = (
            f"SELECT {', '.join('m.' + name for name in columns)} FROM memory_words w "
            "JOIN memories m ON m.id = w.rowid WHERE memory_words MATCH ? AND m.kind = ? "
            "ORDER BY bm25(memory_words), m.updated_at DESC, m.id DESC LIMIT ?"
        )
        return self._db.rows(sql, (expression, kind, limit))


def _rows(session: int, texts: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    return ((key(session, seq), in_pairs(text[:INDEXED_CHARS])) for seq, text in texts if text)

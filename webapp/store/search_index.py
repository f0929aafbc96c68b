"""Full-text search over everything ever said. The index holds words only; the text stays in the log."""

from __future__ import annotations

import re
from collections.abc import Iterable

from webapp.store.connection import Connections
from webapp.store.indexed_text import INDEXED_CHARS
from webapp.store.keys import SHIFT, bounds, key, number

# About a millisecond of work with the write lock held.
MERGE_PAGES = 24
_WORDS = re.compile(r'"([^"]*)"|(\S+)')
_SAYABLE = re.compile(r"\w", re.UNICODE)


def match_expression(q: str) -> str | None:
    """Return a search text as an FTS5 expression: all words, "phrases in quotes", the last word as a prefix.

    Return None for a text without words. Operators of FTS5 count as words.
    """
    terms = [(phrase or word, bool(phrase)) for phrase, word in _WORDS.findall(_clean(q))]
    terms = [(text, quoted) for text, quoted in terms if _SAYABLE.search(text)]
    if not terms:
        return None
    quoted_terms = ['"' + text.replace('"', '""') + '"' for text, _ in terms]
    if not terms[-1][1]:
        quoted_terms[-1] += "*"
    return " ".join(quoted_terms)


def _clean(q: str) -> str:
    """Return the text without NUL and half surrogates, which SQLite does not take, cut to 500 characters."""
    return q[:500].replace("\0", " ").encode("utf-8", "replace").decode()


class Words:
    """The index of words, a row an entry."""

    def __init__(self, db: Connections) -> None:
        self._db = db

    def add(self, session: int, texts: Iterable[tuple[int, str]]) -> None:
        """Index texts, each (seq, text)."""
        rows = ((key(session, seq), text[:INDEXED_CHARS]) for seq, text in texts if text)
        self._db.run_many("INSERT INTO entry_words (rowid, text) VALUES (?, ?)", rows)

    def remove(self, session: int, texts: Iterable[tuple[int, str]]) -> None:
        """Remove texts from the index; they have to be equal to those that were added."""
        rows = ((key(session, seq), text[:INDEXED_CHARS]) for seq, text in texts if text)
        self._db.run_many("INSERT INTO entry_words (entry_words, rowid, text) VALUES ('delete', ?, ?)", rows)

    def clear(self) -> None:
        """Empty the index, to be filled again from the log."""
        self._db.run("INSERT INTO entry_words (entry_words) VALUES ('delete-all')")

    def merge(self) -> bool:
        """Merge some of the index's segments, a bounded amount of work; return whether more may be left."""
        before = self._db.changes()
        self._db.run("INSERT INTO entry_words (entry_words, rank) VALUES ('merge', ?)", (MERGE_PAGES,))
        return self._db.changes() - before > 1

    def in_session(self, session: int, q: str) -> list[int]:
        """Return the numbers of a session's messages that match, ascending."""
        expression = match_expression(q)
        if expression is None:
            return []
        sql = (
            "SELECT DISTINCT e.message_no FROM entry_words w JOIN entries e ON e.key = w.rowid "
            "WHERE entry_words MATCH ? AND w.rowid BETWEEN ? AND ? ORDER BY e.message_no"
        )
        return [no for (no,) in self._db.rows(sql, (expression, *bounds(session)))]

    def everywhere(self, q: str, session: int | None, limit: int) -> list[tuple[int, int, int]]:
        """Return (session, seq, message number) of the best matching entries, best first."""
        expression = match_expression(q)
        if expression is None:
            return []
        where, values = "", []
        if session is not None:
            where, values = "AND w.rowid BETWEEN ? AND ?", list(bounds(session))
        sql = (
            "SELECT w.rowid, e.message_no FROM entry_words w JOIN entries e ON e.key = w.rowid "
            f"WHERE entry_words MATCH ? {where} ORDER BY bm25(entry_words), w.rowid DESC LIMIT ?"
        )
        rows = self._db.rows(sql, (expression, *values, limit))
        return [(k >> SHIFT, number(k), no) for k, no in rows]

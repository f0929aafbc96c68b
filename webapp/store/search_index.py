"""Full-text search over all messages. The index holds words only; the text stays in the log."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from webapp.store.connection import Connections
from webapp.store.indexed_text import INDEXED_CHARS
from webapp.store.keys import MASK, SHIFT, bounds, key, number

# Words of a search. FTS5 takes time that grows with the square of their number, and cannot be stopped in between.
MOST_WORDS = 16
# About a millisecond of work with the write lock held.
MERGE_PAGES = 24
_WORDS = re.compile(r'"([^"]*)"|(\S+)')
_WORD = re.compile(r"\w+")


def match_expression(q: str) -> str | None:
    """Return a search text as an FTS5 expression: all words, "phrases in quotes", the last word as a prefix.

    Return None for a text without words. Operators of FTS5 count as words. A word that is
    repeated counts once, and words after the first `MOST_WORDS` do not count.
    """
    terms = [(phrase or word, bool(phrase)) for phrase, word in _WORDS.findall(_clean(q))]
    terms = _few([(text, quoted) for text, quoted in terms if _WORD.search(text)])
    if not terms:
        return None
    quoted_terms = ['"' + text.replace('"', '""') + '"' for text, _ in terms]
    if not terms[-1][1]:
        quoted_terms[-1] += "*"
    return " ".join(quoted_terms)


def _few(terms: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Return the terms without repetitions, each at its last place, as far as they have `MOST_WORDS` together."""
    kept: list[tuple[str, bool]] = []
    left = MOST_WORDS
    for text, quoted in reversed(dict.fromkeys(reversed(terms))):
        ends = [found.end() for found in _WORD.finditer(text)][:left]
        if ends:
            kept.append((text[: ends[-1]], quoted))
            left -= len(ends)
    return kept


def _clean(q: str) -> str:
    """Return the text, cut to 500 characters, without NUL and half surrogates, which SQLite does not accept."""
    return q[:500].replace("\0", " ").encode("utf-8", "replace").decode()


class Within(NamedTuple):
    """The messages that a search is limited to; times are in milliseconds, `until` is exclusive."""

    session: int | None = None
    role: str | None = None
    tool: str | None = None
    since: int | None = None
    until: int | None = None

    def condition(self) -> tuple[str, list[Any]]:
        """Return the SQL condition on `w` and `m`, and its values."""
        low, high = bounds(self.session) if self.session is not None else (None, None)
        called = "EXISTS (SELECT 1 FROM json_each(m.card, '$.calls') c WHERE c.value ->> 'name' = ?)"
        parts: list[tuple[str, list[Any]]] = [
            ("w.rowid BETWEEN ? AND ?", [low, high]),
            ("m.role = ?", [self.role]),
            (f"(m.card ->> 'tool' = ? OR {called})", [self.tool, self.tool]),
            ("m.at >= ?", [self.since]),
            ("m.at < ?", [self.until]),
        ]
        asked = [(sql, values) for sql, values in parts if values[0] is not None]
        return "".join(f"AND {sql} " for sql, _ in asked), [one for _, values in asked for one in values]


class Words:
    """The word index, with one row for each entry."""

    def __init__(self, db: Connections) -> None:
        self._db = db

    def add(self, session: int, texts: Iterable[tuple[int, str]]) -> None:
        """Index texts, each (seq, text)."""
        rows = ((key(session, seq), text[:INDEXED_CHARS]) for seq, text in texts if text)
        self._db.run_many("INSERT INTO entry_words (rowid, text) VALUES (?, ?)", rows)

    def remove(self, session: int, texts: Iterable[tuple[int, str]]) -> None:
        """Remove texts from the index; they have to be exactly those that were added."""
        rows = ((key(session, seq), text[:INDEXED_CHARS]) for seq, text in texts if text)
        self._db.run_many("INSERT INTO entry_words (entry_words, rowid, text) VALUES ('delete', ?, ?)", rows)

    def clear(self) -> None:
        """Empty the index, so that it can be filled again from the log."""
        self._db.run("INSERT INTO entry_words (entry_words) VALUES ('delete-all')")

    def merge(self) -> bool:
        """Merge some of the index's segments, a bounded amount of work; return whether more may be needed."""
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

    def everywhere(self, q: str, within: Within, limit: int, offset: int = 0) -> list[tuple[int, int, int]]:
        """Return (session, seq, message number) of the best matching entries, best first, from the `offset`-th on."""
        expression = match_expression(q)
        if expression is None:
            return []
        where, values = within.condition()
        sql = (
            "SELECT w.rowid, e.message_no FROM entry_words w JOIN entries e ON e.key = w.rowid "
            f"LEFT JOIN messages m ON m.key = (w.rowid & ~{MASK}) | e.message_no "
            f"WHERE entry_words MATCH ? {where} ORDER BY bm25(entry_words), w.rowid DESC LIMIT ? OFFSET ?"
        )
        rows = self._db.rows(sql, (expression, *values, limit, offset))
        return [(k >> SHIFT, number(k), no) for k, no in rows]

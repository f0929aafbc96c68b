"""The index of words in PostgreSQL: `tsvector` under GIN, with words cut as SQLite's FTS5 cuts them.

PostgreSQL's own parser takes paths, addresses and file names for one word each; a search would not find in them what it
finds in SQLite. So words are cut here: letters and digits, in small letters, without accents.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from webapp.store.engine import Engine
from webapp.store.indexed_text import INDEXED_CHARS
from webapp.store.keys import SHIFT, bounds, key, number
from webapp.store.search_index import SearchFilter, WordIndex, any_words, terms

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
# A tsvector's own limits: characters of a word, the last place that is told apart, places of a word, bytes in all.
LONGEST = 500
LAST_PLACE = 16_383
PLACES = 255
BYTES = 1_000_000
# A search of all sessions ranks the matches in the newest blocks of entries, as many blocks as are needed for so many
# matches. It then takes as long in a store of ten million entries as in one of a hundred thousand. The index knows the
# block of an entry.
ENOUGH = 1_000
BLOCK = 14  # bits of an entry's number within its block
# Matches per block differ, so more blocks are taken than the last ones make expect; at most so many times more.
SPARE, WIDER = 1.25, 16
_ENTRIES = "JOIN entries e ON e.key = w.key "
_MESSAGES = f"LEFT JOIN messages m ON m.key = (w.key >> {SHIFT} << {SHIFT}) + e.message_no "


def words(text: str) -> list[str]:
    """Return the words of a text in its order."""
    if not text.isascii():
        marked = unicodedata.normalize("NFD", text)
        bare = "".join(one for one in marked if not unicodedata.combining(one))
        text = unicodedata.normalize("NFC", bare)
    return [word[:LONGEST] for word in _WORD.findall(text.lower())]


def vector(text: str) -> str:
    """Return the words of a text with their places, as a tsvector is written."""
    places: dict[str, list[int]] = {}
    size = 0
    for place, word in enumerate(words(text), 1):
        found = places.setdefault(word, [])
        if len(found) < PLACES:
            size += 2 if found else 6 + len(word.encode())
            if size > BYTES:
                places = {kept: at for kept, at in places.items() if at}
                break
            found.append(min(place, LAST_PLACE))
    return " ".join(f"'{word}':{','.join(map(str, at))}" for word, at in places.items())


def query(q: str) -> str:
    """Return a search text as a tsquery is written, "" for a text without words."""
    found = []
    for text, begins in terms(q):
        quoted = [f"'{word}'" for word in words(text)]
        if quoted:
            quoted[-1] += ":*" if begins else ""
            found.append(f"({' <-> '.join(quoted)})")
    return " & ".join(found)


def condition(within: SearchFilter) -> tuple[str, list[Any]]:
    """Return the SQL condition on `w` and `m`, and its values."""
    low, high = bounds(within.session) if within.session is not None else (None, None)
    card = r"replace(m.card, '\u0000', '\u0020')::json"  # PostgreSQL reads no text with a NUL out of JSON
    called = f"EXISTS (SELECT 1 FROM json_array_elements({card} -> 'calls') c WHERE c ->> 'name' = ?)"
    parts: list[tuple[str, list[Any]]] = [
        ("w.key BETWEEN ? AND ?", [low, high]),
        ("m.role = ?", [within.role]),
        (f"({card} ->> 'tool' = ? OR {called})", [within.tool, within.tool]),
        ("m.at >= ?", [within.since]),
        ("m.at < ?", [within.until]),
    ]
    asked = [(sql, values) for sql, values in parts if values[0] is not None]
    return "".join(f"AND {sql} " for sql, _ in asked), [one for _, values in asked for one in values]


class VectorWords(WordIndex):
    """The tables `entry_words` and `memory_words`."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    def add(self, session: int, texts: Iterable[tuple[int, str]]) -> None:
        """Index texts, each (seq, text)."""
        rows = [(key(session, seq), vector(text[:INDEXED_CHARS])) for seq, text in texts if text]
        self._db.run_many(
            "INSERT INTO entry_words (key, words) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET words = excluded.words",
            rows,
        )

    def remove(self, session: int, texts: Iterable[tuple[int, str]]) -> None:
        """Remove texts from the index."""
        self._db.run_many("DELETE FROM entry_words WHERE key = ?", [(key(session, seq),) for seq, _ in texts])

    def clear(self) -> None:
        """Empty the index of entries, so that it can be filled again from the log."""
        self._db.run("DELETE FROM entry_words")

    def merge(self) -> bool:
        """Gather what waits beside the index; nothing is left then."""
        self._db.rows("SELECT gin_clean_pending_list('entry_words_index')")
        return False

    def numbers(self, session: int) -> set[int]:
        """Return the seqs of a session's entries that are in the index."""
        sql = "SELECT key FROM entry_words WHERE key BETWEEN ? AND ?"
        return {number(found) for (found,) in self._db.each(sql, bounds(session))}

    def in_session(self, session: int, q: str) -> list[int]:
        """Return the numbers of a session's messages that match, ascending."""
        sought = query(q)
        if not sought:
            return []
        sql = (
            "SELECT DISTINCT e.message_no FROM entry_words w JOIN entries e ON e.key = w.key "
            "WHERE w.words @@ ?::tsquery AND w.key BETWEEN ? AND ? ORDER BY e.message_no"
        )
        return [no for (no,) in self._db.rows(sql, (sought, *bounds(session)))]

    def everywhere(
        self, q: str, within: SearchFilter, limit: int, offset: int = 0
    ) -> list[tuple[int, int, int]]:
        """Return (session, seq, message number) of the best matching entries, best first, from the `offset`-th on."""
        sought = query(q)
        if not sought:
            return []
        where, values = condition(within)
        joined = f"{_ENTRIES}{_MESSAGES}" if "m." in where else ""
        matching = f"FROM entry_words w {joined}WHERE w.words @@ ?::tsquery {where}"
        if within.session is None:
            matching = self._newest(matching, (sought, *values))
        sql = (
            f"SELECT best.key, e.message_no FROM (SELECT w.key, ts_rank(w.words, ?::tsquery, 1) AS rank {matching}"
            "ORDER BY rank DESC, w.key DESC LIMIT ? OFFSET ?) best JOIN entries e ON e.key = best.key "
            "ORDER BY best.rank DESC, best.key DESC"
        )
        rows = self._db.rows(sql, (sought, sought, *values, limit, offset))
        return [(k >> SHIFT, number(k), no) for k, no in rows]

    def _newest(self, matching: str, values: tuple[Any, ...]) -> str:
        """Return the condition of a search, limited to the newest blocks with enough matches, or to none."""
        last = (self._db.value("SELECT max(n) FROM entry_words") or 0) >> BLOCK
        blocks = 2  # the last one may have just begun
        # Read one by one: of a word's beginning the index gathers every match of the whole store.
        limited = matching.replace("w.words @@ ?::tsquery", "(w.words @@ ?::tsquery) IS TRUE")
        limited += f"AND w.n >= {(last - 1) << BLOCK} "
        while blocks <= last:
            found = self._db.value(f"SELECT count(*) {limited}", values)
            if found >= ENOUGH:
                return limited
            blocks *= min(WIDER, max(2, math.ceil(SPARE * ENOUGH / max(1, found))))
            newest = ", ".join(map(str, range(last - blocks + 1, last + 1)))
            limited = f"{matching}AND ARRAY[w.n >> {BLOCK}] && ARRAY[{newest}]::bigint[] "
        return matching

    def put_memory(self, number: int, text: str) -> None:
        """Index a memory or learning that is new or has changed."""
        sql = "INSERT INTO memory_words (id, words) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET words = excluded.words"
        self._db.run(sql, (number, vector(text[:INDEXED_CHARS])))

    def remove_memory(self, number: int) -> None:
        """Remove a memory or learning that was deleted."""
        self._db.run("DELETE FROM memory_words WHERE id = ?", (number,))

    def index_memories_again(self) -> None:
        """Make the index of memories and learnings from their texts."""
        self._db.run("DELETE FROM memory_words")
        for found, text in self._db.rows("SELECT id, text FROM memories"):
            self.put_memory(found, text)

    def memories(self) -> set[int]:
        """Return the numbers of the memories and learnings that are in the index."""
        return {found for (found,) in self._db.rows("SELECT id FROM memory_words")}

    def memories_with(
        self, kind: str, words: Iterable[str], columns: Sequence[str], limit: int
    ) -> list[tuple[Any, ...]]:
        """Return columns of the memories of a kind with any of the words, best match first, then the latest."""
        sought = " | ".join(found for word in any_words(words) if (found := query(f'"{word}"')))
        if not sought:
            return []
        sql = (
            f"SELECT {', '.join('m.' + name for name in columns)} FROM memory_words w "
            "JOIN memories m ON m.id = w.id WHERE w.words @@ ?::tsquery AND m.kind = ? "
            "ORDER BY ts_rank(w.words, ?::tsquery, 1) DESC, m.updated_at DESC, m.id DESC LIMIT ?"
        )
        return self._db.rows(sql, (sought, kind, sought, limit))

"""The index of words in PostgreSQL: `tsvector` under GIN, with words cut as SQLite's FTS5 cuts them.

PostgreSQL's own parser takes a path, an address or a file name as one word, so a search would not find its parts as it
does in SQLite. So words are cut here: letters and digits, in small letters, without accents.
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
from webapp.store.search_index import SearchFilter, WordIndex, any_words, in_pairs, terms

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
# The limits of a tsvector: characters of a word, the largest position, positions of a word, bytes in total.
LONGEST = 500
LAST_PLACE = 16_383
PLACES = 255
BYTES = 1_000_000
# A search of all sessions ranks at least the newest ENOUGH matches, so that it takes as long in a store of ten million
# entries as in one of a hundred thousand. Frequent words are looked for in the newest RECENT blocks, entry by entry,
# because the index would gather all matches of the whole store. For rarer words it can select the blocks.
ENOUGH = 500
RECENT = 4
BLOCK = 14  # bits of an entry's number within its block
# Matches per block differ, so SPARE times as many blocks are taken as the last ones suggest; at most WIDER times more.
SPARE, WIDER = 1.25, 16
_ENTRIES = "JOIN entries e ON e.key = w.key "
_MESSAGES = f"LEFT JOIN messages m ON m.key = (w.key >> {SHIFT} << {SHIFT}) + e.message_no "
_CARD = r"replace(m.card, '\u0000', '\u0020')::json"  # PostgreSQL cannot read a text with a NUL from JSON
_CALLED = f"EXISTS (SELECT 1 FROM json_array_elements({_CARD} -> 'calls') c WHERE c ->> 'name' = ?)"
_OF_TOOL = f"({_CARD} ->> 'tool' = ? OR {_CALLED})"


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
    for place, word in enumerate(words(in_pairs(text)), 1):
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


class VectorWords(WordIndex):
    """The tables `entry_words` and `memory_words`."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    def add(self, session: int, texts: Iterable[tuple[int, str]]) -> None:
        rows = [(key(session, seq), vector(text[:INDEXED_CHARS])) for seq, text in texts if text]
        self._db.run_many(
            "INSERT INTO entry_words (key, words) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET words = excluded.words",
            rows,
        )

    def remove(self, session: int, texts: Iterable[tuple[int, str]]) -> None:
        self._db.run_many("DELETE FROM entry_words WHERE key = ?", [(key(session, seq),) for seq, _ in texts])

    def clear(self) -> None:
        self._db.run("DELETE FROM entry_words")

    def merge(self) -> bool:
        """Gather what waits beside the index; nothing is left then."""
        self._db.rows("SELECT gin_clean_pending_list('entry_words_index')")
        return False

    def numbers(self, session: int) -> set[int]:
        sql = "SELECT key FROM entry_words WHERE key BETWEEN ? AND ?"
        return {number(found) for (found,) in self._db.each(sql, bounds(session))}

    def in_session(self, session: int, q: str) -> list[int]:
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
        sought = query(q)
        if not sought:
            return []
        where, values = within.condition("w.key", _OF_TOOL)
        joined = f"{_ENTRIES}{_MESSAGES}" if "m." in where else ""
        matching = f"FROM entry_words w {joined}WHERE w.words @@ ?::tsquery {where}"
        search = _Search(self._db, matching, (sought, *values))
        best = search.ranked(limit + offset) if within.session is not None else search.newest(limit + offset)
        keys = best[offset : offset + limit]
        nos = dict(self._db.rows_in("SELECT key, message_no FROM entries WHERE key IN ({})", keys))
        return [(k >> SHIFT, number(k), nos[k]) for k in keys if k in nos]

    def put_memory(self, number: int, text: str) -> None:
        sql = "INSERT INTO memory_words (id, words) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET words = excluded.words"
        self._db.run(sql, (number, vector(text[:INDEXED_CHARS])))

    def remove_memory(self, number: int) -> None:
        self._db.run("DELETE FROM memory_words WHERE id = ?", (number,))

    def memories(self) -> set[int]:
        return {found for (found,) in self._db.rows("SELECT id FROM memory_words")}

    def memories_with(
        self, kind: str, words: Iterable[str], columns: Sequence[str], limit: int
    ) -> list[tuple[Any, ...]]:
        sought = " | ".join(found for word in any_words(words) if (found := query(f'"{word}"')))
        if not sought:
            return []
        sql = (
            f"SELECT {', '.join('m.' + name for name in columns)} FROM memory_words w "
            "JOIN memories m ON m.id = w.id WHERE w.words @@ ?::tsquery AND m.kind = ? "
            "ORDER BY ts_rank(w.words, ?::tsquery, 1) DESC, m.updated_at DESC, m.id DESC LIMIT ?"
        )
        return self._db.rows(sql, (sought, kind, sought, limit))


class _Search:
    """A search of entries: `matching` is its SQL from FROM on, with the condition on the words first."""

    def __init__(self, db: Engine, matching: str, values: tuple[Any, ...]) -> None:
        self._db, self._matching, self._values = db, matching, values

    def ranked(self, limit: int) -> list[int]:
        """Return the keys of the best matches, best first."""
        return self._best(self._matching, limit)[0]

    def newest(self, limit: int) -> list[int]:
        """Return the keys of the best among the newest matches, best first; of all matches where they are few."""
        last = self._db.value("SELECT max(n) FROM entry_words") or 0
        recent = self._recent(last - (RECENT << BLOCK))
        if len(recent) >= ENOUGH:
            return recent[:limit]
        blocks, found = RECENT, len(recent)
        while True:
            blocks *= min(WIDER, max(2, math.ceil(SPARE * ENOUGH / max(1, found))))
            if blocks > last >> BLOCK:
                return self.ranked(limit)
            first = (last >> BLOCK) - blocks + 1
            wanted = ", ".join(map(str, range(first, first + blocks)))
            within = f"{self._matching}AND ARRAY[w.n >> {BLOCK}] && ARRAY[{wanted}]::bigint[] "
            best, found = self._best(within, limit)
            if found >= ENOUGH:
                return best

    def _recent(self, after: int) -> list[int]:
        """Return the keys of the newest matches behind an entry, best first; at most `ENOUGH`."""
        one_by_one = self._matching.replace("w.words @@ ?::tsquery", "(w.words @@ ?::tsquery) IS TRUE")
        sql = (
            f"SELECT w.key, ts_rank(w.words, ?::tsquery, 1) {one_by_one}AND w.n > {after} "
            f"ORDER BY w.n DESC LIMIT {ENOUGH}"
        )
        found = self._db.rows(sql, (self._values[0], *self._values))
        return [k for _, k in sorted(((rank, k) for k, rank in found), reverse=True)]

    def _best(self, matching: str, limit: int) -> tuple[list[int], int]:
        """Return the keys of the best matches, best first, and the number of all."""
        sql = (
            f"SELECT w.key, ts_rank(w.words, ?::tsquery, 1) AS rank, count(*) OVER () {matching}"
            "ORDER BY rank DESC, w.key DESC LIMIT ?"
        )
        rows = self._db.rows(sql, (self._values[0], *self._values, limit))
        return [k for k, _, _ in rows], rows[0][2] if rows else 0

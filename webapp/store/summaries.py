"""Summaries, each of messages or of other summaries: a DAG of rows that are written once.

The pruned view has a summary as an item of kind SUMMARY at its `position`, half a place before the first message it
covers. Its row stays when it leaves the view, so that an undo can put it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import orjson

from webapp.store.context import PRUNED, SUMMARY
from webapp.store.engine import Subject
from webapp.store.keys import bounds, key, number
from webapp.store.sql import insert, listed


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One summary. `covers` are (kind, number) pairs, 0 a message and 1 a summary; `cost` is in US dollars."""

    n: int
    text: str
    depth: int
    messages: int
    tokens: int
    replaced_tokens: int
    first_at: int | None
    last_at: int | None
    note: str
    level: str
    model: str | None
    cost: float | None
    covers: tuple[tuple[int, int], ...]
    position: float
    until_no: int
    at: int


COLUMNS = ("key", *[one.name for one in fields(SummaryRow)][1:])
_SELECT = f"SELECT {listed(COLUMNS, 's.')} FROM"
# The messages that count towards the next summary.
_COUNTED = "m.out_operation IS NULL AND m.role != 'system'"


class Summaries(Subject):
    """Summaries of all sessions."""

    def next_number(self, session: int) -> int:
        """Return the number of the session's next summary."""
        last = self._db.value("SELECT max(key) FROM summaries WHERE key BETWEEN ? AND ?", bounds(session))
        return number(last) + 1 if last is not None else 1

    def add(self, session: int, row: SummaryRow) -> None:
        """Write a summary; it is in no view yet."""
        stored = {"key": key(session, row.n), "covers": orjson.dumps(row.covers).decode()}
        values = [stored[name] if name in stored else getattr(row, name) for name in COLUMNS]
        self._db.run(insert("summaries", COLUMNS), values)

    def get(self, session: int, n: int) -> SummaryRow | None:
        """Return one summary, or None."""
        row = self._db.row(f"{_SELECT} summaries s WHERE s.key = ?", (key(session, n),))
        return _summary(row) if row else None

    def all(self, session: int) -> list[SummaryRow]:
        """Return all summaries of a session, newest first."""
        sql = f"{_SELECT} summaries s WHERE s.key BETWEEN ? AND ? ORDER BY s.key DESC"
        return [_summary(row) for row in self._db.rows(sql, bounds(session))]

    def active(self, session: int) -> list[SummaryRow]:
        """Return the summaries in the pruned view, in its order."""
        sql = (
            f"{_SELECT} context_items c JOIN summaries s ON s.key = ? + c.ref "
            "WHERE c.session = ? AND c.view = ? AND c.kind = ? "
            "ORDER BY c.position"
        )
        rows = self._db.rows(sql, (key(session, 0), session, PRUNED, SUMMARY))
        return [_summary(row) for row in rows]

    def active_numbers(self, session: int) -> list[int]:
        """Return the numbers of the summaries in the pruned view."""
        sql = "SELECT ref FROM context_items WHERE session = ? AND view = ? AND kind = ? ORDER BY position"
        return [n for (n,) in self._db.rows(sql, (session, PRUNED, SUMMARY))]

    def covered(self, session: int, row: SummaryRow) -> list[int]:
        """Return the numbers of the messages that a summary covers, through other summaries too."""
        found: set[int] = set()
        waiting = [row]
        while waiting:
            for kind, ref in waiting.pop().covers:
                if kind != SUMMARY:
                    found.add(ref)
                elif (below := self.get(session, ref)) is not None:
                    waiting.append(below)
        return sorted(found)

    def since(self, session: int) -> tuple[int, int]:
        """Return the number of messages after the view's last summary, and their tokens as the view has them."""
        last = max((row.until_no for row in self.active(session)), default=0)
        sql = (
            "SELECT count(*), coalesce(sum(m.tokens), 0) FROM messages m WHERE m.key BETWEEN ? AND ? "
            f"AND {_COUNTED}"
        )
        row = self._db.row(sql, (key(session, last + 1), bounds(session)[1]))
        return (int(row[0]), int(row[1]) - self._shortened(session, last)) if row else (0, 0)

    def _shortened(self, session: int, last: int) -> int:
        """Return the tokens that replacements save in the counted messages after number `last`."""
        sql = (
            f"SELECT m.tokens, c.stand_in FROM context_items c JOIN messages m ON m.key = {key(session, 0)} + c.ref "
            "WHERE c.session = ? AND c.view = ? AND c.kind = 0 AND c.ref > ? AND c.stand_in IS NOT NULL "
            f"AND {_COUNTED}"
        )
        rows = self._db.rows(sql, (session, PRUNED, last))
        return sum(tokens - int(orjson.loads(text)["tokens"]) for tokens, text in rows)

    def put_in(self, session: int, rows: Sequence[SummaryRow]) -> None:
        """Add summaries to the pruned view, each at its position."""
        sql = (
            "INSERT INTO context_items (session, view, position, kind, ref) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING"
        )
        self._db.run_many(sql, ((session, PRUNED, row.position, SUMMARY, row.n) for row in rows))

    def take_out(self, session: int, numbers: Sequence[int]) -> None:
        """Remove summaries from the pruned view; their rows stay."""
        sql = "DELETE FROM context_items WHERE session = ? AND view = ? AND kind = ? AND ref = ?"
        self._db.run_many(sql, ((session, PRUNED, SUMMARY, n) for n in numbers))


def _summary(row: tuple[Any, ...]) -> SummaryRow:
    values: list[Any] = [number(row[0]), *row[1:]]
    at = COLUMNS.index("covers")
    values[at] = tuple((int(kind), int(ref)) for kind, ref in orjson.loads(values[at]))
    return SummaryRow(*values)

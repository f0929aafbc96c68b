"""The aftermath of each event of a session, and of its baseline windows; sums over all sessions are one query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from webapp.store.engine import Subject
from webapp.store.sql import listed, upsert

# The row with the sums over a session's baseline windows.
BASELINE = "elsewhere"


class AftermathRow(NamedTuple):
    """The window of one event, or the sums over `windows` baseline windows.

    `event` is its kind and `operation` its number, 0 where there is none. `worked` counts the windows with new work,
    and `tokens` what came before it. A complete row does not change; without windows the agent did not see the event.
    """

    event: str
    operation: int
    windows: int = 0
    steps: int = 0
    files: int = 0
    commands: int = 0
    errors: int = 0
    said: int = 0
    worked: int = 0
    tokens: int = 0
    complete: bool = False


class KindTotals(NamedTuple):
    """Sums over the complete windows of one kind of event.

    Sessions with a baseline (`compared`) and without are summed apart. `like_…` are the sums that the baselines predict
    for as many steps; `like_tokens` covers the `like_worked` windows whose baseline has new work.
    """

    event: str
    compared: bool
    windows: int
    files: int
    commands: int
    errors: int
    said: int
    worked: int
    tokens: int
    like_files: float
    like_commands: float
    like_errors: float
    like_said: float
    like_worked: int
    like_tokens: float


_COLUMNS = ("session", *AftermathRow._fields)
_COUNTS = ("files", "commands", "errors", "said")
_LIKE = ", ".join(f"coalesce(sum(1.0 * b.{name} * e.steps / b.steps), 0)" for name in _COUNTS)
_TOTALS = (
    f"SELECT e.event, b.windows IS NOT NULL, count(*), {', '.join(f'sum(e.{name})' for name in _COUNTS)}, "
    f"sum(e.worked), sum(e.tokens), {_LIKE}, count(CASE WHEN b.worked > 0 THEN 1 END), "
    "coalesce(sum(CASE WHEN b.worked > 0 THEN 1.0 * b.tokens / b.worked END), 0) "
    f"FROM aftermaths e LEFT JOIN aftermaths b ON b.session = e.session AND b.event = '{BASELINE}' AND b.windows > 0 "
    f"WHERE e.event <> '{BASELINE}' AND e.windows > 0 AND e.complete = 1 GROUP BY 1, 2 ORDER BY 1, 2"
)
# PostgreSQL's sums are decimals.
_KINDS = (str, bool, *(int,) * 7, *(float,) * 4, int, float)


class Aftermaths(Subject):
    """Rows of `aftermaths`."""

    def of(self, session: int) -> list[AftermathRow]:
        """Return the rows of a session."""
        sql = f"SELECT {listed(AftermathRow._fields)} FROM aftermaths WHERE session = ? ORDER BY operation, event"
        rows = self._db.rows(sql, (session,))
        return [AftermathRow._make((*row[:-1], bool(row[-1]))) for row in rows]

    def put(self, session: int, rows: Iterable[AftermathRow]) -> None:
        """Write rows, each in place of one of the same event."""
        sql = upsert("aftermaths", _COLUMNS, keys=3)
        self._db.run_many(sql, ((session, *row[:-1], int(row.complete)) for row in rows))

    def remove(self, session: int, rows: Iterable[AftermathRow]) -> None:
        """Remove the rows of events that did not take place after all."""
        sql = "DELETE FROM aftermaths WHERE session = ? AND event = ? AND operation = ?"
        self._db.run_many(sql, ((session, row.event, row.operation) for row in rows))

    def totals(self) -> list[KindTotals]:
        """Return the sums over all sessions, by kind of event."""
        return [
            KindTotals._make(kind(value) for kind, value in zip(_KINDS, row, strict=True))
            for row in self._db.rows(_TOTALS)
        ]

    def uncounted(self) -> list[str]:
        """Return the ids of the sessions with operations or an origin, of which nothing was counted yet."""
        sql = (
            "SELECT id FROM sessions s WHERE deleted_at IS NULL "
            "AND (operations > 0 OR EXISTS (SELECT 1 FROM copies WHERE session_id = s.id)) "
            "AND NOT EXISTS (SELECT 1 FROM aftermaths WHERE session = s.key) ORDER BY last_activity_at DESC, id"
        )
        return [session for (session,) in self._db.rows(sql)]

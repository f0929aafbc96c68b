"""The contexts: ordered references into the log, and their running totals.

`view` is AGENT (what a followed agent really sends) or PRUNED (what our operations make of it; a managed session's
only context). A position is the seq of the first entry of a message, so restored messages are always in log order.
Totals are sums of estimated tokens by region and change in the same transaction as the items.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import orjson

from webapp.store.engine import Subject
from webapp.store.keys import key
from webapp.store.sql import upsert

AGENT, PRUNED = 0, 1
MESSAGE, SUMMARY = 0, 1
# Regions whose totals belong to no item: nothing of them is in the log.
REGIONS_BESIDE = ("tools", "memory")


class ContextItem(NamedTuple):
    """One reference: `ref` is the number of a message or, depending on `kind`, of a summary.

    The position of a summary is half a place before the first message it covers, so it never equals a message's.
    """

    position: float
    kind: int
    ref: int
    replacement: str | None


class Gathered(NamedTuple):
    """The columns of a view that a plan needs, each in context order. `features` has JSON text for each message."""

    nos: list[int]
    features: list[str]
    pinned: list[int]
    drop_first: list[int]
    replacements: dict[int, str]


class Contexts(Subject):
    """Context items and totals of all sessions."""

    def add(self, session: int, view: int, items: Iterable[tuple[int, int]]) -> None:
        """Add messages, each (position, number), to a view; those already in it stay unchanged."""
        sql = "INSERT INTO context_items (session, view, position, ref) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        self._db.run_many(sql, ((session, view, position, ref) for position, ref in items))

    def remove(self, session: int, view: int, positions: Iterable[float]) -> None:
        """Remove the items at these positions from a view."""
        sql = "DELETE FROM context_items WHERE session = ? AND view = ? AND position = ?"
        self._db.run_many(sql, ((session, view, position) for position in positions))

    def set_replacements(self, session: int, view: int, texts: Iterable[tuple[int, str | None]]) -> None:
        """Set the replacements of messages, each (position, text or None)."""
        sql = "UPDATE context_items SET stand_in = ? WHERE session = ? AND view = ? AND position = ?"
        self._db.run_many(sql, ((text, session, view, position) for position, text in texts))

    def items(self, session: int, view: int) -> list[ContextItem]:
        """Return the items of a view, in order."""
        sql = (
            "SELECT position, kind, ref, stand_in FROM context_items "
            "WHERE session = ? AND view = ? ORDER BY position"
        )
        return [ContextItem(*row) for row in self._db.rows(sql, (session, view))]

    def replaced_tokens(self, session: int, view: int) -> dict[int, int]:
        """Return the tokens of each message with a replacement as the view has it, by number."""
        sql = (
            "SELECT ref, stand_in FROM context_items WHERE session = ? AND view = ? AND stand_in IS NOT NULL"
        )
        return {no: int(orjson.loads(text)["tokens"]) for no, text in self._db.rows(sql, (session, view))}

    def at(self, session: int, view: int, positions: Sequence[int]) -> dict[int, ContextItem]:
        """Return the items at these positions."""
        sql = (
            "SELECT position, kind, ref, stand_in FROM context_items "
            "WHERE position IN ({}) AND session = ? AND view = ?"
        )
        return {row[0]: ContextItem(*row) for row in self._db.rows_in(sql, positions, (session, view))}

    def gather(self, session: int, view: int) -> Gathered:
        """Return the columns of the whole view that a plan needs, without reading the log.

        Cost: one pass over the view's items and their message rows.
        """
        sql = (
            "SELECT c.ref, m.features, m.pinned, m.drop_first, c.stand_in FROM context_items c CROSS JOIN messages m "
            f"WHERE m.key = {key(session, 0)} + c.ref "
            "AND c.session = ? AND c.view = ? AND c.kind = 0 ORDER BY c.position"
        )
        rows = self._db.rows(sql, (session, view))
        if not rows:
            return Gathered([], [], [], [], {})
        nos, features, pinned, drop_first, replacements = (list(column) for column in zip(*rows, strict=True))
        shortened = {i: text for i, text in enumerate(replacements) if text is not None}
        return Gathered(nos, features, pinned, drop_first, shortened)

    def without(
        self, session: int, view: int, part: str, after: float, count: int
    ) -> list[tuple[float, int, str]]:
        """Return position, number and features of messages of a view whose features do not contain `part`.

        They are the first `count` of those after the position `after`, in context order; `part` has no `%` and no `_`.
        """
        sql = (
            "SELECT c.position, c.ref, m.features FROM context_items c CROSS JOIN messages m "
            f"WHERE m.key = {key(session, 0)} + c.ref AND c.session = ? AND c.view = ? AND c.kind = ? "
            "AND c.position > ? AND m.features NOT LIKE ? ORDER BY c.position LIMIT ?"
        )
        return list(self._db.rows(sql, (session, view, MESSAGE, after, f"%{part}%", count)))

    def summary_tokens(self, session: int, view: int) -> int:
        """Return the estimated tokens of the summaries in a view."""
        sql = (
            "SELECT coalesce(sum(s.tokens), 0) FROM context_items c "
            "JOIN summaries s ON s.key = (c.session << 32) + c.ref WHERE c.session = ? AND c.view = ? AND c.kind = ?"
        )
        return int(self._db.value(sql, (session, view, SUMMARY)))

    def before_summary(self, session: int, view: int) -> int:
        """Return the number of messages up to the view's last summary; an agent's own summary is one of them.

        Cost: one pass over the view's items and their message rows; not worth it in a view without summaries.
        """
        sql = (
            "SELECT count(*) FROM context_items WHERE session = ? AND view = ? AND kind = ? AND position <= ("
            "SELECT max(c.position) FROM context_items c LEFT JOIN messages m "
            f"ON m.key = {key(session, 0)} + c.ref"
            " WHERE c.session = ? AND c.view = ? AND (c.kind = ? OR m.kind = 'compaction_summary'))"
        )
        values = (session, view, MESSAGE, session, view, SUMMARY)
        return int(self._db.value(sql, values))

    # -- totals

    def totals(self, session: int) -> dict[int, dict[str, tuple[int, int]]]:
        """Return the totals as view -> region -> (tokens, messages)."""
        return self.totals_of([session])[session]

    def totals_of(self, sessions: Sequence[int]) -> dict[int, dict[int, dict[str, tuple[int, int]]]]:
        """Return the totals of several sessions, as session -> view -> region -> (tokens, messages)."""
        found: dict[int, dict[int, dict[str, tuple[int, int]]]]
        found = {session: {AGENT: {}, PRUNED: {}} for session in sessions}
        sql = (
            "SELECT session, view, region, tokens, messages FROM totals WHERE session IN ({}) "
            "ORDER BY session, view, region"
        )
        for session, view, region, tokens, messages in self._db.rows_in(sql, sessions):
            found[session][view][region] = (tokens, messages)
        return found

    def put_totals(self, session: int, view: int, regions: dict[str, tuple[int, int]]) -> None:
        """Replace the totals of a view."""
        values: list[Any] = [(session, view, name, *pair) for name, pair in regions.items()]
        sql = upsert("totals", ("session", "view", "region", "tokens", "messages"), keys=3)
        self._db.run_many(sql, values)

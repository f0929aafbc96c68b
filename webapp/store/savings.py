"""Sums of the tokens that operations removed from contexts or put back, and of the calls made since."""

from __future__ import annotations

from typing import NamedTuple

from webapp.store.engine import Subject
from webapp.store.keys import SHIFT


class SavedRow(NamedTuple):
    """One operation that was not undone, or one pruned copy: the tokens it freed, and the calls made since.

    `freed` is negative where an operation put tokens back.
    """

    session: int
    model: str | None
    freed: int
    calls: int
    copied: bool


class Saved(Subject):
    """Sums over `operations`, `messages`, `copies` and `calls`; it only reads."""

    def rows(self) -> list[SavedRow]:
        """Return every operation by us or a person that was not undone, and every copy whose session is known.

        What an agent itself took out saves nothing, and neither does it cost anything to put that back. In a managed
        session every message of the assistant counts as a call. Of a followed session only the calls of its copies
        count, because the agent itself sent the whole context.
        """
        ours = (
            "SELECT 1 FROM operation_items i JOIN operations b "
            f"ON b.key = (o.key >> {SHIFT} << {SHIFT}) + CAST(i.before AS INTEGER) "
            "WHERE i.operation = o.key AND i.change = 'in' AND b.actor <> 'agent'"
        )
        operations = (
            "SELECT s.key, s.model, o.tokens_before - o.tokens_after, CASE WHEN s.kind = 'managed' THEN "
            f"(SELECT count(*) FROM messages m WHERE m.key BETWEEN s.key << {SHIFT} AND (s.key + 1 << {SHIFT}) - 1 "
            "AND m.role = 'assistant' AND m.first_seq >= o.seq) ELSE 0 END, 0 "
            f"FROM operations o JOIN sessions s ON s.key = o.key >> {SHIFT} WHERE o.undone_at IS NULL "
            f"AND o.actor <> 'agent' AND (o.kind <> 'restore' OR EXISTS ({ours})) AND s.deleted_at IS NULL"
        )
        copies = (
            "SELECT s.key, s.model, c.tokens_before - c.tokens_promised, "
            "(SELECT count(*) FROM calls WHERE session = s.key), 1 "
            "FROM copies c JOIN sessions s ON s.id = c.session_id WHERE s.deleted_at IS NULL"
        )
        rows = self._db.rows(f"{operations} UNION ALL {copies}")
        return [
            SavedRow(session, model, freed, calls, bool(copied))
            for session, model, freed, calls, copied in rows
        ]

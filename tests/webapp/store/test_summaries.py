"""Summaries in the store: a DAG of rows, and where they stand."""

from __future__ import annotations

from dataclasses import replace

from webapp.store import Store
from webapp.store.context import PRUNED
from webapp.store.log import MessageRow
from webapp.store.sessions import SessionRow
from webapp.store.summaries import SummaryRow

FIRST = SummaryRow(
    1, "first", 1, 2, 9, 40, 1_000, 2_000, "", "deterministic", None, None, ((0, 1), (0, 2)), 0.5, 4, 5_000
)
ABOVE = replace(
    FIRST, n=2, text="above", depth=2, covers=((1, 1), (0, 3)), position=0.5, note="n", cost=0.25, model="m"
)
MESSAGE = MessageRow(
    1, "user", "message", 100, 2, "{}", '{"text":"hi"}', 0, 0, 0, 1, 0, 0, None, 5, b"i" * 16, None
)


class TestSummaries:
    """Rows that are written once."""

    def test_come_back_as_they_were_written(self, store: Store, row: SessionRow) -> None:  # S9, C7
        """With what they cover, newest first."""
        with store.write():
            store.summaries.add(row.key, FIRST)
            store.summaries.add(row.key, ABOVE)
        assert store.summaries.get(row.key, 2) == ABOVE
        assert store.summaries.all(row.key) == [ABOVE, FIRST]
        assert store.summaries.next_number(row.key) == 3
        assert store.summaries.get(row.key, 9) is None

    def test_stand_for_the_messages_of_those_they_cover(self, store: Store, row: SessionRow) -> None:  # C7
        """All the way down."""
        with store.write():
            store.summaries.add(row.key, FIRST)
        assert store.summaries.covered(row.key, ABOVE) == [1, 2, 3]

    def test_stand_in_the_view_and_leave_it(self, store: Store, row: SessionRow) -> None:  # C6
        """Half a place before the message; the row stays when it leaves."""
        with store.write():
            store.summaries.add(row.key, FIRST)
            store.contexts.add(row.key, PRUNED, [(1, 1), (0, 2)])
            store.summaries.put_in(row.key, [FIRST])
        assert [(i.position, i.kind) for i in store.contexts.items(row.key, PRUNED)] == [
            (0, 0),
            (0.5, 1),
            (1, 0),
        ]
        assert store.summaries.active(row.key) == [FIRST]
        assert store.contexts.summary_tokens(row.key, PRUNED) == 9
        with store.write():
            store.summaries.take_out(row.key, [1])
        assert store.summaries.active_numbers(row.key) == []
        assert store.summaries.get(row.key, 1) == FIRST

    def test_are_followed_by_messages_of_the_size_that_is_sent(
        self, store: Store, row: SessionRow
    ) -> None:  # S3
        """A replacement counts instead of its message; what is out, system or summarised does not count."""
        since = [MESSAGE._replace(no=no, first_seq=no) for no in (5, 6, 7, 8)]
        since[2] = since[2]._replace(role="system")
        since[3] = since[3]._replace(out_operation=1)
        with store.write():
            store.log.put_messages(row.key, [MESSAGE._replace(no=4, first_seq=4, tokens=900), *since])
            store.contexts.add(row.key, PRUNED, [(no, no) for no in (4, 5, 6, 7)])
            store.contexts.set_replacements(row.key, PRUNED, [(4, '{"tokens":1}'), (6, '{"tokens":30}')])
            store.summaries.add(row.key, FIRST)
            store.summaries.put_in(row.key, [FIRST])
        assert store.summaries.since(row.key) == (2, 130)
        assert store.contexts.replaced_tokens(row.key, PRUNED) == {4: 1, 6: 30}

    def test_go_with_their_session(self, store: Store, row: SessionRow) -> None:
        """With a marker and without."""
        with store.write():
            store.summaries.add(row.key, FIRST)
            store.sessions.remove(row, marker_at=7)
        assert store.summaries.all(row.key) == []

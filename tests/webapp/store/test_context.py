"""Contexts: items in order of their positions, and totals."""

from __future__ import annotations

from webapp.store import Store
from webapp.store.context import AGENT, PRUNED
from webapp.store.log import MessageRow
from webapp.store.sessions import SessionRow

MESSAGE = MessageRow(1, "user", "message", 1, 1, "{}", "{}", 0, 0, 0, 1, 0, 0, None, None, b"i" * 16, None)


class TestItems:
    """References into the log."""

    def test_stand_in_order_of_their_positions(self, store: Store, row: SessionRow) -> None:
        """Items are in log order, in whatever order they were added."""
        with store.write():
            store.contexts.add(row.key, PRUNED, [(7, 3), (0, 1)])
            store.contexts.add(row.key, PRUNED, [(4, 2)])
        assert [item.ref for item in store.contexts.items(row.key, PRUNED)] == [1, 2, 3]

    def test_of_two_views_are_apart(self, store: Store, row: SessionRow) -> None:
        """A message that leaves the pruned view stays in the agent's context."""
        with store.write():
            for view in (AGENT, PRUNED):
                store.contexts.add(row.key, view, [(0, 1), (1, 2)])
            store.contexts.remove(row.key, PRUNED, [0])
        assert [item.ref for item in store.contexts.items(row.key, AGENT)] == [1, 2]
        assert [item.ref for item in store.contexts.items(row.key, PRUNED)] == [2]

    def test_stay_as_they_are_when_added_again(self, store: Store, row: SessionRow) -> None:
        """Adding an existing item keeps its replacement."""
        with store.write():
            store.contexts.add(row.key, PRUNED, [(0, 1)])
            store.contexts.set_replacements(row.key, PRUNED, [(0, "short")])
            store.contexts.add(row.key, PRUNED, [(0, 1)])
        assert store.contexts.at(row.key, PRUNED, [0])[0].replacement == "short"

    def test_are_found_by_what_their_features_lack(self, store: Store, row: SessionRow) -> None:
        """The first ones after a position, in context order, without the messages of other views."""
        with store.write():
            rows = [
                MESSAGE._replace(no=no, id=bytes([no]) * 16, features=text)
                for no, text in enumerate("aabaa", 1)
            ]
            store.log.put_messages(row.key, rows)
            store.contexts.add(row.key, PRUNED, [(10, 1), (20, 2), (30, 3), (40, 4)])
            store.contexts.add(row.key, AGENT, [(50, 5)])
        found = [store.contexts.without(row.key, PRUNED, "b", after, 2) for after in (0, 10, 40)]
        assert found == [[(10, 1, "a"), (20, 2, "a")], [(20, 2, "a"), (40, 4, "a")], []]


class TestTotals:
    """Running sums."""

    def test_come_back_by_view_and_region(self, store: Store, row: SessionRow) -> None:
        """Totals are of one session, or of several at once."""
        with store.write():
            store.contexts.put_totals(row.key, PRUNED, {"user": (10, 2), "tool": (5, 1)})
        expected = {AGENT: {}, PRUNED: {"user": (10, 2), "tool": (5, 1)}}
        assert store.contexts.totals(row.key) == expected
        assert store.contexts.totals_of([row.key]) == {row.key: expected}

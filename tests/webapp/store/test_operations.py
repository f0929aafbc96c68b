"""Operations in the store."""

from __future__ import annotations

from tests.webapp.store.queries import queries
from webapp.store import Store
from webapp.store.operations import Detail, Facts, ItemRow, OperationRow, RemovalReason
from webapp.store.sessions import SessionRow


def operation(n: int) -> OperationRow:
    """Return a prune by the user."""
    return OperationRow(n, "prune", "user", "manual", 1, 5, 10, 4, 1, Facts(weights={"role": 30}))


class TestOperations:
    """Operations, with the reasons given at the time."""

    def test_come_back_newest_first(self, store: Store, row: SessionRow) -> None:
        """They are equal to what was written."""
        with store.write():
            store.operations.add(row.key, operation(1), [])
            store.operations.add(row.key, operation(2), [])
        assert store.operations.all(row.key) == [operation(2), operation(1)]

    def test_that_were_undone_are_not_live(self, store: Store, row: SessionRow) -> None:
        """They stay in the history."""
        with store.write():
            for n in (1, 2, 3):
                store.operations.add(row.key, operation(n), [])
            store.operations.mark_undone(row.key, 2, 9)
        assert [o.n for o in store.operations.live_since(row.key, 2)] == [3]
        assert store.operations.all(row.key)[1].undone_at == 9

    def test_know_when_one_was_last_done_or_undone(self, store: Store, row: SessionRow) -> None:
        """Nothing before the first."""
        assert store.operations.last_at(row.key) == 0
        with store.write():
            store.operations.add(row.key, operation(1), [])
        done = store.operations.last_at(row.key)
        assert done == operation(1).at
        with store.write():
            store.operations.mark_undone(row.key, 1, done + 9)
        assert store.operations.last_at(row.key) == done + 9

    def test_say_why_a_message_left(self, store: Store, row: SessionRow) -> None:
        """With the weights its score had then."""
        items = [ItemRow(4, "out", None, Detail(score=12.5)), ItemRow(5, "shortened", None, None)]
        with store.write():
            store.operations.add(row.key, operation(1), items)
        assert store.operations.items(row.key, 1) == items
        assert store.operations.removal_reasons(row.key, [(1, 4), (1, 5)]) == {
            4: RemovalReason(Detail(score=12.5), {"role": 30})
        }

    def test_read_the_reasons_of_one_operation_together(self, store: Store, row: SessionRow) -> None:
        """A page of removed messages takes two queries for each operation, however many messages it took out."""
        nos = range(1, 60)
        with store.write():
            for n in (1, 2):
                items = [ItemRow(no, "out", None, Detail(score=n)) for no in nos if no % 2 == n % 2]
                store.operations.add(row.key, operation(n), items)
        with queries(store) as made:
            found = store.operations.removal_reasons(row.key, [(2 - no % 2, no) for no in nos])
        assert {no: reason.detail.score for no, reason in found.items()} == {no: 2 - no % 2 for no in nos}
        assert len(made) == 4

"""The sums over operations and calls, in the SQL of each engine."""

from __future__ import annotations

from webapp.store import Store
from webapp.store.operations import Actor, Facts, ItemRow, OperationKind, OperationRow
from webapp.store.savings import SavedRow
from webapp.store.sessions import SessionRow


def changed(n: int, kind: OperationKind, actor: Actor, before: int, after: int) -> OperationRow:
    """Return an operation that changed the tokens of a context."""
    return OperationRow(n, kind, actor, "manual", 1, 1, before, after, 1, Facts())


def freed(store: Store) -> list[int]:
    """Return the tokens that each operation that counts has freed."""
    return sorted(row.freed for row in store.savings.rows())


class TestSaved:
    """Operations that took tokens out of contexts, or put them back."""

    def test_has_what_a_person_put_back(self, store: Store, row: SessionRow) -> None:
        """A restore frees less than nothing, and so does taking a summary apart."""
        with store.write():
            store.operations.add(row.key, changed(1, "prune", "automatic", 100, 40), [])
            store.operations.add(
                row.key, changed(2, "restore", "user", 40, 70), [ItemRow(4, "in", "1", None)]
            )
            store.operations.add(row.key, changed(3, "summary", "user", 70, 50), [])
            store.operations.add(row.key, changed(4, "expand", "user", 50, 70), [])
        assert freed(store) == [-30, -20, 20, 60]
        assert SavedRow(row.key, None, 60, 0, False) in store.savings.rows()

    def test_has_nothing_of_what_an_agent_took_out(self, store: Store, row: SessionRow) -> None:
        """It is no loss of savings if a person puts that back."""
        with store.write():
            store.operations.add(row.key, changed(1, "prune", "automatic", 100, 90), [])
            store.operations.add(row.key, changed(2, "compaction", "agent", 90, 10), [])
            store.operations.add(
                row.key, changed(3, "restore", "user", 10, 30), [ItemRow(4, "in", "2", None)]
            )
        assert freed(store) == [10]

    def test_has_no_operation_that_was_undone(self, store: Store, row: SessionRow) -> None:
        """After the undo of a restore the tokens are out again."""
        with store.write():
            store.operations.add(row.key, changed(1, "drop", "user", 100, 40), [])
            store.operations.add(
                row.key, changed(2, "restore", "user", 40, 100), [ItemRow(4, "in", "1", None)]
            )
            store.operations.mark_undone(row.key, 2, 9)
        assert freed(store) == [60]

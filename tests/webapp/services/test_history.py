"""Operations as JSON."""

from __future__ import annotations

from webapp.services.history import operation_json
from webapp.store.operations import OperationRow


def operation(n: int, actor: str = "user", undone_at: int | None = None) -> OperationRow:
    """An operation."""
    return OperationRow(n, "prune", actor, "manual", 0, 1, 100, 40, 3, {"preset": "Balanced"}, undone_at)


class TestOperation:
    """What can be taken back."""

    def test_takes_the_later_ones_along(self) -> None:  # X2
        """Newest last in the list."""
        live = [operation(3), operation(2), operation(1)]
        shown = operation_json(live[2], live)
        assert (shown["undoable"], shown["undoes_also"], shown["freed"]) == (True, [2, 3], 60)

    def test_stops_at_the_agents_own(self) -> None:  # X2
        """A compaction cannot be undone, nor what was before it."""
        live = [operation(3), operation(2, "agent"), operation(1)]
        assert [operation_json(o, live)["undoable"] for o in live] == [True, False, False]

    def test_is_done_once(self) -> None:
        """What was undone is not undone again."""
        shown = operation_json(operation(1, undone_at=5_000), [])
        assert (shown["undoable"], shown["undone_at"]) == (False, "1970-01-01T00:00:05.000Z")

"""The parts that are sealed."""

from __future__ import annotations

from webapp.store import Store
from webapp.store.parts import PARTS

# The columns that the hash chain of the log proves: `id` is sealed, and holds a hash of them.
CHAINED = {
    "source_id", "parent_source_id", "group_key", "kind", "role", "name", "parts", "raw", "format", "at", "model",
    "supersedes",
}  # fmt: skip


def test_every_column_is_sealed(store: Store) -> None:
    """A new column needs a place in a part, or a change of it by another program would not be noticed."""
    lacking: dict[str, set[str]] = {}
    for table in {part.table for part in PARTS}:
        sealed = {name for part in PARTS if part.table == table for name in part.columns}
        lacking[table] = store.db.columns(table).keys() - sealed - (CHAINED if table == "entries" else set())
    assert {table: names for table, names in lacking.items() if names} == {}

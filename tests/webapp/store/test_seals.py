"""Seals: what our own connections write is sealed, and nothing else."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.outside import TABLES
from webapp.store import Store
from webapp.store.parts import PARTS, digest, rows_of
from webapp.store.sessions import SessionRow


class TestSeals:
    """One number a part of a session."""

    def test_fit_after_every_kind_of_write(self, store: Store, row: SessionRow) -> None:
        """Rows that come, are replaced, are changed, and go."""
        with store.write():
            store.contexts.put_totals(row.key, 1, {"user": (5, 1)})
            store.small.put_setting("a", 1)
            store.small.put_setting("b", 1)
        with store.write():
            store.contexts.put_totals(row.key, 1, {"user": (7, 1), "tool": (1, 1)})
            store.small.put_setting("a", None)
            store.sessions.update(row.key, title="é")
        assert list(store.verify()) == ["session s: the totals of the context say 8 tokens, its messages have 0",
                                        "session s: the totals of the context say 2 messages, it has 0"]  # fmt: skip

    def test_of_what_was_rolled_back_are_those_of_before(self, store: Store, row: SessionRow) -> None:
        """A transaction that fails leaves no seal of what it wrote."""

        def fail() -> None:
            with store.write():
                store.sessions.update(row.key, title="other")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        with store.write():
            store.small.put_setting("a", 1)
        assert list(store.verify()) == []

    def test_name_columns_that_exist(self, store: Store, engine: str) -> None:
        """All of a table but those that another proof covers."""
        uncovered = {"revisions", "leases", "seals"}
        found = [name for (name,) in store.db.rows(TABLES[engine])]
        tables = {name for name in found if "_words" not in name and name[0] != "_"} - {"schema_steps"}
        assert tables - uncovered == {part.table for part in PARTS}
        for part in PARTS:
            store.db.rows(rows_of(part))
        for table in tables - uncovered - {"entries"}:
            columns = set(store.db.columns(table))
            assert columns == {name for part in PARTS if part.table == table for name in part.columns}, table

    def test_are_written_for_a_store_that_has_none(self, tmp_path: Path) -> None:
        """A store of before is taken as it is when it is migrated."""
        path = tmp_path / "old.db"
        with closing(Store(path)) as made, made.write():
            made.sessions.create(id="s", source="api", kind="managed", created_at=1, last_activity_at=1)
        with closing(sqlite3.connect(path)) as old, old:
            old.execute("DROP TABLE seals")
            old.execute("DELETE FROM _sqlite_migrations WHERE name = 'm007_seals'")
        with closing(Store(path)) as again:
            assert list(again.verify()) == []

    def test_still_show_what_another_program_changed_after_a_migration(self, tmp_path: Path) -> None:
        """A step that changes no sealed row seals none again."""
        path = tmp_path / "old.db"
        with closing(Store(path)) as made, made.write():
            made.small.put_setting("a", 1)
        with closing(sqlite3.connect(path)) as old, old:
            old.execute("UPDATE settings SET value = '2'")
            old.execute("DELETE FROM _sqlite_migrations WHERE name = 'm017_words_in_pairs'")
        with closing(Store(path)) as again:
            assert list(again.verify()) == ["settings were changed from outside"]


def test_no_infinite_number_has_the_hash_of_none() -> None:  # S1
    """JSON has no infinite number, and SQLite has one."""
    values = (None, float("inf"), float("-inf"), 0, 0.0, False, "", "null", "0")
    assert len({digest((one,)) for one in values}) == len(values)

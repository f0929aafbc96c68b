"""The store as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from webapp.errors import StoreError
from webapp.store import Store


class TestStore:
    """All subjects over one database."""

    def test_keeps_everything_between_openings(self, tmp_path: Path) -> None:
        """What was written is there when it is opened again."""
        store = Store(tmp_path / "deep" / "folder" / "a.db")
        with store.write():
            store.small.put_setting("x", 1)
        store.close()
        again = Store(tmp_path / "deep" / "folder" / "a.db")
        assert again.small.setting("x") == 1
        again.check()
        again.close()

    def test_check_fails_when_the_tables_are_gone(self, store: Store) -> None:
        """Liveness means that sessions can be read."""
        with store.write():
            store.db.run("ALTER TABLE sessions RENAME TO lost")
        with pytest.raises(StoreError):
            store.check()

"""Fixtures that give every test a store of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.store import Store
from webapp.store.sessions import SessionRow


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    made = Store(tmp_path / "a.db", busy_seconds=0.2)
    yield made
    made.close()


@pytest.fixture
def row(store: Store) -> SessionRow:
    """A managed session without messages."""
    with store.write():
        return store.sessions.create(id="s", source="api", kind="managed", created_at=1, last_activity_at=1)

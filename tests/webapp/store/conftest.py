"""Fixtures that give every test a separate store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.config import Database
from webapp.store import Store
from webapp.store.sessions import SessionRow


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest) -> str:
    """The engine, which is each of the two."""
    return str(request.param)


@pytest.fixture
def store(database: Database) -> Iterator[Store]:
    """An empty store, of each engine."""
    made = Store(database, busy_seconds=0.2 if isinstance(database, Path) else 0.02)
    yield made
    made.close()


@pytest.fixture
def row(store: Store) -> SessionRow:
    """A managed session without messages."""
    with store.write():
        return store.sessions.create(id="s", source="api", kind="managed", created_at=1, last_activity_at=1)

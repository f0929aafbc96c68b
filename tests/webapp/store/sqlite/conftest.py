"""Files alone, each migrated as it is outside the tests."""

from __future__ import annotations

import pytest

from webapp.store.sqlite.connection import Connections


@pytest.fixture
def engine() -> str:
    """One engine."""
    return "sqlite"


@pytest.fixture(autouse=True)
def own_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every file of a test migrated by the code under test."""
    monkeypatch.setattr(Connections, "__init__", vars(Connections)["__init__"].__wrapped__)

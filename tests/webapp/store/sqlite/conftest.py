"""Files alone."""

from __future__ import annotations

import pytest


@pytest.fixture
def engine() -> str:
    """One engine."""
    return "sqlite"

"""The records themselves."""

from __future__ import annotations

from scoring.messages import message
from webapp.agents.records import Entry


def test_equality_ignores_the_raw_row() -> None:
    """Entries with equal content are equal, even from different bytes."""
    said = message("user", "hello")
    assert Entry(said, "a", raw=b"1") == Entry(said, "a", raw=b"2")
    assert Entry(said, "a") != Entry(said, "b")

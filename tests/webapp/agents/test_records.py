"""The records themselves."""

from __future__ import annotations

from scoring.messages import message
from webapp.agents.records import Entry


def test_the_raw_row_takes_no_part_in_equality() -> None:
    """Entries are equal by what they say, whatever bytes said it."""
    said = message("user", "hello")
    assert Entry(said, "a", raw=b"1") == Entry(said, "a", raw=b"2")
    assert Entry(said, "a") != Entry(said, "b")

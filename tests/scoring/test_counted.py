"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from scoring.counted import counted


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 messages"), (1, "1 message"), (2, "2 messages"), (2_000, "2,000 messages")]
)
def test_a_noun_agrees_with_its_number(count: int, said: str) -> None:
    """One has no plural; thousands are separated."""
    assert counted(count, "message") == said

"""The signal keywords."""

from __future__ import annotations

from scoring.settings import BLUEPRINT
from scoring.signals.keywords import rate
from tests.scoring.builders import history_of, user


class TestKeywords:
    """What a message's words are worth."""

    def test_is_the_rating_found_when_the_message_came(self) -> None:  # B4
        """The rating stands in the features; the plan reads no text."""
        assert rate(history_of([user("hello"), user("it failed")]), BLUEPRINT) == [0, 15 / 25]

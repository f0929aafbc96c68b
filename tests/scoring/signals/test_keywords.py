"""The signal keywords."""

from __future__ import annotations

from scoring.history import Mentions
from scoring.settings import BLUEPRINT
from scoring.signals.keywords import MOST_COUNTED, rate, rate_mentions
from tests.scoring.builders import history_of, user


class TestKeywords:
    """The rating of a message's keywords."""

    def test_is_the_rating_stored_in_the_features(self) -> None:  # B4
        """A plan reads no text."""
        assert rate(history_of([user("hello"), user("it failed")]), BLUEPRINT) == [0, 15 / 25]


class TestOfMentions:
    """The rating of repeated names."""

    def test_rises_towards_one(self) -> None:  # B18
        """1/2 for one mention, more for more, up to the most that is counted."""
        ratings = rate_mentions(Mentions(), 100).table
        assert ratings[1:3] == [1 / 2, 2 / 3]
        assert ratings[MOST_COUNTED - 1] < ratings[MOST_COUNTED] == ratings[100] < 1

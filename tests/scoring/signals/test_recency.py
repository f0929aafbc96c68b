"""The signal recency."""

from __future__ import annotations

import pytest

from scoring.history import Mentions
from scoring.settings import BLUEPRINT
from scoring.signals.recency import rate, rate_mentions
from tests.scoring.builders import history_of, in_letters


class TestRecency:
    """The later, the higher."""

    @pytest.mark.parametrize(
        ("letters", "ratings"),
        [
            ("", []),
            ("u", [1]),
            ("s", [1]),
            ("uuuu", [0, 1 / 4, 2 / 4, 1]),
            ("suauau", [1, 0, 1 / 5, 2 / 5, 3 / 5, 1]),
            ("usus", [0, 1, 1 / 2, 1]),  # a system message at the end is the last; the user before it is not
            ("sss", [1, 1, 1]),
        ],
    )
    def test_is_the_place_among_the_others(self, letters: str, ratings: list[float]) -> None:  # B2
        """The j-th of m that are not system messages rates j/m, the last message and system messages 1."""
        assert rate(history_of(in_letters(letters)), BLUEPRINT) == ratings


class TestOfMentions:
    """Recency of a name's last mention."""

    def test_fades_ever_more_slowly(self) -> None:  # B18
        """1 in the last message; two old mentions still differ."""
        ratings = rate_mentions(Mentions(), 1_000).table
        assert ratings[-1] == 1.0
        assert list(ratings) == sorted(ratings)
        assert ratings[-1] - ratings[-2] > ratings[1] - ratings[0] > 0

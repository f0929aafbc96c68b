"""The worth of mentions."""

from __future__ import annotations

import pytest

from scoring.history import History
from scoring.planning.strategies.foresight.worth import ALIKE_WORTH, LINE_WORTH, SHARPNESS, Coverage
from scoring.settings import FORESIGHT
from tests.scoring.builders import model, results, user

SAID = [
    user("main.py"),
    results("1", text="parse_rows main.py"),
    model("a line of words, long enough to count"),
]


class TestCoverage:
    """The mentions of a history, and those that kept messages cover."""

    def test_weighs_the_mean_of_three_ratings_sharpened(self) -> None:  # B18
        """Recency, role and keywords by their weights; a line is worth part of it."""
        coverage = Coverage(History.of(SAID, settings=FORESIGHT), FORESIGHT)
        weights = {"recency": 35, "role": 25, "keywords": 20}
        for number, kind in ((0, 1.0), (1, 1.0), (2, LINE_WORTH)):
            rated = coverage.ratings(number)
            assert rated.keys() == weights.keys()
            blend = sum(weights[name] * rating for name, rating in rated.items()) / sum(weights.values())
            assert coverage.worth[number] == pytest.approx(kind * blend**SHARPNESS)

    def test_weighs_less_what_stands_in_alike_lines_alone(self) -> None:
        """So of a log the line stays that is like no other."""
        log = [f"INFO the request req-{n:04d} was served" for n in range(9)]
        said = [
            user("main.py"),
            results("1", text="\n".join([*log, "ERROR on request req-9999"])),
            model("so"),
        ]
        history = History.of(said, settings=FORESIGHT)
        coverage = Coverage(history, FORESIGHT)
        worth = dict(zip(history.mentions.spelled, coverage.worth, strict=True))
        assert worth["req-0003"] == pytest.approx(ALIKE_WORTH * worth["req-9999"])

    def test_gives_each_mention_to_the_first_that_stays(self) -> None:
        """A covered name or line adds nothing."""
        coverage = Coverage(History.of(SAID, settings=FORESIGHT), FORESIGHT)
        assert coverage.gain([0, 1]) > 0
        coverage.cover([0], 0)
        coverage.cover([0, 1], 1)
        assert (list(coverage.holder[:2]), coverage.gain([0, 1])) == ([0, 1], 0)

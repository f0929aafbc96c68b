"""Tests of what is said just before each real call, over the shared transcripts; `benchmarks.prediction` tells it in
full.
"""

from __future__ import annotations

import pytest

from benchmarks.prediction import figures, replayed
from tests.shared import shared_data

BOUNDS = {
    "total, median": 0.15,
    "total, p90": 1.0,
    "growth from 200 tokens, median": 10,
    "growth from 200 tokens, p90": 30,
    "first call of a session, median": 25,
    "first call after a compaction, median": 10,
    "growth by factors alone, median": 15,
    "growth by factors alone, p90": 40,
}


@pytest.fixture(scope="module")
def errors() -> tuple[dict[str, float], dict[str, float]]:
    """(ours, the simplest predictor's), in percent."""
    calls = replayed(shared_data("transcripts"))
    return tuple({n: v for n, v, _ in figures(calls, simple=simple)} for simple in (False, True))  # type: ignore[return-value]


class TestWhatIsSaidBeforeEachCall:
    """Errors over all calls with usage."""

    @pytest.mark.parametrize("figure", BOUNDS)
    def test_is_as_near_as_promised(
        self, errors: tuple[dict[str, float], dict[str, float]], figure: str
    ) -> None:  # X11
        """Within the bound, and nearer than the last total and a token for 2.8 new characters."""
        ours, simple = errors
        assert ours[figure] <= BOUNDS[figure]
        assert ours[figure] < simple[figure]

    def test_leaves_no_figure_out(self, errors: tuple[dict[str, float], dict[str, float]]) -> None:
        """Every figure has its bound."""
        assert set(errors[0]) == set(BOUNDS)

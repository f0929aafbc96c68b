"""Reports that sum up a run's calls."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.tokens import Run, is_sum, unseen_of_sums


def runs(calls: Sequence[int], unseen: int, *, summed: bool, grows: int = 1_000) -> list[Run]:
    """Return runs of so many calls, in a context that grows with each."""
    found, before = [], 500
    for count in calls:
        contexts = [before + grows * n for n in range(count)]
        before = contexts[-1] + grows
        reported = sum(contexts) + count * unseen if summed else contexts[-1] + unseen
        found.append(Run(count, sum(contexts), contexts[-1], reported))
    return found


class TestSums:
    """Several reports of one session."""

    @pytest.mark.parametrize("unseen", [0, 3_000, 20_000])
    @pytest.mark.parametrize("calls", [(7, 1), (1, 5), (4, 2, 6), (3, 3, 9, 1)])
    def test_are_found_with_what_is_in_no_message(self, calls: tuple[int, ...], unseen: int) -> None:  # X11
        """A second run with another number of calls shows how much that is."""
        assert unseen_of_sums(runs(calls, unseen, summed=True)) == unseen

    @given(
        st.lists(st.integers(1, 30), max_size=6),
        st.integers(0, 40_000),
        st.integers(50, 5_000),
        st.floats(0.5, 2.0),
    )
    def test_are_not_found_in_true_reports(
        self, calls: list[int], unseen: int, grows: int, factor: float
    ) -> None:  # X11
        """That holds for any runs, and any error of the estimates."""
        true = runs(calls, unseen, summed=False, grows=grows)
        reports = [run._replace(reported=round(factor * run.last) + unseen) for run in true]
        assert unseen_of_sums(reports) is None

    def test_are_not_found_in_calls_reported_one_by_one(self) -> None:  # X11
        """A run of one call is its own sum."""
        assert unseen_of_sums(runs([1] * 6, 9_000, summed=True)) is None

    def test_are_told_from_single_calls_once_known(self) -> None:  # X11
        """A program may begin to report each call."""
        [summed], [single] = (runs([4], 3_000, summed=summed) for summed in (True, False))
        assert is_sum(summed, 3_000)
        assert not is_sum(single, 3_000)

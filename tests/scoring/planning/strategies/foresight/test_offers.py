"""The forms in which a unit can be kept."""

from __future__ import annotations

from math import inf

import pytest

from tests.scoring.planning.strategies.foresight.histories import SAID, offers_of


class TestOffers:
    """Units offered whole or shortened."""

    def test_prefers_the_most_valuable_rows(self) -> None:  # X7
        """A long output is offered at the rate of its best rows."""
        offers, _, history = offers_of(SAID)
        best = offers.best(1, inf)
        assert best.rows is not None
        assert best.cost < history.unit_tokens[1]
        assert best.rate > offers.whole(1).rate

    def test_cuts_to_the_room(self) -> None:
        """If the whole output does not fit, its cut form does, or none."""
        offers, _, _ = offers_of(SAID)
        assert offers.best(1, 120).cost <= 120
        assert offers.best(1, 3).rows is None

    def test_loses_worth_as_others_cover_its_mentions(self) -> None:
        """Names and lines that stay elsewhere have no worth."""
        offers, coverage, _ = offers_of(SAID)
        before = offers.whole(3)
        coverage.cover(coverage.held[3], 0)
        assert offers.again(3, before, inf).rate == 0.0

    def test_estimates_the_cost_of_a_shortened_message(self) -> None:
        """The sum over its messages is never above the offer."""
        offers, _, history = offers_of(SAID)
        offer = offers.best(1, inf)
        [(position, (tokens, rows))] = offers.take(1, offer).items()
        assert position == 2
        assert history.tokens[1] + tokens <= offer.cost
        assert rows

    def test_chooses_the_form_of_whole_units_at_the_end_in_long_histories(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Before the end, an offer is only marked as stale."""
        monkeypatch.setattr("scoring.planning.strategies.foresight.offers.EXACT_UNITS", 0)
        offers, coverage, _ = offers_of(SAID)
        whole = offers.whole(1)
        coverage.cover(list(coverage.held[2])[1:], 0)
        again = offers.again(1, whole, inf)
        assert again.stale
        assert offers.final(1, again, inf).rows is not None

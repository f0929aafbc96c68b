"""The forms in which a unit may stay."""

from __future__ import annotations

from math import inf

import pytest

from scoring.history import History
from scoring.messages import Message
from scoring.planning.strategies.foresight.offers import Offers
from scoring.planning.strategies.foresight.worth import Ledger
from scoring.settings import FORESIGHT
from tests.scoring.builders import calls, model, results, user

OUTPUT = "\n".join(
    "see utils_b.py here" if n == 20 else f"chatter, number {n}, of the build" for n in range(60)
)
SAID = [user("utils_b.py"), calls("1"), results("1", text=OUTPUT), model("main.py is one"), user("on")]


def offers_of(messages: list[Message]) -> tuple[Offers, Ledger, History]:
    """The offers of a history, nothing taken yet."""
    history = History.of(messages, settings=FORESIGHT)
    ledger = Ledger(history, FORESIGHT)
    return Offers(history, ledger, None, 0.8), ledger, history


class TestOffers:
    """Whole or shortened, as it stands by now."""

    def test_prefers_the_rows_that_carry(self) -> None:  # X7
        """A long output is offered at the rate of its best rows."""
        offers, _, history = offers_of(SAID)
        best = offers.best(1, inf)
        assert best.rows is not None
        assert best.cost < history.unit_tokens[1]
        assert best.rate > offers.whole(1).rate

    def test_fits_what_it_cuts_into_the_room(self) -> None:
        """If the whole output does not fit, its cut form does, or none."""
        offers, _, _ = offers_of(SAID)
        assert offers.best(1, 120).cost <= 120
        assert offers.best(1, 3).rows is None

    def test_falls_as_others_take_its_marks(self) -> None:
        """Names and lines that stay elsewhere have no worth."""
        offers, ledger, _ = offers_of(SAID)
        before = offers.whole(3)
        ledger.cover(ledger.held[3], 0)
        assert offers.again(3, before, inf).rate == 0.0

    def test_reckons_what_a_shortened_message_costs(self) -> None:
        """The sum over its messages is never above the offer."""
        offers, _, history = offers_of(SAID)
        offer = offers.best(1, inf)
        [(position, (tokens, rows))] = offers.take(1, offer).items()
        assert position == 2
        assert history.tokens[1] + tokens <= offer.cost
        assert rows

    def test_looks_at_whole_units_once_more_in_the_end_in_long_histories(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """On the way it only notes that there may be a better form."""
        monkeypatch.setattr("scoring.planning.strategies.foresight.offers.EXACT_UNITS", 0)
        offers, ledger, _ = offers_of(SAID)
        whole = offers.whole(1)
        ledger.cover(list(ledger.held[2])[1:], 0)
        again = offers.again(1, whole, inf)
        assert again.stale
        assert offers.final(1, again, inf).rows is not None

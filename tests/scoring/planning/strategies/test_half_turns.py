"""Half of the turns, by hand."""

from __future__ import annotations

import pytest

from scoring.planning.plan import PrunePlan, plan_prune
from scoring.planning.strategies import Strategy, half_of_turns
from scoring.settings import BLUEPRINT
from tests.scoring.builders import history_of, in_letters


@pytest.fixture(autouse=True)
def in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """The strategy under its name, whatever the table holds."""
    monkeypatch.setattr("scoring.planning.plan.STRATEGIES", {"half_turns": Strategy(half_of_turns.choose)})


def plan(letters: str, share: float) -> PrunePlan:
    """A plan over a list in letters, to a share of its tokens."""
    history = history_of(in_letters(letters))
    return plan_prune(history, BLUEPRINT, int(sum(history.tokens) * share), strategy="half_turns")


class TestHalfOfTheTurns:
    """The oldest half of the turns goes, whole turns at once."""

    def test_drops_the_oldest_half(self) -> None:  # P7
        """Of four turns two go, even if one would be enough."""
        made = plan("uauauaua", 0.9)
        assert made.removed == (0, 1, 2, 3)
        assert made.reason(0) == "dropped: in the oldest half of the turns"

    def test_drops_half_of_the_rest_if_that_is_not_enough(self) -> None:  # P7
        """The remaining turns are halved until the rest fits."""
        assert plan("uauauaua", 0.3).kept == (6, 7)

    def test_keeps_calls_with_their_results(self) -> None:  # P4
        """Turns are cut between units."""
        assert plan("uctctauctuaua", 0.6).removed == (0, 1, 2, 3, 4, 5, 6, 7, 8)

    def test_keeps_the_newest_of_a_single_turn(self) -> None:  # P7
        """A turn that does not fit is filled from its end."""
        made = plan("uaaaaa", 0.5)
        assert made.kept[0] == 0
        assert made.kept[-1] == 5
        assert made.tokens_after <= made.max_tokens

    def test_gives_a_reason_for_each(self) -> None:  # X3
        """Every message has a reason."""
        made = plan("uauauaua", 0.9)
        assert made.cause(5) == "newer_half"
        assert made.cause(1) == "older_half"

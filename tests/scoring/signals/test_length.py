"""The signal length."""

from __future__ import annotations

from scoring.settings import BLUEPRINT, Settings
from scoring.signals.length import of_unit, power, rate
from tests.scoring.builders import history_of, user


class TestLength:
    """Long messages hold more."""

    def test_steps_at_a_thousand_and_five_thousand_characters(self) -> None:  # B5
        """0 under 1,000 characters, 1/2 from there, 1 from 5,000."""
        texts = ["x" * n for n in (0, 999, 1_000, 4_999, 5_000, 50_000)]
        assert rate(history_of([user(t) for t in texts]), BLUEPRINT) == [0, 0, 0.5, 0.5, 1, 1]

    def test_steps_as_the_settings_say(self) -> None:  # B5, B16
        """The steps are a setting; none at all rates 0."""
        one, none = (Settings.from_dict({"length_steps": steps}) for steps in ([[3, 0.25]], []))
        history = history_of([user("ab"), user("abc")])
        assert rate(history, one) == [0, 0.25]
        assert rate(history, none) == [0, 0]


class TestOfUnits:
    """Length in Foresight."""

    def test_divides_worth_by_tokens_according_to_its_weight(self) -> None:  # B18
        """0 at no weight, 0.8 at 5, towards 1; a long unit rates below a short one."""
        assert (power(0), power(5)) == (0, 0.8)
        assert 0.98 < power(100) < 1
        assert of_unit(8, 0.8) == of_unit(2, 0.8) == 1.0 > of_unit(100, 0.8) > of_unit(1_000, 0.8) > 0
        assert of_unit(1_000, 0) == 1.0

    def test_counts_more_the_less_can_stay(self) -> None:  # B18
        """The same from half of the tokens up, then rising down to a tenth; not at all without a weight."""
        assert power(5, 0.5) == power(5, 0.8) == power(5)
        assert power(5) < power(5, 0.4) < power(5, 0.25) < power(5, 0.1) == power(5, 0) < 1
        assert power(0, 0.1) == power(0, 0) == 0

"""The signal length."""

from __future__ import annotations

from scoring.settings import BLUEPRINT, Settings
from scoring.signals.length import rate
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

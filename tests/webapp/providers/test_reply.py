"""The result and the cost of a call."""

from __future__ import annotations

import pytest

from scoring.models import find_model
from webapp.providers.reply import Failure, Usage


class TestUsage:
    """Tokens and cost."""

    def test_has_the_cost_of_the_model(self) -> None:  # S4
        """Cached tokens have their own price."""
        prices = find_model("claude-opus-4-5")  # 5, 0.5 and 25 dollars per million
        assert Usage(1_000_000, 100_000, 400_000).cost(prices) == pytest.approx(0.6 * 5 + 0.4 * 0.5 + 2.5)

    def test_has_no_cost_without_prices(self) -> None:
        """An unknown cost is None, not 0."""
        assert Usage(1, 1).cost(find_model("nobody-knows")) is None

    def test_adds_up(self) -> None:
        """Usage of several attempts is added."""
        assert Usage(1, 2, 3).plus(Usage(10, 20, 30)) == Usage(11, 22, 33)


class TestFailure:
    """The reason there is no answer."""

    def test_knows_temporary_failures(self) -> None:
        """A wrong key is not temporary."""
        assert Failure("overloaded", "").is_temporary
        assert not Failure("refused", "").is_temporary

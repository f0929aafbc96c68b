"""The cost of a session."""

from __future__ import annotations

import pytest

from tests.webapp.building import entry, followed, said, user
from webapp.agents.records import Usage
from webapp.app import App


class TestTheCost:
    """In the session's figures."""

    def test_is_that_of_the_next_call_and_of_all_so_far(self, app: App) -> None:  # X9
        """New and from the cache, at the model's list prices."""
        followed(app, user("hi"), model="claude-opus-4-5")
        app.ingest.append_records(
            "s", [entry(9, said("hello"), usage=Usage(100_000, 1_000, 80_000, 20_000), call_key="k")]
        )
        cost = app.sessions.stats("s").cost
        assert cost.per_call == pytest.approx(101_000 * 5 / 1e6)
        assert cost.per_call_cached == pytest.approx(101_000 * 0.5 / 1e6)
        assert (cost.calls, cost.currency, cost.at_least) == (1, "USD", False)
        assert cost.spent == pytest.approx((80_000 * 0.5 + 20_000 * 6.25 + 1_000 * 25) / 1e6)

    def test_is_not_known_without_prices(self, app: App) -> None:  # X9
        """Nothing is made up."""
        followed(app, user("hi"), model="nobody-knows-1")
        assert app.sessions.stats("s").cost is None

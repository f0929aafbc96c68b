"""The cost of a prune at the provider's cache."""

from __future__ import annotations

import pytest

from tests.webapp.building import conversation, followed, user
from webapp.app import App
from webapp.bodies import PlanBody
from webapp.services.planning.answers import Plan


def cache(app: App, model: str) -> Plan:
    """Return a plan for a session with this model."""
    followed(app, *conversation(10), user("end"), session_id=model, model=model)
    return app.prunes.plan(model, PlanBody(max_tokens=500))


class TestCacheFigures:
    """The tokens saved on every call, and those rewritten once."""

    def test_follow_from_prices(self, app: App) -> None:  # X9
        """Writes cost more than reads: break-even is where savings have paid for the rewrite."""
        plan = cache(app, "claude-sonnet-4-5")
        bill, model = plan.cache, app.environment.model("claude-sonnet-4-5")
        assert bill.saved_per_call == plan.freed
        assert 0 < bill.rewritten_once <= plan.after.tokens
        assert bill.saved_cost == pytest.approx(plan.freed * model.cached_price / 1e6, abs=1e-6)
        assert bill.break_even_calls * bill.saved_cost >= bill.rewrite_cost - 1e-5
        assert (bill.break_even_calls - 1) * bill.saved_cost <= bill.rewrite_cost + 1e-5

    def test_have_no_cost_without_prices(self, app: App) -> None:
        """Tokens are counted, but cost and break-even are unknown."""
        bill = cache(app, "nobody-knows-1").cache
        assert bill.saved_per_call > 0
        assert (bill.saved_cost, bill.rewrite_cost, bill.break_even_calls) == (None, None, None)

    def test_are_zero_if_nothing_is_pruned(self, app: App) -> None:
        """No rewrite, no saving, no break-even."""
        followed(app, user("hi"))
        bill = app.prunes.plan("s", PlanBody()).cache
        assert (bill.saved_per_call, bill.rewritten_once, bill.break_even_calls) == (0, 0, None)

"""The strategy *newest first*: backwards, up to the first that does not fit."""

from __future__ import annotations

from dataclasses import replace

from scoring.planning.plan import plan_prune
from scoring.settings import BLUEPRINT
from tests.scoring.builders import calls, history_of, model, results, user

NEWEST_FIRST = replace(BLUEPRINT, strategy="newest_first")


class TestNewestFirst:
    """The units that it keeps."""

    def test_fills_behind_the_fresh_tail(self) -> None:  # M4, M5
        """40 messages, tail 16, room for 29: 25-40 are the tail, 12-24 fill it, 1-11 are dropped."""
        settings = replace(NEWEST_FIRST, fresh_tail=16)
        plan = plan_prune(history_of([user()] * 40), settings, 29 * 3)
        assert [plan.fate(i - 1) for i in range(1, 41)] == ["goes"] * 11 + ["kept"] * 13 + ["protected"] * 16

    def test_stops_at_the_first_that_does_not_fit(self) -> None:  # M5
        """Older small messages go with the large one."""
        plan = plan_prune(history_of([user(), model("x" * 4_000), user(), user()]), NEWEST_FIRST, 20)
        assert plan.kept == (2, 3)
        assert [plan.cause(i) for i in range(3)] == ["older", "too_large", "newest"]
        assert plan.reason(1) == "dropped: does not fit beside newer ones"

    def test_takes_units_whole(self) -> None:  # P4, M5
        """A call is not kept without room for its result."""
        messages = [calls("1"), results("1", text="x" * 400), user(), user()]
        assert plan_prune(history_of(messages), NEWEST_FIRST, 50).kept == (2, 3)

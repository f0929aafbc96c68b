"""Decisions, from which plans are made."""

from __future__ import annotations

from scoring.planning.decision import decide
from scoring.planning.protection import protect
from scoring.planning.strategies import STRATEGIES
from scoring.settings import BLUEPRINT
from tests.scoring.builders import calls, history_of, model, results, user


class TestDeciding:
    """The order of the steps."""

    def test_asks_no_strategy_while_everything_fits(self) -> None:
        """The reason is that everything fits, not a score."""
        history = history_of([user(), model(), user()])
        protection = protect(history, BLUEPRINT, 100)
        decision = decide(history, BLUEPRINT, 100, STRATEGIES["score"].choose, protection, ())
        assert bytes(decision.stays) == b"\1\1\1"
        assert decision.why(1) == ("fits", "kept: everything fits")

    def test_applies_to_all_messages_of_a_unit(self) -> None:  # P4
        """Marks are made at heads and reach every member."""
        history = history_of([calls("1", "2"), user("x" * 400), results("2"), results("1"), user()])
        protection = protect(history, BLUEPRINT, 40)
        decision = decide(history, BLUEPRINT, 40, STRATEGIES["score"].choose, protection, ())
        assert bytes(decision.stays) == b"\1\0\1\1\1"

"""What stays, before it is written down as a plan."""

from __future__ import annotations

from scoring.decision import decide
from scoring.protection import protect
from scoring.selection import STRATEGIES, Choice, Task, Why
from scoring.settings import BLUEPRINT
from tests.scoring.builders import calls, history_of, model, results, user


class TestDeciding:
    """The order of the steps."""

    def test_asks_no_strategy_while_everything_fits(self) -> None:  # B12
        """The reason is that it fits, not a score."""
        history = history_of([user(), model(), user()])
        protection = protect(history, BLUEPRINT, 100)
        decision = decide(history, BLUEPRINT, 100, STRATEGIES["score"], protection, ())
        assert bytes(decision.stays) == b"\1\1\1"
        assert decision.why(1) == ("fits", "kept: everything fits")

    def test_spreads_a_units_fate_to_all_its_messages(self) -> None:  # P4
        """Marks are made at heads and reach every member."""
        history = history_of([calls("1", "2"), user("x" * 400), results("2"), results("1"), user()])
        protection = protect(history, BLUEPRINT, 40)
        decision = decide(history, BLUEPRINT, 40, STRATEGIES["score"], protection, ())
        assert bytes(decision.stays) == b"\1\0\1\1\1"

    def test_puts_back_the_user_message_that_fits(self) -> None:  # X6
        """A list that has to begin with the user gets the latest one before what stays."""
        history = history_of([user("x" * 400), user("y" * 16), model("ERROR: UPDATE: ok"), user()])
        protection = protect(history, BLUEPRINT, 12)

        def only_the_error(task: Task) -> Choice:
            return Choice([2], history.tokens[2], lambda head: Why("", ""))

        decision = decide(history, BLUEPRINT, 12, only_the_error, protection, ())
        assert bytes(decision.stays) == b"\0\0\1\1"
        decision.open_with_user()
        assert bytes(decision.stays) == b"\0\1\1\1"
        assert decision.why(1) == ("opening", "kept: the list has to begin with a user message")

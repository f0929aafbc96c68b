"""Tests of who has to speak when: lists that begin with the user, and lists in which the model never speaks twice in
a row.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.formats import OPENING_TOKENS, opening
from scoring.messages import Message
from scoring.models import family_of, find_model
from scoring.planning.decision import Decision, decide
from scoring.planning.plan import plan_prune
from scoring.planning.protection import protect
from scoring.planning.role_order import apply_role_order, open_with_user, take_turns
from scoring.planning.strategies import Choice, StrategyInput, Why
from scoring.settings import BLUEPRINT, STRATEGY_NAMES
from scoring.tokens import ESTIMATOR, FOUR_CHARACTERS, ModelCounter, estimate_message_tokens
from tests.scoring.builders import calls, history_of, in_letters, model, results, user

LONG = "x" * 400


def decided(messages: list[Message], kept: Collection[int], budget: int) -> Decision:
    """A decision by a strategy that keeps the units with these heads."""
    history = history_of(messages)

    def choose(given: StrategyInput) -> Choice:
        heads = [head for head in given.candidates if head in kept]
        return Choice(heads, lambda head: Why("", ""))

    return decide(history, BLUEPRINT, budget, choose, protect(history, BLUEPRINT, budget), ())


def stays(decision: Decision) -> list[int]:
    """The positions that stay."""
    return [position for position, flag in enumerate(decision.stays) if flag]


class TestBeginningWithTheUser:
    """For Anthropic and Gemini."""

    def test_puts_back_the_user_message_that_fits(self) -> None:  # X6
        """The latest one before what stays."""
        made = decided([user(LONG), user("y" * 16), model("ERROR: UPDATE: ok"), user()], {2}, 12)
        assert stays(made) == [2, 3]
        open_with_user(made)
        assert stays(made) == [1, 2, 3]
        assert made.why(1) == ("opening", "kept: the list has to begin with a user message")

    def test_begins_with_a_line_where_no_user_message_fits(self) -> None:  # X6
        """Nothing goes for it: what stays keeps its place behind the line."""
        made = decided([user(LONG * 10), model(), model(), user()], {1, 2}, 100)
        open_with_user(made)
        assert stays(made) == [1, 2, 3]
        assert made.opening_tokens == OPENING_TOKENS
        assert made.left() == 100 - OPENING_TOKENS - sum(made.history.tokens[1:])

    @pytest.mark.parametrize("name", ["claude-opus-4-6", "gpt-5", "gemini-2.5-pro", ""])
    def test_reserves_what_the_line_takes_at_most(self, name: str) -> None:
        """That holds for the counter of every family, and for characters."""
        limits = find_model(name)
        counter = ModelCounter(ESTIMATOR, family_of(name), limits.token_factor)
        assert estimate_message_tokens(opening(), counter) <= OPENING_TOKENS
        assert estimate_message_tokens(opening(), FOUR_CHARACTERS) <= OPENING_TOKENS

    def test_drops_messages_before_the_first_user_message_that_stays(self) -> None:  # X6
        """There is no room for an opening line either."""
        made = decided([user(LONG), model(), user()], {1}, 8)
        open_with_user(made)
        assert stays(made) == [2]
        assert made.why(1).cause == "opening"


class TestTakingTurns:
    """For Gemini."""

    def test_puts_back_a_user_message_that_fits(self) -> None:  # X6
        """The model's messages both stay."""
        made = decided([user(), model(), user(), model(), user()], {0, 1, 3}, 100)
        take_turns(made)
        assert stays(made) == [0, 1, 2, 3, 4]

    def test_says_why(self) -> None:  # X3, X6
        """Messages that are put back and messages that are dropped have a reason."""
        back = decided([user(), model(), user("y" * 16), model(), user(LONG), user()], {0, 1, 3}, 23)
        take_turns(back)
        assert back.why(2) == ("turns", "kept: without it the model would speak twice in a row")
        gone = decided([user(), model(), user(LONG), model(), user()], {0, 1, 3}, 12)
        take_turns(gone)
        assert stays(gone) == [0, 3, 4]
        assert gone.why(1).reason.startswith("dropped: it would follow another message of the model")

    def test_puts_back_no_output_of_a_dropped_command(self) -> None:  # X6, X23
        """It would read as the answer to the command before it."""
        output = "<output>ok</output>"
        messages = [
            user(),
            model(),
            user(f"<output>{LONG}</output>"),
            model(),
            user(output),
            model(),
            user(output),
        ]
        made = decided(messages, {0, 1, 5}, 40)
        take_turns(made)
        assert stays(made) == [0, 5, 6]

    def test_puts_back_the_output_of_a_command_that_stays(self) -> None:  # X6
        """That output is put back, although a newer one fits as well."""
        output = "<output>ok</output>"
        messages = [user(), model(), user(output), model(LONG), user(output), model(), user(output)]
        made = decided(messages, {0, 1, 5}, 40)
        take_turns(made)
        assert stays(made) == [0, 1, 2, 5, 6]

    def test_drops_whole_units(self) -> None:  # X6, P4
        """A call never goes without its results."""
        messages = [user(), calls("1"), results("1"), model(), user(LONG), calls("2"), results("2"), user()]
        made = decided(messages, {0, 1, 3, 5}, sum(history_of(messages).tokens) - 50)
        take_turns(made)
        assert stays(made) == [0, 1, 2, 5, 6, 7]

    def test_leaves_neighbours_of_the_history_together(self) -> None:
        """A plan is responsible for the messages that it drops, not for faults of its input."""
        made = decided([user(), model(), model(), user(LONG), user()], {0, 1, 2}, 20)
        take_turns(made)
        assert stays(made) == [0, 1, 2, 4]

    def test_names_a_problem_that_it_cannot_solve(self) -> None:  # X6
        """Two that are protected stay, and the plan says so."""
        history = history_of([user(), model(), user(LONG), model(), user()])
        history.pinned.update((1, 3))
        plan = plan_prune(history, BLUEPRINT, 16, wire_format="gemini")
        assert 1 in plan.kept
        assert 3 in plan.kept
        assert plan.problems == ("protected messages of the model stand together, and nothing between fits",)


class TestMending:
    """Mending by the name of a format."""

    def test_asks_nothing_of_a_format_that_asks_nothing(self) -> None:
        """OpenAI takes the model's messages as they come."""
        made = decided([user(LONG), model(), user(LONG), model(), user()], {1, 3}, 12)
        apply_role_order(made, "openai")
        assert stays(made) == [1, 3, 4]

    @given(st.text("uac", max_size=40), st.integers(0, 300), st.sampled_from(STRATEGY_NAMES))
    def test_leaves_the_model_speaking_once_at_a_time(
        self, letters: str, budget: int, strategy: str
    ) -> None:  # X6
        """The model never speaks twice in a row, whatever a strategy keeps."""
        spelled = "u" + letters.replace("a", "au").replace("c", "ctu")
        messages = in_letters(spelled)
        plan = plan_prune(history_of(messages), BLUEPRINT, budget, strategy=strategy, wire_format="gemini")
        roles = [messages[p].role for p in sorted((*plan.kept, *plan.shortened))]
        assert plan.problems or plan.summary or ("assistant", "assistant") not in set(pairwise(roles))
        assert plan.over_budget or plan.tokens_after <= budget

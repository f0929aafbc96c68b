"""Plans fitted to exact numbers."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from scoring.history import History
from scoring.messages import Message
from scoring.planning.fit import FittedPlan, fit
from scoring.planning.plan import plan_prune
from scoring.settings import FORESIGHT
from tests.scoring.builders import any_messages, calls, model, results, user

PLAIN = replace(FORESIGHT, user_words_tokens=0, counting="four_characters")
# Rows that differ in a word: those that differ in their codes alone would be alike, and worth less.
WORDS = [f"{n:09}".translate(str.maketrans("0123456789", "abcdefghij")) for n in range(200)]
OUTPUT = "\n".join(f"row {n} says {word} about file_{n}.py" for n, word in enumerate(WORDS))
SAID = [user("go"), model("parse_rows"), calls("1"), results("1", text=OUTPUT), user("on")]


def size(message: Message) -> int:
    """Return the characters of a message, far more than its tokens in a plan."""
    return len(message.text)


def fitted_plan(messages: list[Message], budget: int, factor: int) -> tuple[FittedPlan, History]:
    """The plan for messages, fitted with a counter that counts `factor` times as much."""
    history = History.of(messages, settings=PLAIN)
    plan = plan_prune(history, PLAIN, budget)
    return fit(plan, history, messages.__getitem__, lambda m: factor * size(m) // 4 + 4), history


class TestFit:
    """Shortened outputs, made and counted."""

    def test_leaves_an_exact_plan_unchanged(self) -> None:
        """Nothing is cut again without need."""
        done, _ = fitted_plan(SAID, 600, 1)
        assert done.kept == (0, 1, 2, 3, 4)
        assert 300 < done.tokens <= 600

    def test_restores_no_output_that_a_stage_replaced(self) -> None:  # X7, X1
        """An output that was cleared for a reason of its own stays cleared, even if there is room."""
        said = [calls("1"), results("1", text=OUTPUT), calls("2"), results("2", text=OUTPUT), user("on")]
        history = History.of(said, settings=PLAIN)
        plan = plan_prune(history, PLAIN, sum(history.tokens) - 1)
        done = fit(plan, history, said.__getitem__, lambda m: size(m) // 8)
        assert plan.shortened == tuple(done.replaced) == (1,)

    def test_cuts_further_before_anything_goes(self) -> None:
        """A counter that counts twice leaves about half of the rows."""
        one, _ = fitted_plan(SAID, 600, 1)
        two, _ = fitted_plan(SAID, 600, 2)
        assert two.kept == one.kept
        assert two.tokens <= 600
        assert len(two.replaced[3].text) < len(one.replaced[3].text)

    def test_drops_nothing(self) -> None:  # X1
        """All messages that the plan keeps stay, whatever their exact cost."""
        done, _ = fitted_plan(SAID, 60, 40)
        assert done.kept == (0, 1, 2, 3, 4)
        assert done.tokens > 60

    def test_leaves_an_output_whole_that_gets_no_cheaper(self) -> None:
        """A replacement has to be smaller."""
        history = History.of(SAID, settings=PLAIN)
        plan = plan_prune(history, PLAIN, 600)
        done = fit(plan, history, SAID.__getitem__, lambda m: history.tokens[3])
        assert (plan.shortened, done.replaced) == ((3,), {})

    @given(any_messages, st.integers(0, 500), st.integers(1, 5))
    def test_keeps_the_plans_messages_and_counts_them(
        self, messages: list[Message], budget: int, factor: int
    ) -> None:  # X1
        """This holds for any counter."""
        done, history = fitted_plan(messages, budget, factor)
        plan = plan_prune(history, PLAIN, budget)
        assert done.kept == tuple(sorted((*plan.kept, *plan.shortened)))
        assert set(done.replaced) <= set(plan.shortened)
        assert done.tokens == sum(done.costs.get(i, history.tokens[i]) for i in done.kept)

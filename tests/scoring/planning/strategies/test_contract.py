"""The contract of a strategy, tested with an invented one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.errors import InvalidList
from scoring.messages import Message, message
from scoring.planning import strategies as selection
from scoring.planning.plan import plan_prune
from scoring.planning.strategies import Choice, Shortening, Strategy, StrategyInput, Why
from scoring.settings import BLUEPRINT, STRATEGIES, STRATEGY_NAMES, Table
from tests.scoring.builders import calls, history_of, results, user


def shorten(given: StrategyInput) -> Choice:
    """Keeps everything, every tool output in three tokens."""
    roles = given.history.roles
    short = Shortening(3, lambda m: m.with_result_text(m.results[0].call_id, "cut"))
    outputs = {p: short for head in given.candidates for p in given.history.unit(head) if roles[p] == "tool"}
    return Choice(given.candidates, lambda head: Why("made_up", "because"), outputs)


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table with strategies of our own."""
    greedy = {"greedy": Strategy(lambda given: Choice(given.candidates, lambda head: Why("", "")))}
    monkeypatch.setattr(selection, "STRATEGIES", {})
    monkeypatch.setattr("scoring.planning.plan.STRATEGIES", {"shorten": Strategy(shorten), **greedy})


class TestAStrategy:
    """The contract between a plan and a strategy."""

    def test_may_shorten_a_message(self) -> None:
        """The plan counts the shortened message, and can make it."""
        output = results("1", text="x" * 400)
        plan = plan_prune(history_of([calls("1"), output, user()]), BLUEPRINT, 20, strategy="shorten")
        assert (plan.kept, plan.shortened, plan.removed) == ((0, 2), (1,), ())
        assert plan.tokens_before - plan.tokens_after == history_of([output]).tokens[0] - 3
        assert plan.fate(1) == "shortened"
        assert (plan.cause(1), plan.reason(1)) == ("made_up", "because")
        assert plan.shortenings[1].apply(output) == Message(
            "tool", message("tool", "", *results("1", text="cut").parts).parts
        )

    def test_is_checked_against_the_budget(self) -> None:  # X6
        """The final check refuses a result that exceeds the budget."""
        with pytest.raises(InvalidList, match="would stay"):
            plan_prune(history_of([user(), user()]), BLUEPRINT, 3, strategy="greedy")


class TestTheTable:
    """The strategies by name."""

    def test_has_a_file_for_each_name_in_the_settings(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Settings accept and describe exactly the strategies of the table."""
        monkeypatch.undo()
        assert set(selection.STRATEGIES) == set(STRATEGY_NAMES)

    @pytest.mark.parametrize("name", STRATEGY_NAMES)
    def test_says_which_strategies_use_the_weights(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Other weights change what a strategy keeps only if its row says so; the page hides the sliders otherwise."""
        monkeypatch.undo()
        talk: list[Message] = []
        for n in range(12):
            output = f"def part_{n}(): line_{n}\n" * (n * 5 % 7 + 1) * 12
            talk += [user(f"look at part_{n}.py"), calls(str(n)), results(str(n), text=output)]
        kept = {
            plan_prune(talk, replace(BLUEPRINT, strategy=name, weights=Table({signal: 100.0})), 1_500).kept
            for signal in ("role", "recency", "length")
        }
        assert (len(kept) > 1) == STRATEGIES[name].uses_weights

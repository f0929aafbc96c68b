"""Tool outputs first: cleared before any message goes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.messages import Message, ToolResult, message
from scoring.planning.old_outputs import exempt_outputs
from scoring.planning.plan import PrunePlan, plan_prune
from scoring.planning.strategies import Strategy, tool_outputs_first
from scoring.settings import BLUEPRINT, Settings
from tests.scoring.builders import calls, history_of, model, user

SMALL = replace(BLUEPRINT, tool_outputs_keep_tokens=1_000, tool_outputs_minimum_gain=500)


@pytest.fixture(autouse=True)
def in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """The strategy under its name, whatever the table holds."""
    monkeypatch.setattr(
        "scoring.planning.plan.STRATEGIES", {"tool_outputs_first": Strategy(tool_outputs_first.choose)}
    )


def turns(count: int, chars: int = 2_000) -> list[Message]:
    """Turns of a question, a call, an output of this many characters, and an answer."""
    out: list[Message] = []
    for n in range(count):
        output = message("tool", "", ToolResult(str(n), "x" * chars, "read"))
        out += [user(f"question {n}"), calls(str(n)), output, model(f"answer {n}")]
    return out


def plan(messages: list[Message], max_tokens: int, rules: Settings = SMALL) -> PrunePlan:
    """A plan by this strategy, with limits that a small list reaches."""
    return plan_prune(history_of(messages), rules, max_tokens, strategy="tool_outputs_first")


class TestToolOutputsFirst:
    """The outputs cleared, and the messages dropped afterwards."""

    def test_clears_old_outputs_and_keeps_every_message(self) -> None:  # C8
        """The newest output stays whole, and every call its arguments."""
        given = turns(6)
        made = plan(given, sum(history_of(given).tokens) - 1_500)
        assert made.removed == ()
        assert made.shortened == (2, 6, 10, 14)
        assert made.cause(2) == "cleared"
        short = made.shortenings[2].apply(given[2])
        assert "output of read cleared" in short.text

    def test_names_the_tool_of_the_call(self) -> None:  # C3
        """A result that does not repeat the name takes it from the call with its id."""
        given = [
            message("tool", "", *(replace(r, name="") for r in m.results)) if m.results else m
            for m in turns(6)
        ]
        made = plan(given, sum(history_of(given).tokens) - 1_500)
        assert "output of read cleared" in made.shortenings[2].apply(given[2]).text

    @pytest.mark.parametrize("at", ["", "2026-11-27T10:42:31.250Z"])
    def test_claims_no_less_than_a_cleared_output_costs(self, at: str) -> None:  # C8, C3
        """The plan states the tokens after the clearing, with the time that the line names."""
        given = [replace(one, at=at) for one in turns(6)]
        history = history_of(given)
        history.dated = bool(at)
        made = plan_prune(history, SMALL, sum(history.tokens) - 1_500, strategy="tool_outputs_first")
        assert made.shortened
        for position, shortening in made.shortenings.items():
            assert history_of([shortening.apply(given[position])]).tokens[0] <= shortening.tokens

    def test_keeps_the_last_two_turns_of_the_user(self) -> None:  # C8
        """Their outputs stay, however large they are."""
        made = plan(turns(3, 8_000), 4_300)
        assert set(made.shortened) <= {2}

    def test_clears_nothing_for_too_small_a_gain(self) -> None:  # C8
        """If clearing gains too little, the oldest messages go instead."""
        given = turns(6, 200)
        made = plan(given, sum(history_of(given).tokens) - 60)
        assert made.shortened == ()
        assert made.removed[0] == 0

    def test_drops_the_oldest_where_clearing_is_not_enough(self) -> None:  # C8, P4
        """Whole units, and within the budget."""
        made = plan(turns(8), 900)
        assert made.tokens_after <= 900
        assert made.removed[0] == 0
        assert made.cause(0) == "older"

    @pytest.mark.parametrize("by", ["drop", "drop_first"])
    def test_leaves_out_outputs_that_the_user_drops(self, by: str) -> None:  # C8, X5
        """An old output that goes anyway is not cleared, and the others are."""
        history = history_of(turns(6))
        drop = {1} if by == "drop" else set()
        history.drop_first |= {1} - drop
        made = plan_prune(
            history, SMALL, sum(history.tokens) - 1_500, strategy="tool_outputs_first", drop=drop
        )
        assert (made.removed, made.shortened) == ((1, 2), (6, 10, 14))

    @pytest.mark.parametrize("named", ["read", ""])
    def test_exempts_listed_tools(self, named: str) -> None:  # C8
        """Named by the result or, where the format does not repeat it, by the call."""
        given = [
            replace(m, parts=tuple(replace(p, name=named) for p in m.results)) if m.results else m
            for m in turns(6)
        ]
        rules = replace(SMALL, tool_outputs_exempt=("read",))
        made = plan(given, sum(history_of(given).tokens) - 1_500, rules)
        assert made.shortened == ()
        assert made.removed
        rules = replace(SMALL, tool_outputs_exempt=("grep",))
        assert plan(given, sum(history_of(given).tokens) - 1_500, rules).shortened == (2, 6, 10, 14)

    def test_exempts_no_output_of_an_unknown_tool(self) -> None:  # C8
        """Features that an older version stored name no tools."""
        given = history_of(turns(6))
        given.features = [f._replace(tool="") for f in given.features]
        assert exempt_outputs(given, ("read",)) == set()

    def test_stops_at_a_summary(self) -> None:  # C8
        """Outputs before a summary are not cleared."""
        given = history_of(turns(6))
        given.summarised = 8
        made = plan_prune(given, SMALL, sum(given.tokens) - 900, strategy="tool_outputs_first")
        assert made.shortened == (10, 14)

    def test_has_the_numbers_of_the_settings(self) -> None:  # C8
        """Two turns, 40,000 tokens, 20,000 of gain."""
        rules = Settings()
        assert (rules.tool_outputs_keep_turns, rules.tool_outputs_keep_tokens) == (2, 40_000)
        assert rules.tool_outputs_minimum_gain == 20_000

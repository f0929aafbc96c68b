"""Messages in which some outputs are replaced."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.history import History
from scoring.messages import Message, ToolResult, message
from scoring.planning.stages.contract import Cut
from scoring.planning.stages.replacement import after_stages, cost, replaced_message
from scoring.planning.strategies import Shortening
from scoring.settings import BLUEPRINT, FORESIGHT
from scoring.tokens import FOUR_CHARACTERS, estimate_message_tokens
from tests.scoring.builders import user
from tests.scoring.planning.stages.sessions import asked, file_text, read, sessions

LONG = file_text("the log", 200)
TWO = [
    asked("call_1", "Read", file_path="a"),
    asked("call_2", "make"),
    message("tool", "", ToolResult("call_1", LONG), ToolResult("call_2", LONG[:900])),
]


class TestMaking:
    """The new text of the message."""

    def test_puts_a_line_in_place_of_one_output(self) -> None:  # X7, X6
        """The other output stays, and both still answer their calls; the line names the tool."""
        history = History.of(TWO)
        short = replaced_message(TWO[2], history, {0: Cut(2, 0)}, {0: "the same came again later"})
        assert [r.call_id for r in short.results] == ["call_1", "call_2"]
        assert short.results[0].text == "[output of Read cleared: the same came again later]"
        assert short.results[1] == TWO[2].results[1]

    def test_says_what_it_took_where_there_is_no_other_reason(self) -> None:  # X7
        """Without another reason it names the tool and the size."""
        history = History.of([TWO[2]])
        [text, _] = [r.text for r in replaced_message(TWO[2], history, {0: Cut(0, 0)}, {0: ""}).results]
        assert text.startswith("[output of a tool cleared; it took ")

    def test_keeps_head_tail_and_error_lines(self) -> None:  # X7
        """A shortened output keeps these."""
        broken = message("tool", "", ToolResult("call_1", LONG + "ValueError: no such line\n" + LONG))
        short = (
            replaced_message(broken, History.of([broken]), {0: Cut(0, 0, shorten=True)}, {0: ""})
            .results[0]
            .text
        )
        assert "ValueError: no such line" in short
        assert short.startswith(LONG[:1_000])
        assert short.endswith(LONG[-500:])

    def test_never_makes_an_output_longer(self) -> None:  # X7
        """A replacement that would be no shorter is not made."""
        little = message("tool", "", ToolResult("1", "ok"))
        assert replaced_message(little, History.of([little]), {0: Cut(0, 0)}, {0: "x" * 99}) == little


class TestCosts:
    """The estimated costs."""

    def test_of_a_part_leave_what_the_rest_takes(self) -> None:  # X7
        """Clearing one of two outputs saves that one's tokens."""
        history = History.of(TWO)
        one, both = cost(history, 2, [Cut(2, 0)]), cost(history, 2, [Cut(2, 0), Cut(2, 1)])
        assert both < one < history.tokens[2]
        rest = message("tool", "", TWO[2].results[1])
        assert one >= estimate_message_tokens(rest)

    @pytest.mark.parametrize("at", ["", "2026-11-27T10:42:31.250Z"])
    @pytest.mark.parametrize("counter", [None, FOUR_CHARACTERS])
    @given(messages=sessions())
    def test_are_rather_too_high_than_too_low(
        self, counter: object, at: str, messages: list[Message]
    ) -> None:  # X7, C3
        """Costs are not underestimated, with the estimator and with four characters per token, and with times."""
        messages = [replace(one, at=at) for one in messages]
        history = History.of(messages, counter)  # type: ignore[arg-type]
        history.dated = bool(at)
        for position, features in enumerate(history.features):
            outputs = features.traced.outputs
            cuts = {n: Cut(position, n) for n, one in enumerate(outputs) if one.digest}
            if len(cuts) == len(outputs) and cuts:
                reasons = dict.fromkeys(cuts, "the file was rewritten later")
                short = replaced_message(messages[position], history, cuts, reasons)
                real = estimate_message_tokens(short, counter)  # type: ignore[arg-type]
                assert real <= cost(history, position, list(cuts.values()))


class TestTheHistory:
    """The history that strategies choose from."""

    def test_has_the_new_costs_and_is_another(self) -> None:  # X7
        """The costs of the message and its unit change in a copy; the original history stays."""
        history = History.of([*read("1", "a.py"), user()], settings=FORESIGHT)
        before = (history.tokens[:], history.unit_tokens[:], history.features[:], history.mentions.held[:])
        after = after_stages(history, {1: Shortening(20, lambda m: m)}, [1])
        assert after.tokens[1] == after.features[1].tokens == 20
        assert after.unit_tokens[0] == history.tokens[0] + 20
        assert (history.tokens, history.unit_tokens, history.features, history.mentions.held) == before

    def test_says_nothing_where_an_output_was_emptied(self) -> None:  # X7, X3
        """An emptied output has no mentions and is not cut further; a shortened one keeps its mentions."""
        history = History.of([*read("1", "a.py"), *read("2", "b.py"), user()], settings=FORESIGHT)
        short = {p: Shortening(20, lambda m: m) for p in (1, 3)}
        after = after_stages(history, short, [1])
        assert list(after.mentions.held[1]) == []
        assert list(after.mentions.held[3]) == list(history.mentions.held[3])
        assert after.features[1].content is None

    @given(st.integers(0, 3))
    def test_has_the_columns_of_the_other(self, count: int) -> None:
        """All columns that do not change are shared."""
        history = History.of([user()] * count, settings=BLUEPRINT)
        after = after_stages(history, {}, [])
        assert {n for n in History.__slots__ if getattr(after, n) is not getattr(history, n)} == {
            "tokens",
            "unit_tokens",
            "features",
            "mentions",
        }

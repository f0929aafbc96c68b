"""Old tool outputs, shortened or cleared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.messages import Message
from scoring.planning.stages import outputs
from scoring.planning.stages.contract import Cut
from scoring.settings import BLUEPRINT, FORESIGHT, Settings
from tests.scoring.builders import user
from tests.scoring.planning.stages.sessions import file_text, given, ran

CLEAR = replace(
    FORESIGHT, stage_outputs="clear", tool_outputs_keep_tokens=500, tool_outputs_keep_turns=1
)  # fmt: skip
LONG = file_text("the log", 200)


def turns(count: int = 3) -> list[Message]:
    """Turns of a question and a command."""
    return [m for n in range(count) for m in (user(f"question {n}"), *ran(str(n), "make", LONG))] + [user()]


class TestOldOutputs:
    """The outputs that are replaced."""

    def test_are_those_before_the_last_turns_oldest_first(self) -> None:  # X7
        """Outputs older than the newest tokens, as the settings of *tool outputs first* say."""
        assert [cut.position for cut in outputs.find(given(turns(), CLEAR))] == [2, 5, 8]
        fewer = replace(CLEAR, tool_outputs_keep_turns=2)
        assert [cut.position for cut in outputs.find(given(turns(), fewer))] == [2, 5]

    def test_are_no_protected_ones(self) -> None:  # X7, B7
        """A pinned output stays."""
        assert [c.position for c in outputs.find(given(turns(), CLEAR, kept=frozenset({1})))] == [5, 8]

    def test_are_shortened_only_where_that_makes_them_shorter(self) -> None:  # X7
        """An output no longer than its head and tail stays whole."""
        shorten = replace(CLEAR, stage_outputs="shorten", tool_outputs_keep_tokens=0)
        short = [user(), *ran("a", "make", file_text("x", 30)), *ran("b", "make", LONG), user(), user()]
        assert [(c.position, c.shorten) for c in outputs.find(given(short, shorten))] == [(4, True)]

    @pytest.mark.parametrize(
        ("settings", "is_enabled"), [(FORESIGHT, False), (BLUEPRINT, False), (CLEAR, True)]
    )
    def test_are_a_setting(self, settings: Settings, is_enabled: bool) -> None:  # X7
        """The stage is off in both presets."""
        assert outputs.STAGE.is_enabled(settings) is is_enabled


class TestReasons:
    """The reasons of replaced old outputs."""

    def test_say_what_is_left_of_it(self) -> None:  # X3, X7
        """The reason names the call, or head, tail and error lines."""
        assert outputs.why(Cut(1, 0), "whole", 0) == (
            "old_cleared",
            "cleared: an old output, of which the call stays",
        )
        assert outputs.why(Cut(1, 0, shorten=True), "whole", 0) == (
            "old_shortened",
            "shortened: an old output, of which head, tail and error lines stay",
        )
        assert outputs.STAGE.note_for_model(Cut(1, 0)) == ""

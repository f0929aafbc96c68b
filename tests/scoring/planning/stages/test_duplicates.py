"""Exact duplicates of a tool output."""

from __future__ import annotations

from typing import get_args

from scoring.messages import ToolResult, message
from scoring.planning.stages import duplicates
from scoring.planning.stages.contract import Cut, State
from scoring.settings import BLUEPRINT, FORESIGHT
from tests.scoring.builders import user
from tests.scoring.planning.stages.sessions import asked, file_text, given, places, ran

SAME = file_text("the log")


class TestDuplicates:
    """The outputs that are cleared."""

    def test_are_all_but_the_newest(self) -> None:  # X7
        """Of three equal outputs the first two are cleared, because of the third."""
        said = [*ran("1", "make", SAME), *ran("2", "make", SAME), *ran("3", "make", SAME), user()]
        assert places(list(duplicates.find(given(said)))) == [(1, 5), (3, 5)]

    def test_are_equal_to_the_last_character(self) -> None:  # X7
        """Outputs that differ in one character are not duplicates."""
        said = [*ran("1", "make", SAME), *ran("2", "make", SAME + "!"), user()]
        assert list(duplicates.find(given(said))) == []

    def test_are_not_protected_ones(self) -> None:  # X7, B7
        """An older copy that is pinned stays, and so does the newest one."""
        said = [*ran("1", "make", SAME), *ran("2", "make", SAME), *ran("3", "make", SAME), user()]
        assert places(list(duplicates.find(given(said, kept=frozenset({0}))))) == [(3, 5)]

    def test_are_measured_by_what_may_stay(self) -> None:  # X7
        """A copy that goes anyway makes no other redundant."""
        said = [*ran("1", "make", SAME), *ran("2", "make", SAME), *ran("3", "make", SAME), user()]
        assert places(list(duplicates.find(given(said, gone=frozenset({4}))))) == [(1, 3)]

    def test_are_not_looked_for_within_one_message(self) -> None:
        """Two equal outputs in one message both stay."""
        both = message("tool", "", ToolResult("1", SAME), ToolResult("2", SAME))
        said = [asked("1", "a"), asked("2", "b"), both, user()]
        assert list(duplicates.find(given(said))) == []

    def test_are_a_setting(self) -> None:  # X7
        """On in *Foresight*, off in *Blueprint*."""
        assert duplicates.STAGE.is_enabled(FORESIGHT)
        assert not duplicates.STAGE.is_enabled(BLUEPRINT)


class TestReasons:
    """The reasons of cleared duplicates."""

    def test_name_the_message_that_holds_the_same(self) -> None:  # X3, X7
        """The reason has the message's number, and says whether that message goes or is shortened."""
        said = {state: duplicates.why(Cut(1, 0, 41), state, 1_041) for state in get_args(State)}
        assert {why.cause for why in said.values()} == {"duplicate"}
        assert said["whole"].reason == "cleared: message 1,041 holds the same output"
        assert said["shortened"].reason == "cleared: message 1,041 had the same output, and is shortened too"
        assert said["gone"].reason == "cleared: message 1,041 had the same output, and goes as well"

    def test_tell_the_model_what_stays_true(self) -> None:  # X7
        """The text for the model says that the output is repeated, without a number, which the model does not know."""
        assert duplicates.STAGE.note_for_model(Cut(1, 0, 41)) == "the same came again later"

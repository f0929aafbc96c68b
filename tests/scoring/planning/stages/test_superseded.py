"""Reads that a later read or write of the same file supersedes."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from scoring.messages import Message, ToolCall, message
from scoring.planning.stages import superseded
from scoring.planning.stages.contract import Cut, State
from scoring.settings import BLUEPRINT, FORESIGHT
from tests.scoring.builders import user
from tests.scoring.planning.stages.sessions import (
    answered,
    asked,
    file_text,
    given,
    places,
    ran,
    read,
    wrote,
)


def found(*parts: list[Message], **more: Any) -> list[tuple[int, int | None]]:
    """Return the cleared messages of a list of these parts and a last message, each with the one that supersedes it."""
    return places(list(superseded.find(given([m for part in parts for m in part] + [user()], **more))))


class TestReads:
    """The reads that are superseded."""

    def test_are_those_of_a_file_that_is_read_again(self) -> None:  # X7
        """The latest read of the file supersedes them; reads of other files stay."""
        assert found(read("1", "a.py"), read("2", "b.py"), read("3", "a.py"), read("4", "a.py")) == [
            (1, 7),
            (5, 7),
        ]

    def test_are_those_of_a_file_that_is_written(self) -> None:  # X7
        """The call that wrote it says what is in it now."""
        assert found(read("1", "a.py"), wrote("2", "a.py")) == [(1, 2)]

    def test_are_found_however_a_path_is_spelled(self) -> None:  # X7
        """It does not matter how the path is written, and whether a tool or a shell reads the file."""
        shell = ran("1", "cd /repo && cat ./src/a.py", file_text("a.py"))
        assert found(shell, read("2", "/repo/src/b/../a.py")) == [(1, 3)]

    def test_include_parts_that_a_whole_read_shows(self) -> None:  # X7
        """A part counts as shown up to the last line that reading tools show without being asked for more."""
        part = read("1", "a.py", file_text("a.py", 20), offset=100, limit=20)
        beyond = read("2", "a.py", file_text("a.py", 20), offset=3_000, limit=20)
        assert found(part, beyond, read("3", "a.py", file_text("a.py", 200))) == [(1, 5)]

    @pytest.mark.parametrize(
        "later",
        [
            read("2", "a.py", offset=1, limit=90),
            read("2", "a.py", "too short to be the file"),
            read("2", "a.py", file_text("a.py", 30)),
            read("2", "b.py"),
            wrote("2", "a.py", failed=True),
            [asked("2", "Write", file_path="a.py", content="x")],
            [asked("2", "Edit", file_path="a.py", old_string="a", new_string="b"), answered("2", "edited")],
            ran("2", "sed -n '1,200p' a.py", file_text("a.py")),
            ran("2", "grep -n x a.py", file_text("a.py")),
            [asked("2", "Read", file_path="a.py"), answered("2", file_text("a.py"), failed=True)],
        ],
    )
    def test_stay_where_nothing_shows_the_file_again(self, later: list[Message]) -> None:  # X7
        """A part, a failure, a much shorter output, an edit, a write without an answer, a command."""
        assert found(read("1", "a.py"), later) == []

    def test_stay_where_the_later_one_goes_anyway(self) -> None:  # X7
        """A message that the user drops in this plan makes no other redundant."""
        assert found(read("1", "a.py"), read("2", "a.py"), gone=frozenset({2})) == []

    def test_stay_where_they_are_protected(self) -> None:  # X7, B7
        """A pinned read is not touched."""
        assert found(read("1", "a.py"), read("2", "a.py"), kept=frozenset({0})) == []

    def test_are_told_apart_where_an_id_comes_again(self) -> None:  # X7
        """A result belongs to the latest call of its id."""
        ls = [asked("1", "Bash", command="ls"), answered("1", file_text("a.py"))]
        assert found(read("1", "a.py"), ls, read("3", "a.py")) == [(1, 5)]

    def test_are_superseded_by_a_patch_that_adds_the_file(self) -> None:  # X7
        """It holds the whole text."""
        patch = "*** Begin Patch\n*** Add File: a.py\n+x = 1\n*** End Patch"
        call = message("assistant", "", ToolCall("2", "apply_patch", json.dumps({"input": patch})))
        assert found(read("1", "a.py"), [call, answered("2", "Success.")]) == [(1, 2)]

    def test_are_a_setting(self) -> None:  # X7
        """On in *Foresight*, off in *Blueprint*."""
        assert superseded.STAGE.is_enabled(FORESIGHT)
        assert not superseded.STAGE.is_enabled(BLUEPRINT)


class TestReasons:
    """The reasons of superseded reads."""

    def test_name_the_file_and_the_message(self) -> None:  # X3, X7
        """The reason says if that message is shortened or gone."""
        cut = Cut(1, 0, 57, "config.py")
        said = {state: superseded.why(cut, state, 57) for state in get_args(State)}
        assert {why.cause for why in said.values()} == {"superseded"}
        assert said["whole"].reason == "cleared: config.py is read again in message 57"
        assert (
            said["shortened"].reason
            == "cleared: config.py was read again in message 57, which is shortened too"
        )
        assert said["gone"].reason == "cleared: config.py was read again in message 57, which goes as well"
        again = superseded.why(cut._replace(written=True), "whole", 57)
        assert again.reason == "cleared: config.py is rewritten in message 57"

    def test_tell_the_model_to_look_further_on(self) -> None:  # X7
        """The text for the model has no number, because the model does not know numbers."""
        assert superseded.note_for_model(Cut(1, 0, 2, "a.py")) == "the file was read again later"
        assert superseded.note_for_model(Cut(1, 0, 2, "a.py", written=True)) == "the file was rewritten later"

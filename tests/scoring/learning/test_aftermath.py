"""Things read, run, met and said again after an event, beside baseline windows of the same session."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.learning import STEPS, Aftermath, AftermathCounter
from scoring.messages import REMINDER, Message, Text, ToolCall, ToolResult
from tests.scoring.builders import model, user

CUT = "compaction"
RULE = "Please keep every public name as it is, and write the tests before the code."


def does(name: str, output: str = "done", **arguments: Any) -> list[Message]:
    """One step: a call, and its output."""
    call = ToolCall("c", name, json.dumps(arguments))
    return [Message("assistant", (call,)), Message("tool", (ToolResult("c", output),))]


def reads(path: str, **arguments: int) -> list[Message]:
    """One step that reads a file."""
    return does("read", f"the text of {path}", path=path, **arguments)


def runs(command: str, output: str = "done") -> list[Message]:
    """One step that runs a command."""
    return does("bash", output, command=command)


def edits(path: str) -> list[Message]:
    """One step that changes a file."""
    return does("edit", path=path, old_string="one", new_string="two")


def steps(count: int, name: str = "step") -> list[Message]:
    """Steps that each do something new."""
    return [message for n in range(count) for message in runs(f"make {name}-{n}")]


def counted(
    before: Sequence[Message], after: Sequence[Message], *, folder: str = "", length: int = STEPS
) -> AftermathCounter:
    """The counter of a log with one event in it. Every message costs ten tokens."""
    counter = AftermathCounter(folder, length)
    for message in before:
        counter.add(message, 10)
    counter.begin(CUT)
    for message in after:
        counter.add(message, 10)
    return counter


def after(before: Sequence[Message], then: Sequence[Message], *, folder: str = "") -> Aftermath:
    """The aftermath of an event between these messages."""
    return counted(before, then, folder=folder).aftermaths[CUT]


class TestFilesReadAgain:
    """A file that was read before the event, and is read once more."""

    def test_are_counted_once_each(self) -> None:  # X25
        """Repetitions within the window do not count again."""
        found = after(reads("a.py") + reads("b.py"), reads("a.py") + reads("a.py") + reads("c.py"))
        assert found.files == 1

    @pytest.mark.parametrize(
        "path", ["./src/a.py", "/home/me/app/src/a.py", "src/../src/a.py", "/home/me/app//src/a.py"]
    )
    def test_are_known_in_any_spelling(self, path: str) -> None:  # X25
        """Relative paths are those of the session's folder."""
        assert after(reads("src/a.py"), reads(path), folder="/home/me/app").files == 1

    def test_are_not_those_of_the_same_name_elsewhere(self) -> None:  # X25
        """The folder belongs to the name."""
        assert after(reads("src/a.py"), reads("tests/a.py"), folder="/home/me/app").files == 0

    def test_are_found_in_commands_that_only_show_a_file(self) -> None:  # X25
        """Such a command is a read, whatever its text."""
        found = after(reads("src/a.py"), runs("cat src/a.py"))
        assert (found.files, found.commands) == (1, 0)

    def test_are_not_those_that_the_agent_has_just_written(self) -> None:  # X25
        """It checks its own work."""
        assert after(reads("a.py"), edits("a.py") + reads("a.py")).files == 0
        assert after(reads("a.py"), runs("sed -i 4d a.py") + reads("a.py")).files == 0

    def test_are_those_that_it_wrote_before_the_event(self) -> None:  # X25
        """It knew what it wrote."""
        assert after(reads("a.py") + edits("a.py"), reads("a.py")).files == 1

    def test_are_not_other_lines_of_a_file(self) -> None:  # X25
        """Reading on is new; one line in common is not."""
        assert after(reads("a.py", offset=1, limit=100), reads("a.py", offset=101, limit=100)).files == 0
        assert after(reads("a.py", offset=1, limit=100), reads("a.py", offset=100, limit=100)).files == 1

    def test_are_found_in_parallel_calls_and_under_an_id_that_is_used_again(self) -> None:  # X25
        """A call counts by what it asks for."""

        def both(*paths: str) -> list[Message]:
            made = [ToolCall(f"c{n}", "read", json.dumps({"path": path})) for n, path in enumerate(paths)]
            return [
                Message("assistant", tuple(made)),
                *(Message("tool", (ToolResult(call.id, "text"),)) for call in made),
            ]

        found = after(both("a.py", "b.py"), both("b.py", "a.py"))
        assert (found.files, found.steps) == (2, 1)


class TestCommandsRunAgain:
    """A command, or a search, with the same text."""

    def test_are_counted_once_each(self) -> None:  # X25
        """Repetitions within the window do not count again."""
        assert after(runs("git log  -3"), runs("git log -3") + runs("git log -3")).commands == 1
        assert (
            after(does("Grep", pattern="x", path="src"), does("Grep", path="src", pattern="x")).commands == 1
        )

    def test_are_not_those_behind_a_change(self) -> None:  # X25
        """Tests run again after a change are ordinary work."""
        assert after(runs("pytest -q"), edits("a.py") + runs("pytest -q")).commands == 0
        assert after(runs("pytest -q"), runs("sed -i 4d a.py") + runs("pytest -q")).commands == 0
        assert after(runs("pytest > log.txt"), runs("pytest > log.txt")).commands == 1

    def test_are_not_calls_that_wait_or_plan(self) -> None:  # X25
        """They are meant to be made again."""
        todo = does("TodoWrite", todos=[{"content": "one", "status": "pending"}])
        waits = does("wait_for", seconds=3)
        assert after(todo + waits, todo + waits).commands == 0


class TestErrorsMetAgain:
    """An output with an error that stood in an earlier one."""

    def test_are_known_without_numbers_addresses_and_temporary_folders(self) -> None:  # X25
        """These differ each time."""
        first = runs("make a", "ValueError: row 17 at 0x7ff1a2 of /tmp/run-a8/x.db is bad")
        again = runs("make b", "ValueError: row 18 at 0x7ff9c3 of /tmp/run-b9/y.db is bad")
        assert after(first, again + again).errors == 1
        assert after(first, runs("make b", "KeyError: 'row'")).errors == 0

    def test_are_one_for_an_output_with_several_lines(self) -> None:  # X25
        """A failed run is one error met again."""
        output = "error: no such table\nerror: no such column\n2 failed"
        assert after(runs("make a", output), runs("make b", output)).errors == 1

    def test_are_not_what_a_file_contains(self) -> None:  # X25
        """The agent reads about it, and does not meet it."""
        log = does("read", "error: no such table", path="build.log")
        assert after(log, log).errors == 0


class TestSaidAgain:
    """A message that a user had to write twice."""

    def test_is_a_message_with_mostly_the_same_words(self) -> None:  # X25
        """Nobody repeats a rule letter by letter."""
        again = "As I said, keep every public name as it is, and write the tests before the code."
        assert after([user(RULE)], [user(again), *steps(1)]).said == 1

    @pytest.mark.parametrize("text", ["go on", "yes", "Yes, please do both of them now."])
    def test_is_not_a_few_words(self, text: str) -> None:  # X25
        """They are said all the time."""
        assert after([user(text)], [user(text), *steps(1)]).said == 0

    def test_is_not_what_a_program_wrote(self) -> None:  # X25
        """Reminders repeat themselves."""
        reminder = Message("user", (Text(RULE),), REMINDER)
        assert after([user(RULE)], [reminder, *steps(1)]).said == 0


class TestTokensUntilTheWorkWentOn:
    """The tokens appended before the first call that does something new."""

    def test_are_those_of_repetitions_and_plans(self) -> None:  # X25
        """Words, outputs and plans before the first edit."""
        again = [
            user("Go on."),
            *reads("a.py"),
            *does("TodoWrite", todos=[{"content": "x", "status": "done"}]),
        ]
        assert after(reads("a.py"), again + edits("a.py")).tokens == 50

    def test_are_none_at_once(self) -> None:  # X25
        """The first call may be new."""
        assert after(reads("a.py"), reads("b.py")).tokens == 0

    def test_are_unknown_while_nothing_new_is_done(self) -> None:  # X25
        """A number would promise an end."""
        assert after(reads("a.py"), [*reads("a.py"), model("Where was I?")]).tokens is None


class TestWindow:
    """The steps that belong to an event."""

    def test_ends_after_a_number_of_steps(self) -> None:  # X25
        """Later steps are not counted."""
        found = after(reads("a.py"), steps(STEPS) + reads("a.py"))
        assert (found.steps, found.files, found.complete) == (STEPS, 0, True)

    def test_is_open_before(self) -> None:  # X25
        """Outputs of its last step may still come."""
        assert not after(reads("a.py"), steps(STEPS)).complete

    def test_ends_at_the_next_event(self) -> None:  # X25
        """Everything after it belongs to that one."""
        counter = counted(reads("a.py"), steps(3))
        counter.begin("prune")
        for message in reads("a.py"):
            counter.add(message, 10)
        assert (counter.aftermaths[CUT].steps, counter.aftermaths[CUT].complete) == (3, True)
        assert counter.aftermaths["prune"].files == 1

    def test_ends_when_the_event_is_taken_back(self) -> None:  # X25
        """From there on nothing is missing."""
        counter = counted(reads("a.py"), steps(3))
        counter.end(CUT)
        for message in reads("a.py"):
            counter.add(message, 10)
        found = counter.aftermaths[CUT]
        assert (found.steps, found.files, found.complete) == (3, 0, True)

    def test_of_an_event_that_no_step_follows_is_nothing(self) -> None:  # X25
        """There was no call in which anything could be repeated."""
        assert not counted(reads("a.py"), [user(RULE)]).aftermaths


class TestBaselineWindows:
    """Windows of the same length without an event."""

    def test_begin_once_there_is_as_much_to_repeat(self) -> None:  # X25
        """The first steps of a session have nothing to repeat."""
        counter = counted(steps(STEPS) + reads("a.py") + steps(STEPS), [])
        assert counter.baseline.windows == 1
        assert counted(steps(2 * STEPS), []).baseline.windows == 0  # the last may go on

    def test_count_against_what_stood_before_each(self) -> None:  # X25
        """A file that is read twice within one window is read once."""
        log = reads("a.py") + steps(STEPS) + reads("a.py") + reads("a.py") + steps(STEPS)
        found = counted(log, []).baseline
        assert (found.windows, found.files) == (1, 1)

    def test_leave_out_what_an_event_cuts_short_and_what_follows_it(self) -> None:  # X25
        """Only the steps behind the window of an event count."""
        log = steps(STEPS) + reads("a.py")
        then = steps(STEPS, "then") + steps(STEPS, "later") + steps(1, "end")
        assert counted(log, then).baseline.windows == 1

    def test_are_none_in_a_short_session(self) -> None:  # X25
        """There is nothing to compare with."""
        assert counted(reads("a.py"), reads("a.py")).baseline.windows == 0


class TestGivenMessages:
    """A session that continues another begins with the event, and knows what the other did."""

    def test_are_known_and_not_counted(self) -> None:  # X25
        """Reading them once more is a repetition."""
        counter = AftermathCounter()
        for message in reads("a.py") + steps(3 * STEPS):
            counter.add_given(message)
        counter.begin("resume")
        for message in reads("a.py"):
            counter.add(message, 10)
        assert counter.aftermaths["resume"].files == 1
        assert counter.baseline.windows == 0


class TestLaws:
    """Laws that hold for every log."""

    LOGS = st.lists(
        st.one_of(
            st.sampled_from(["a.py", "b.py", "c.py"]).map(reads),
            st.sampled_from(["a.py", "b.py"]).map(edits),
            st.sampled_from(["ls", "pytest"]).map(lambda one: runs(one, "error: no such file")),
            st.just([user(RULE)]),
        ),
        max_size=30,
    ).map(lambda parts: [message for part in parts for message in part])

    @given(LOGS, LOGS)
    def test_nothing_is_done_again_that_was_never_done(
        self, before: list[Message], then: list[Message]
    ) -> None:  # X25
        """No window is longer than its steps."""
        fresh = counted([], then).aftermaths.get(CUT)
        assert fresh is None or (fresh.files, fresh.commands, fresh.errors, fresh.said) == (0, 0, 0, 0)
        found = counted(before, then).aftermaths.get(CUT)
        assert found is None or found.steps <= STEPS
        assert found is None or found.files <= 3

    @given(LOGS)
    def test_more_before_never_makes_less_again(self, then: list[Message]) -> None:  # X25
        """A longer log before the event only adds what can be repeated."""
        less = counted(reads("a.py"), then).aftermaths.get(CUT)
        more = counted(reads("b.py") + runs("ls") + reads("a.py"), then).aftermaths.get(CUT)
        assert less is None or (
            more is not None and more.files >= less.files and more.commands >= less.commands
        )

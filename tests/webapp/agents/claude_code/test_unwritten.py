"""Messages that Claude Code sends but does not write, predicted by its rules."""

from __future__ import annotations

from statistics import median

import orjson
import pytest

from benchmarks.prediction import Prediction, replayed
from scoring.messages import REMINDER, Message, Part, Reasoning, Text, ToolCall, ToolResult
from tests.shared import shared_data
from webapp.agents.claude_code.unwritten import (
    CHANGED_WORDS,
    FILE_TOKENS,
    FILES,
    OLDER_STEPS,
    OLDER_WORDS,
    STEPS,
    WORDS,
    TaskReminders,
)
from webapp.agents.reading.rows import dumps
from webapp.agents.records import Entry


class Letters:
    """A counter with one token per character."""

    def count(self, text: str) -> int:
        """Return the number of characters."""
        return len(text)


def row(*parts: Part, call: str = "c", role: str = "assistant", name: str = "", raw: bytes = b"") -> Entry:
    """Return a row of the transcript."""
    return Entry(Message(role, parts, name), None, group=call, call_key=call, raw=raw)  # type: ignore[arg-type]


def tool(name: str, **arguments: object) -> ToolCall:
    """Return a call of a tool."""
    return ToolCall("id", name, orjson.dumps(arguments).decode())


def answered(state: TaskReminders, rows: int, start: int = 0, factor: float = 1.0) -> list[int]:
    """Take `rows` calls of one row each; return the unwritten tokens after each."""
    waiting = []
    for n in range(start, start + rows):
        state.take(row(tool("Bash"), call=f"c{n}"), Letters(), factor)
        state.take(row(ToolResult("id", "done"), role="tool"), Letters(), factor)
        waiting.append(state.waiting(factor))
    return waiting


class TestTheReminder:
    """The reminder of the task list."""

    def test_follows_every_tenth_row_of_answers(self) -> None:  # X11
        """Rows count from the beginning of the session, then from the last reminder."""
        step = STEPS[0]
        assert answered(TaskReminders(), 2 * step) == ([0] * (step - 1) + [WORDS]) * 2

    def test_comes_more_often_in_versions_before_2_1(self) -> None:
        """It follows the seventh row, then every third."""
        older = TaskReminders()
        older.version("2.0.55")
        first, between = OLDER_STEPS
        again = [0] * (between - 1) + [OLDER_WORDS]
        assert answered(older, first + between) == [0] * (first - 1) + [OLDER_WORDS] + again
        older.take(row(tool("TodoWrite", todos=[]), call="list"), Letters(), 1)
        assert answered(older, first - 1, start=20) == [0] * (first - 2) + [OLDER_WORDS], "its own row counts"
        older.version("2.1.39")
        assert not older.older

    def test_was_the_changed_list_before_2_0(self) -> None:  # X11
        """It follows a change once, whatever the number of rows."""
        oldest, todos = TaskReminders(), [{"content": "Try", "status": "pending"}]
        oldest.version("1.0.51")
        assert answered(oldest, 20) == [0] * 20
        oldest.take(row(tool("TodoWrite", todos=todos), call="list"), Letters(), 1)
        assert oldest.waiting(1) == CHANGED_WORDS + len(dumps(todos))
        assert answered(oldest, 20, start=20) == [0] * 20

    def test_is_postponed_by_writing_the_list(self) -> None:
        """Rows count from the change of the list."""
        state = TaskReminders()
        answered(state, 9)
        state.take(row(tool("TaskUpdate"), call="list"), Letters(), 1)
        assert answered(state, 10, start=20) == [0] * 9 + [WORDS]

    def test_shows_the_list_until_it_is_done(self) -> None:
        """It has the number, state and text of each item; a completed list is forgotten."""
        state = TaskReminders()
        todos = [{"content": "Try", "status": "pending", "activeForm": "Trying"}]
        state.take(row(tool("TodoWrite", todos=todos)), Letters(), 1)
        assert state.listed == len("1. [pending] Try")
        assert answered(state, 10)[-1] == WORDS + state.listed
        todos[0]["status"] = "completed"
        state.take(row(tool("TodoWrite", todos=todos), call="d"), Letters(), 1)
        assert state.listed == 0

    def test_counts_every_row_except_reasoning(self) -> None:
        """One call may be several rows."""
        state = TaskReminders()
        for _ in range(4):
            state.take(row(Reasoning("hm")), Letters(), 1)
            state.take(row(Text("I look.")), Letters(), 1)
        assert state.since_list == 4

    def test_is_counted_as_the_model_counts(self) -> None:
        """Its tokens are multiplied by the model's factor."""
        assert answered(TaskReminders(), 10, factor=1.5)[-1] == round(1.5 * WORDS)

    @pytest.mark.parametrize("raw", [b'{"type":"attachment"}', b'{"uuid": "a", "type": "attachment"}'])
    def test_is_not_predicted_if_the_transcript_has_it(self, raw: bytes) -> None:
        """In a transcript with attachments, the reminder is a row like any other, whatever the layout of the row."""
        state = TaskReminders()
        state.take(row(Text("x"), role="user", name=REMINDER, raw=raw), Letters(), 1)
        assert answered(state, 30) == [0] * 30

    def test_restarts_after_a_compaction(self) -> None:
        """The agent counts the rows in its context."""
        state = TaskReminders()
        answered(state, 9)
        state.compacted()
        assert answered(state, 9, start=20) == [0] * 9

    def test_belongs_to_one_call(self) -> None:
        """The call that sent it includes its tokens, and the next one does not."""
        state = TaskReminders()
        answered(state, 10)
        state.take(row(Text("So."), call="next"), Letters(), 1)
        assert (state.asked, state.waiting(1)) == (WORDS, 0)
        state.take(row(tool("Bash"), call="next"), Letters(), 1)
        assert state.asked == WORDS


def read(state: TaskReminders, path: str, text: str, *, call: str = "", is_error: bool = False) -> None:
    """Take a read of a file by the agent."""
    given = orjson.dumps({"file_path": path}).decode()
    state.take(row(ToolCall(f"r{path}", "Read", given), call=call or f"read {path}"), Letters(), 1)
    state.take(row(ToolResult(f"r{path}", text, "", is_error), role="tool"), Letters(), 1)


ATTACHMENT = row(Text("x"), role="user", name=REMINDER, raw=b'{"type":"attachment"}')


class TestACompaction:
    """A compaction, after which the files read last are sent again."""

    def test_sends_the_files_read_last(self) -> None:  # X11
        """A number of files is sent, each up to a maximum of tokens; a file read twice counts once."""
        state = TaskReminders()
        for n in range(FILES + 1):
            read(state, f"{n}.py", "x" * (n + 1) * 10)
        read(state, "1.py", "y" * (FILE_TOKENS + 1_000))
        state.compacted()
        last = sum((n + 1) * 10 for n in range(2, FILES + 1))
        assert state.waiting(1) == last + FILE_TOKENS
        state.take(row(Text("Go on."), call="next"), Letters(), 1)
        assert (state.asked, state.waiting(1)) == (last + FILE_TOKENS, 0)

    def test_sends_no_unreadable_file(self) -> None:
        """A failed read and outputs of other tools are not sent."""
        state = TaskReminders()
        read(state, "a.py", "no such file", is_error=True)
        state.take(row(ToolResult("other", "found"), role="tool"), Letters(), 1)
        state.compacted()
        assert state.waiting(1) == 0

    def test_is_not_predicted_if_the_transcript_has_it(self) -> None:
        """Such a transcript has a row for each file, even if the first one follows the compaction."""
        state = TaskReminders()
        read(state, "a.py", "text")
        state.compacted()
        state.take(ATTACHMENT, Letters(), 1)
        assert state.waiting(1) == 0
        state.compacted()
        assert state.waiting(1) == 0

    def test_remembers_a_bounded_number_of_files(self) -> None:
        """The number is bounded even with many unfinished reads."""
        state = TaskReminders()
        for n in range(200):
            read(state, f"{n}.py", "text")
            state.take(row(ToolCall(f"c{n}", "Read", '{"file_path": "b"}'), call=f"c{n}"), Letters(), 1)
        assert len(state.files) == FILES
        assert len(state.reading) <= 20


class TestABlockedCall:
    """A call blocked by a hook, whose message is sent twice."""

    SAID = "PreToolUse:Bash hook error: [check.sh]: use make"

    def test_is_sent_as_result_and_as_reminder(self) -> None:  # X11
        """The message is sent once more than it is written."""
        state = TaskReminders()
        state.take(row(ToolResult("id", self.SAID, "", True), role="tool"), Letters(), 1)
        assert state.waiting(1) == len(self.SAID)
        state.take(row(Text("Yes."), call="next"), Letters(), 1)
        assert state.waiting(1) == 0

    def test_is_distinguished_from_output_about_a_hook(self) -> None:
        """The output of a command may mention a hook, too."""
        state = TaskReminders()
        for said, failed in ((self.SAID, False), ("Exit code 2\n" + self.SAID, True)):
            state.take(row(ToolResult("id", said, "", failed), role="tool"), Letters(), 1)
        assert state.waiting(1) == 0

    def test_is_not_predicted_if_the_transcript_has_it(self) -> None:
        """The reminder is a row before or after the result."""
        for first in (True, False):
            state = TaskReminders()
            blocked = row(ToolResult("id", self.SAID, "", True), role="tool")
            for one in (ATTACHMENT, blocked) if first else (blocked, ATTACHMENT):
                state.take(one, Letters(), 1)
            assert state.waiting(1) == 0


class TestUnsentArguments:
    """Arguments that are written but not sent."""

    def test_include_a_plan_read_from_its_file(self) -> None:  # X11
        """The next call is smaller than its rows by the plan."""
        state, plan = TaskReminders(), "1. Think. " * 50
        state.take(row(tool("Write", file_path="/home/u/.claude/plans/p.md", content=plan)), Letters(), 1)
        state.take(row(tool("ExitPlanMode", plan=plan), call="d"), Letters(), 1)
        assert state.waiting(1) == -len(orjson.dumps({"plan": plan})) + len("{}")
        state.take(row(Text("Go."), call="e"), Letters(), 1)
        assert state.waiting(1) == 0

    def test_exclude_a_plan_written_by_the_model(self) -> None:
        """The first versions of the tool had no file."""
        state = TaskReminders()
        state.take(row(tool("ExitPlanMode", plan="1. Think.")), Letters(), 1)
        assert state.waiting(1) == 0

    def test_include_the_second_copy_of_a_message(self) -> None:
        """`SendMessage` is written with its text twice, and sent with it once."""
        state, words = TaskReminders(), "Round two."
        sent = {"to": "bob", "summary": "go", "message": words}
        written = {**sent, "type": "message", "recipient": "bob", "content": words}
        state.take(row(tool("SendMessage", **written)), Letters(), 1)
        assert state.waiting(1) == len(orjson.dumps(sent)) - len(orjson.dumps(written))


class TestTheState:
    """The stored state."""

    def test_comes_back_from_json(self) -> None:
        """The state is equal, and fields of another version are ignored."""
        state = TaskReminders(since_list=3, call="c", older=True)
        data = orjson.loads(orjson.dumps({**state.to_dict(), "from_the_future": 1}))
        assert TaskReminders.from_dict(data) == state
        assert TaskReminders.from_dict(None) == TaskReminders()
        assert TaskReminders.from_dict({"told": True}) == TaskReminders(recorded=True)  # its earlier name

    @pytest.mark.parametrize("version", ["", "x", "2", "2.1.0-beta", "3.0"])
    def test_treats_unknown_versions_as_new(self, version: str) -> None:
        """Current versions have the longer steps."""
        state = TaskReminders()
        state.version(version)
        assert not state.older


class TestRealSessions:
    """The shared transcripts, which compare the rule with reported input."""

    @pytest.mark.parametrize(
        ("project", "within"),
        [("-work-spotter", 0.12), ("-src-deep-manifest", 0.12), ("-experiments-worktrees", 0.2)],
    )
    def test_confirm_the_predicted_reminder(self, project: str, within: float) -> None:  # X11
        """The estimate of each project is closer with the reminder than without it."""
        calls = [c for c in replayed(shared_data("transcripts")) if c.project == project and _small(c)]
        errors = [abs(c.predicted - c.real) for c in calls]
        without = [abs(c.predicted - c.unwritten - c.real) for c in calls]
        assert len(calls) >= 4
        assert sum(errors) < 0.6 * sum(without)
        assert median(e / (c.real - c.last_real) for e, c in zip(errors, calls, strict=True)) < within


def _small(call: Prediction) -> bool:
    """Return whether a call has the reminder and little else."""
    return call.kind == "next" and call.unwritten > 0 and 0 < call.real - call.last_real < 1_000

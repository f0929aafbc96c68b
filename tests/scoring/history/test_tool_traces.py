"""The traces of one message, which the stages before dropping read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.history.cues.places import place_of
from scoring.history.features import Features, analyse
from scoring.history.tool_traces import LEAST_CHARS, MOVE, READ, WRITE, Output, Touch, acts_of, read
from scoring.messages import Media, Message, ToolCall, ToolResult, message
from scoring.settings import lexicon_of
from scoring.summary import shortened_text
from tests.scoring.builders import any_messages

LONG = "a line of output\n" * 40
LEXICON = lexicon_of(())


def traces_of(one: Message) -> str:
    """Return the traces of a message as they are stored."""
    return analyse(one, 1, LEXICON, traces=True).traces or ""


def touched(name: str, arguments: Any) -> list[tuple[str, str, int, int]]:
    """Return what one call touches, as plain tuples."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    stored = traces_of(message("assistant", "", ToolCall("1", name, text)))
    return [touch[:4] for touch in read(stored, 1, 0).touches[0]]


def output_of(text: str, **more: Any) -> Output:
    """Return what an output leaves."""
    return read(traces_of(message("tool", "", ToolResult("1", text, **more))), 0, 1).outputs[0]


class TestCalls:
    """Files that a call reads, or writes whole."""

    @pytest.mark.parametrize(
        ("name", "arguments", "expected"),
        [
            ("Read", {"file_path": "/repo/a.py"}, (READ, "/repo/a.py", 1, 0)),
            ("Read", {"file_path": "/repo/a.py", "offset": 300, "limit": 60}, (READ, "/repo/a.py", 300, 359)),
            ("Read", {"file_path": "/repo/a.py", "limit": 50}, (READ, "/repo/a.py", 1, 50)),
            ("read_file", {"absolute_path": "/repo/./b/../a.py"}, (READ, "/repo/a.py", 1, 0)),
            ("read_file", {"path": "a.py", "start_line": 5, "end_line": 9}, (READ, "a.py", 5, 9)),
            ("read", {"filePath": "/repo/a.py", "offset": 2000}, (READ, "/repo/a.py", 2000, 3999)),
            ("mcp__files__read_text_file", {"path": "/repo/a.py"}, (READ, "/repo/a.py", 1, 0)),
            ("str_replace_editor", {"command": "view", "path": "/a.py", "view_range": [3, 8]}, (READ, "/a.py", 3, 8)),
            ("str_replace_editor", {"command": "create", "path": "/a.py"}, (WRITE, "/a.py", 1, 0)),
            ("Write", {"file_path": "/repo/a.py", "content": "x"}, (WRITE, "/repo/a.py", 1, 0)),
            ("write_file", {"file_path": "a.py", "content": "x"}, (WRITE, "a.py", 1, 0)),
            ("shell", {"command": ["bash", "-lc", "cat src/a.py"], "workdir": "/repo"}, (READ, "/repo/src/a.py", 0, 0)),
            ("shell", {"command": ["cat", "a.py"]}, (READ, "a.py", 0, 0)),
            ("exec_command", {"cmd": "sed -n '1,200p' src/a.py"}, (READ, "src/a.py", 1, 200)),
            ("Bash", {"command": "cd /repo && nl -ba a.py | sed -n '10,20p'"}, (READ, "/repo/a.py", 10, 20)),
            ("Bash", {"command": "head -n 40 'my notes.txt'"}, (READ, "my notes.txt", 1, 40)),
            ("bash", {"command": "cat > a.py <<'EOF'\nprint(1)\nEOF"}, (WRITE, "a.py", 1, 0)),
        ],
    )  # fmt: skip
    def test_name_the_file_and_the_lines(self, name: str, arguments: Any, expected: Any) -> None:  # X7
        """The file tools of Claude Code, Codex, Gemini CLI and OpenCode, and shell commands that only read."""
        assert touched(name, arguments) == [expected]

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("Grep", {"path": "/repo/a.py", "pattern": "x"}),
            ("get_file_outline", {"path": "/repo/a.py"}),
            ("Edit", {"file_path": "/repo/a.py", "old_string": "a", "new_string": "b"}),
            ("str_replace_editor", {"command": "str_replace", "path": "/a.py"}),
            ("str_replace_editor", {"command": ["view"], "path": "/a.py"}),
            ("Read", {"file_path": 3}),
            ("Read", "{broken"),
            ("Read", "[1]"),
            ("Bash", {"command": "cat a.py b.py"}),
            ("Bash", {"command": "cat a.py | grep x"}),
            ("Bash", {"command": "cat *.py"}),
            ("Bash", {"command": "cat $FILE"}),
            ("Bash", {"command": "sed -i 's/a/b/' a.py"}),
            ("Bash", {"command": "cat a.py; make"}),
            ("Bash", {"command": "echo " + "x" * 9_000}),
            ("Bash", {"command": 7}),
        ],
    )
    def test_leave_out_uncertain_calls(self, name: str, arguments: Any) -> None:  # X7
        """Searches, edits, parts of files, several files, and commands that do more are left out."""
        assert touched(name, arguments) == []

    def test_name_every_file_that_a_patch_adds(self) -> None:  # X7
        """Files that the patch only changes are not written whole."""
        patch = "*** Begin Patch\n*** Add File: b.py\n+x\n*** Update File: a.py\n*** Add File: c.py\n+y\n*** End Patch"
        expected = [(WRITE, "b.py", 1, 0), (WRITE, "c.py", 1, 0)]
        assert (
            touched("apply_patch", patch) == touched("shell", {"command": ["apply_patch", patch]}) == expected
        )

    def test_say_the_own_name_of_a_file(self) -> None:
        """Reasons use the file's own name."""
        assert Touch(READ, "/repo/src/a.py").name == "a.py"
        assert Touch(READ, "/").name == "/"


class TestCovering:
    """Reads and writes that make an earlier read redundant."""

    @pytest.mark.parametrize(
        ("later", "earlier", "expected"),
        [
            (Touch(READ, "a"), Touch(READ, "a"), True),
            (Touch(READ, "a"), Touch(READ, "a", 0), True),
            (Touch(READ, "a"), Touch(READ, "a", 10, 60), True),
            (Touch(READ, "a"), Touch(READ, "a", 1990, 2060), False),
            (Touch(READ, "a", 1, 100), Touch(READ, "a", 20, 90), False),
            (Touch(READ, "a", 101), Touch(READ, "a"), False),
            (Touch(READ, "a", 1, 2000), Touch(READ, "a"), False),
            (Touch(READ, "a", 0), Touch(READ, "a", 0), True),
            (Touch(READ, "a", 0), Touch(READ, "a"), True),
            (Touch(READ, "a", 0), Touch(READ, "a", 10, 60), False),
            (Touch(WRITE, "a"), Touch(READ, "a", 1990, 2060), True),
        ],
    )
    def test_asks_for_every_line(self, later: Touch, earlier: Touch, expected: bool) -> None:  # X7
        """A whole read covers the lines that reading tools show by default, a write covers all, a part covers none."""
        assert later.covers(earlier) is expected


class TestOutputs:
    """The traces of tool outputs."""

    def test_are_equal_where_the_texts_are(self) -> None:  # X7
        """One more character makes another output."""
        assert output_of(LONG) == output_of(LONG)
        assert output_of(LONG).digest != output_of(LONG + ".").digest

    def test_say_what_they_would_be_shortened_to(self) -> None:  # X7
        """The length in characters, exactly as the text would be cut."""
        text = "x\n" * 3_000 + "ERROR: failed\n" + "y\n" * 3_000
        assert output_of(text)[1:3] == (len(text), len(shortened_text(text)))

    def test_are_left_out_if_short_or_not_alone(self) -> None:  # X7
        """Short outputs are not worth a tombstone; outputs beside text or media have no trace."""
        assert output_of("x" * (LEAST_CHARS - 1)) == Output()
        assert not output_of(LONG, media=(Media("image"),)).digest
        beside = message("user", "and now?", ToolResult("1", LONG))
        assert traces_of(beside) == ""

    def test_say_that_they_failed(self) -> None:
        """A failure is stored for short and long outputs."""
        assert output_of("no such file", is_error=True) == Output(failed=True)
        assert output_of(LONG, is_error=True).failed


class TestStoring:
    """Traces as they are stored with a message."""

    def test_take_one_line_a_call_and_a_result(self) -> None:
        """They are in order; nothing is stored if no line has content."""
        both = message(
            "assistant",
            "",
            ToolCall("1", "ls", "{}"),
            ToolCall("2", "Read", '{"file_path": "a\\tb\\nc.py"}'),
        )
        assert traces_of(both).split("\n") == ["", "r1:0:a b c.py"]
        assert traces_of(message("assistant", "", ToolCall("1", "ls", "{}"))) == ""

    def test_have_the_place_of_a_file(self) -> None:  # X7
        """Only if it is not the agent's own machine; a path in a shell is marked, and its moves are no files."""
        there = ToolCall("1", "read_file", '{"path": "a.py", "host": "web1"}')
        shell = ToolCall("2", "Bash", '{"command": "cd /srv && cat a.py"}')
        stored = traces_of(message("assistant", "", there, shell))
        [[first], [second]] = read(stored, 2, 0).touches
        assert first == Touch(READ, "a.py", place=place_of("", {"host": "web1"}))
        assert second == Touch(READ, "/srv/a.py", 0, in_shell=True)
        assert acts_of(stored, 2)[1] == (second, Touch(MOVE, "/srv", in_shell=True))

    def test_of_an_earlier_version_are_read(self) -> None:
        """They have no places."""
        assert read("r1:0:/repo/a:b.py", 1, 0).touches == [(Touch(READ, "/repo/a:b.py"),)]

    def test_read_as_nothing_where_nobody_looked(self) -> None:
        """A value that an older version stored has no traces."""
        stored = Features.from_dict({"role": "assistant", "tokens": 1, "calls": ["1"], "results": ["2"]})
        assert stored.traces is None
        assert stored.traced == ([()], [Output()])

    @given(any_messages)
    def test_have_a_place_for_each_call_and_result(self, messages: list[Message]) -> None:
        """There is a line for each call and result, whatever the message holds."""
        for one in messages:
            made = read(traces_of(one), len(one.calls), len(one.results))
            assert (len(made.touches), len(made.outputs)) == (len(one.calls), len(one.results))

    @given(st.text(max_size=40), st.sampled_from(["Read", "Bash", "str_replace_editor", "x"]))
    def test_are_text_that_can_be_stored(self, said: str, name: str) -> None:
        """Paths with line breaks and lone surrogates are stored."""
        for key in ("file_path", "command"):
            arguments = json.dumps({key: said + "\ud800"})
            traces_of(message("assistant", "", ToolCall("1", name, arguments))).encode("utf-8")

"""The prompt for a model, and reading its reply."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.messages import FileReference, Media, Message, Reasoning, Text, ToolCall, ToolResult, message
from scoring.summary.prompt import TERSER, ask, read_reply, transcript
from scoring.summary.sections import SECTIONS, sections_of, word_count
from scoring.summary.summary import Summary
from tests.scoring.builders import user

GOOD = "\n".join(f"## {name}\n- about {name.lower()}" for name in SECTIONS)


class TestAsking:
    """The prompt."""

    def test_names_the_sections_and_the_limit(self) -> None:  # S4
        """It also says that the conversation is only material."""
        asked = ask([user("hi")], 300)
        assert all(name in asked.system for name in SECTIONS)
        assert "at most 300 words" in asked.system
        assert "user: hi" in asked.text
        assert TERSER in ask([user("hi")], 300, terser=True).system

    def test_shows_every_kind_of_part(self) -> None:
        """Calls with their arguments, results, errors, files; long outputs by their ends."""
        said = Message("assistant", (Reasoning("hm"), Text("ok"), ToolCall("1", "read", '{"path": "a"}')))
        output = message(
            "tool",
            "",
            ToolResult("1", "x" * 9_000, "read", is_error=True),
            Media("image"),
            FileReference("b.py"),
        )
        text = transcript([Summary("s", "before", 1, 3), said, output])
        assert "[Summary: depth 1, 3 messages]\nbefore" in text
        assert '[calls read {"path": "a"}]' in text
        assert "[error of read: xxx" in text
        assert "[thinks: hm]" in text
        assert "[image]" in text
        assert len(text) < 4_000


class TestReading:
    """Reading a reply."""

    def test_takes_the_five_sections(self) -> None:  # S4
        """In order, as bullets."""
        assert read_reply(GOOD).text.startswith(
            "## Files Modified\n- about files modified\n\n## Key Decisions"
        )

    @pytest.mark.parametrize(
        "dressed",
        ["```markdown\n" + GOOD + "\n```", "Sure! Here it is:\n" + GOOD, GOOD.replace("## ", "**") + "**"],
    )
    def test_takes_them_in_other_dress(self, dressed: str) -> None:
        """Fenced, introduced, or bold."""
        assert sections_of(read_reply(dressed).text)["Key Decisions"] == ["about key decisions"]

    def test_keeps_lines_under_headings_within_a_section(self) -> None:
        """A model may divide a section."""
        text = "## Files Modified\n### Created\n- a.py\n### Edited\n- b.py\n## Pending Tasks\n- c"
        assert sections_of(read_reply(text).text)["Files Modified"] == ["a.py", "b.py"]

    @pytest.mark.parametrize(
        "reply", ["", "   ", "I cannot help with that.", "```\n```", "## Files Modified"]
    )
    def test_refuses_what_is_no_summary(self, reply: str) -> None:  # C9
        """With the reason, and without a text."""
        read = read_reply(reply)
        assert read.text == ""
        assert read.problem

    def test_leaves_out_what_is_too_much(self) -> None:  # S4
        """A model that does not count is held to the words."""
        long = "## Key Decisions\n" + "\n".join("- " + "word " * 30 for _ in range(100))
        assert word_count(read_reply(long).text) <= 600

    @given(st.text(max_size=500))
    def test_never_raises(self, reply: str) -> None:  # C9
        """Rubbish is refused."""
        read = read_reply(reply)
        assert bool(read.text) != bool(read.problem)

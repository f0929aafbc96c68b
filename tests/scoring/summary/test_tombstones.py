"""The text in place of cleared and shortened outputs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.messages import Media, Message, Text, ToolCall, ToolResult, message
from scoring.summary import tombstones
from scoring.summary.tombstones import (
    CUT,
    cleared,
    cleared_text,
    cut_message,
    fitted,
    shortened,
    shortened_text,
    without_media,
)
from scoring.tokens import ESTIMATOR, estimate_message_tokens
from tests.scoring.builders import any_messages

LONG = "\n".join(f"line {n} of the output" for n in range(400))


class TestClearing:
    """A tool output gives way to one line."""

    def test_names_the_tool_and_the_time(self) -> None:  # C3
        """The line says which tool spoke, and when its words were cleared."""
        line = cleared_text("read", "2024-01-15T12:00:00Z", 4_210)
        assert line == "[output of read cleared at 2024-01-15T12:00:00Z; it took 4,210 tokens]"

    def test_takes_the_name_from_the_call_where_the_result_has_none(self) -> None:  # C3
        """Some formats name the tool only in the call."""
        out = cleared(message("tool", "", ToolResult("1", LONG)), "2024-01-15", {"1": "grep"})
        assert "output of grep cleared at 2024-01-15" in out.text
        assert "line 7" not in out.text

    def test_names_the_time_at_which_the_output_came(self) -> None:  # C3
        """To the minute, where the message has one."""
        said = replace(message("tool", "", ToolResult("1", LONG, "grep")), at="2026-11-27T10:42:31.250Z")
        assert cleared(said).text.startswith("[output of grep from 2026-11-27 10:42 cleared; it took ")

    def test_leaves_the_arguments_of_a_call_alone(self) -> None:  # C3
        """The arguments of a call stay unchanged."""
        call = message("assistant", "", ToolCall("1", "write", '{"path": "a", "content": "' + LONG + '"}'))
        assert cleared(call) == call

    def test_leaves_a_short_output_alone(self) -> None:
        """A tombstone is never longer than its output."""
        short = message("tool", "", ToolResult("1", "ok"))
        assert cleared(short) == short

    def test_takes_media_of_an_output_along(self) -> None:
        """A screenshot in an output is part of the output."""
        shot = message("tool", "", ToolResult("1", "", media=(Media("image"),)))
        assert not cleared(shot).media
        assert estimate_message_tokens(cleared(shot)) < estimate_message_tokens(shot)


class TestShortening:
    """A long text gives way to its ends and its errors."""

    def test_keeps_head_tail_and_error_lines(self) -> None:  # X7
        """A thousand characters, five hundred, and what went wrong between."""
        text = LONG + "\nE501 ERROR: disk full on /dev/sda1\n" + LONG
        short = shortened_text(text)
        assert short.startswith(text[:1_000])
        assert short.endswith(text[-500:])
        assert "ERROR: disk full on /dev/sda1" in short
        assert len(short) < 2_000

    def test_keeps_all_error_lines_or_as_many_as_asked_for(self) -> None:  # X7
        """Each error line is kept once, however many there are; a text of nothing else stays as it is."""
        lines = [f"error {n}: no such file" for n in range(200)]
        text = f"{LONG}\n" + "\nfine\n".join([*lines, *lines]) + f"\n{LONG}"
        assert all(shortened_text(text).count(f"{line}\n") == 1 for line in lines)
        assert shortened_text(text, error_lines=3).count("error ") == 3
        assert shortened_text("\n".join(lines)) == "\n".join(lines)

    def test_reads_a_line_of_twenty_million_characters_once(self) -> None:  # X7
        """From each of its codes back to its beginning would take minutes."""
        short = shortened_text("E1234 " * 4_000_000)
        assert short[1_000:].split("\n")[2] == ("4 " + "E1234 " * 50)[:300]
        assert len(short) < 2_000

    def test_finds_the_codes_of_all_lines(self) -> None:  # X7
        """One of each line at most."""
        codes = [f"E{n:04} and E{n + 1:04}" for n in range(0, 400, 2)]
        short = shortened_text(f"{LONG}\n" + "\nfine\n".join(codes) + f"\n{LONG}")
        assert all(short.count(f"{line}\n") == 1 for line in codes)
        assert "fine" not in short[len(LONG) :]

    def test_looks_for_no_error_lines_where_none_is_wanted(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # S5
        """The emergency path has no use for them."""
        text = f"{LONG}\nerror: disk full\n{LONG}"
        monkeypatch.setattr(tombstones, "_error_lines", lambda _: pytest.fail("looked for"))
        assert "disk full" not in shortened_text(text, error_lines=0)

    def test_says_how_much_is_gone(self) -> None:
        """The mark has both numbers."""
        assert f"of {len(LONG):,} characters left out" in shortened_text(LONG)

    @given(st.text(max_size=4_000))
    def test_never_makes_a_text_longer(self, text: str) -> None:
        """That holds for any text."""
        assert len(shortened_text(text, 20, 10)) <= len(text)

    def test_touches_tool_outputs_only_unless_told(self) -> None:
        """A user's words are no tool output."""
        said = message("user", LONG)
        assert shortened(said) is said
        assert len(shortened(said, results_only=False).text) < len(LONG)

    def test_puts_a_word_in_place_of_media(self) -> None:
        """The word tells the model that something was there."""
        seen = Message("user", (Text("look"), Media("image"), Media("audio")))
        assert without_media(seen).text == "look\n[image left out]\n[audio left out]"


class TestCutting:
    """Text that has to fit a number of tokens."""

    @given(st.text(max_size=3_000), st.integers(0, 300))
    def test_fits(self, text: str, tokens: int) -> None:
        """Always, down to nothing at all."""
        assert ESTIMATOR.count(fitted(text, tokens)) <= tokens

    def test_keeps_both_ends(self) -> None:
        """The beginning says what it is, the end what came of it."""
        short = fitted(LONG, 200)
        assert short.startswith("line 0")
        assert short.endswith("line 399 of the output")

    def test_of_a_message_leaves_small_texts_whole(self) -> None:
        """The large ones give."""
        said = Message("user", (Text("please read this"), Text(LONG), Text("and answer")))
        cut = cut_message(said, 300)
        assert estimate_message_tokens(cut) <= 300
        assert cut.parts[0] == said.parts[0]
        assert cut.parts[2] == said.parts[2]

    @given(any_messages, st.integers(0, 3_000))
    def test_of_a_message_never_costs_more(self, messages: list[Message], tokens: int) -> None:
        """That holds for any content."""
        for one in messages:
            assert estimate_message_tokens(cut_message(one, tokens)) <= max(
                estimate_message_tokens(one), estimate_message_tokens(message("user", CUT))
            )

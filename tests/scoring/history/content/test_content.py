"""The content of one message: mentions, stems and rows."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.history.content import VERSION, Content, content_of
from scoring.history.content.hashes import line_hash
from scoring.history.content.rows import pieces_of
from scoring.history.features import outputs_of, text_of
from scoring.messages import Message
from tests.scoring.builders import any_messages

OUTPUT = "nothing\nFAILED tests/test_parser.py with an error\n\nand the last line of all says something"


def size_of(content: Content) -> int:
    """The bytes of a content without its names."""
    columns = [getattr(content, name) for name in content.__slots__ if name != "names"]
    parts = [part for one in columns for part in (one if isinstance(one, tuple) else (one,))]
    return sum(map(sys.getsizeof, parts))


class TestContent:
    """Mentions, stems and rows."""

    def test_has_names_then_lines(self) -> None:
        """Names are stored as text, in order; lines as hashes."""
        content = content_of("open main.py\nthen read the whole of the text\nutils_b is a name")
        assert content.names.split("\n") == ["main.py", "utils_b"]
        assert list(content.lines) == [line_hash("then read the whole of the text")]

    def test_knows_the_mentions_of_each_row(self) -> None:
        """Blank lines are no rows, positions count names first, and rows with errors always stay."""
        content = content_of(OUTPUT, [OUTPUT])
        assert (list(content.rows.lines), list(content.rows.key_rows)) == ([0, 1, 3], [1])
        names = content.names.split("\n")
        first = content.rows.mentions[content.rows.ends[0] : content.rows.ends[1]]
        assert {names[m] for m in first if m < len(names)} == {
            "FAILED",
            "tests/test_parser.py",
            "test_parser.py",
        }

    def test_never_cuts_the_edges_of_a_long_line_that_reports_an_error(self) -> None:  # X7
        """Most of what an error says is at the beginning of its line or at its end."""
        line = "ValueError: " + "expected one of them, " * 60
        content = content_of(line, [line])
        said = dict(pieces_of(line))
        kept = [said[content.rows.pieces[row]] for row in content.rows.key_rows]
        assert line.startswith("".join(kept[:5]))
        assert line.endswith("".join(kept[5:]))
        assert len(kept) == 10

    def test_knows_which_mentions_occur_only_in_alike_lines(self) -> None:
        """A name counts as one of alike lines only if no other line has it."""
        log = [f"INFO the request req-{n:04d} of order {n + 4000} was served" for n in range(9)]
        text = "\n".join([*log, "and req-0007 was slow"])
        content = content_of(text, [text])
        names = content.names.split("\n")
        alike = {names[mention] for mention in content.alike if mention < len(names)}
        assert alike == {f"req-{n:04d}" for n in range(9)} - {"req-0007"} | {str(n + 4000) for n in range(9)}
        assert len(content.alike) == len(alike) + len(content.lines) - 1

    def test_has_no_rows_without_an_output(self) -> None:
        """Messages of users and models are never cut."""
        assert len(content_of(OUTPUT).rows.ends) == 0

    def test_knows_a_question(self) -> None:
        """The length of the question is stored."""
        content = content_of("Where is the parser?")
        assert (content.asks, content.words) == (True, 4)

    @given(any_messages, st.sampled_from(["", "héé\u2028x", OUTPUT, "x" * 1_000]))
    def test_survives_json(self, messages: list[Message], more: str) -> None:
        """The stored form is read back as an equal value."""
        for message in messages:
            content = content_of(text_of(message) + more, outputs_of(message) and [text_of(message) + more])
            back = Content.from_dict(json.loads(json.dumps(content.to_dict())))
            assert back == content
            assert (back.names, back.lines, back.words, back.asks, back.stems, back.rows, back.alike) == (
                content.names, content.lines, content.words, content.asks, content.stems, content.rows, content.alike
            )  # fmt: skip

    @given(any_messages)
    def test_packed_takes_less_memory(self, messages: list[Message]) -> None:
        """A message has as much content as before in the form in which a history keeps it."""
        for message in messages:
            content = content_of(text_of(message) + OUTPUT, [text_of(message) + OUTPUT])
            packed = content.packed()
            assert size_of(packed) < 0.6 * size_of(content)
            assert (packed.names, packed.lines, packed.words) == (content.names, content.lines, content.words)
            assert (packed.stems, packed.rows, packed.alike) == (content.stems, content.rows, content.alike)
            assert packed == content

    @pytest.mark.parametrize(
        "line",
        ["x" * 300_000, "/" + "x" * 300_000, "a-" * 150_000, "a." * 150_000, "a/" * 150_000, "=" * 300_000],
    )
    def test_of_a_line_without_end_is_found(self, line: str) -> None:
        """The time grows with the length of the line, not with its square, which would take minutes."""
        content = content_of(line, [line])
        assert len(content.names) < 1_000

    def test_of_another_version_is_none(self) -> None:
        """Content of another version is computed again from the text."""
        assert Content.from_dict({**Content().to_dict(), "version": VERSION + 1}) is None

    def test_is_equal_by_value(self) -> None:
        """A difference in any part makes two contents different."""
        assert content_of("main.py") == content_of("main.py")
        assert hash(content_of("main.py")) == hash(content_of("main.py"))
        assert Content(words=1) != Content()

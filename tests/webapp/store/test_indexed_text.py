"""The words of a message that the index holds."""

from __future__ import annotations

import pytest

from scoring.messages import FileReference, Media, Message, Reasoning, Text, ToolCall, ToolResult
from tests.shared import ROOT
from webapp.store.indexed_text import INDEXED_CHARS, indexed


class TestWords:
    """The parts of a message that are searched."""

    def test_hold_everything_that_was_said(self) -> None:  # X14
        """Words, thoughts, calls, results, files; no pictures."""
        parts = (
            Text("one"), Reasoning("two"), ToolCall("i", "three", "four"), ToolResult("i", "five"),
            FileReference("six"), Media("image"),
        )  # fmt: skip
        assert indexed(Message("assistant", parts)).split() == ["one", "two", "three", "four", "five", "six"]

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (r'{"new_string": "a\nb\tc", "n": 5, "in": ["\u00e9"]}', ["a", "b", "c", "5", "é"]),
            ("*** Begin Patch", ["***", "Begin", "Patch"]),
            ('{"cut": "of', ['{"cut":', '"of']),
        ],
    )
    def test_of_a_call_are_what_its_arguments_say(self, arguments: str, words: list[str]) -> None:  # X14
        """They are not as JSON spells them; arguments that are no JSON are taken as they are."""
        assert indexed(Message("assistant", (ToolCall("i", "Edit", arguments),))).split() == ["Edit", *words]

    def test_end_where_the_index_does(self) -> None:
        """Of an enormous message only the indexed part is gathered."""
        long = Message("assistant", (Text("a" * 5), ToolCall("i", "b", "c" * INDEXED_CHARS), Text("d")))
        assert indexed(long) == ("aaaaa\nb\n" + "c" * INDEXED_CHARS)[:INDEXED_CHARS]

    @pytest.mark.parametrize("path", ["docs/api.md", "static/search/coppice-search.js"])
    def test_end_where_the_documentation_says(self, path: str) -> None:  # X14
        """The API and the page of the search name the limit."""
        assert f"first {INDEXED_CHARS:,} characters" in (ROOT / path).read_text()

    def test_can_be_stored(self) -> None:
        """Half characters cannot."""
        assert indexed(Message("user", (Text("a\ud800b"),))) == "a?b"

"""Errors carry their subject as data."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.errors import (
    Fault,
    InvalidList,
    InvalidSettings,
    MalformedMessage,
    ScoringError,
    UnknownFormat,
    shown,
)


class TestErrors:
    """One base, children with data."""

    def test_say_all_they_know_in_one_line(self) -> None:
        """Each message can be shown as it is."""
        faults = [Fault("a", "expected 1, got 2"), Fault("b.c", "unknown")]
        errors: list[ScoringError] = [
            InvalidSettings(faults),
            InvalidList(["no user", "an orphan"]),
            MalformedMessage(3, "expected an object, got 7"),
            UnknownFormat("the list is a number; expected a list of messages"),
        ]
        assert [str(e) for e in errors] == [
            "a: expected 1, got 2; b.c: unknown",
            "no user; an orphan",
            "message 3: expected an object, got 7",
            "unknown message format: the list is a number; expected a list of messages",
        ]

    def test_keep_their_data(self) -> None:
        """A handler need not parse the text."""
        assert InvalidSettings([Fault("a", "x")]).faults == (Fault("a", "x"),)
        assert InvalidList(["x"]).problems == ("x",)
        assert MalformedMessage(3, "x").index == 3


class TestAWrongValue:
    """The text of a value that came as JSON, in an error."""

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (None, "null"),
            (True, "true"),
            (False, "false"),
            (3.0, "3.0"),
            ("it's", '"it\'s"'),
            ('say "é"', '"say \\"é\\""'),
            ("\x1b[2J\u200b", '"\\u001b[2J\\u200b"'),
            ("\ud800", '"\\ud800"'),
            ([1, 2], "a list"),
            ({"a": 1}, "an object"),
            ({1}, "a set"),
        ],
    )
    def test_is_shown_as_its_sender_wrote_it(self, value: Any, text: str) -> None:
        """A text has the quotes and escapes of JSON."""
        assert shown(value) == text

    @pytest.mark.parametrize("value", ["x" * 1_000_000, "\x00" * 41, 10**60])
    def test_is_cut_short(self, value: Any) -> None:
        """It takes at most 40 characters."""
        assert len(shown(value)) == 40
        assert shown(value).endswith("...")

    def test_is_a_number_of_any_size(self) -> None:
        """Python refuses to write out very long ones."""
        assert shown(10**5_000) == "a number of more than 60 digits"

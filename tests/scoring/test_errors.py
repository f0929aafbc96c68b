"""Errors carry their subject as data."""

from __future__ import annotations

from scoring.errors import Fault, InvalidList, InvalidSettings, MalformedMessage, ScoringError, UnknownFormat


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

"""The summary that a plan asks for, written for a list that no store keeps."""

from __future__ import annotations

from scoring.summary.levels import replaced_tokens
from scoring.summary.planned import written
from tests.scoring.builders import model, user

ITEMS = [
    user("Use tabs in src/parser.py, never spaces. " * 20),
    model("I decided to use tabs because the file has them. " * 20),
]


class TestWritten:
    """One summary."""

    def test_keeps_to_what_was_set_aside(self) -> None:  # C9
        """At any size, and says what it takes."""
        for most in (60, 100, 200):
            made = written(ITEMS, most)
            assert made.accepted
            assert made.tokens <= most

    def test_is_shorter_than_what_it_covers(self) -> None:  # C9
        """Whatever was set aside."""
        assert written(ITEMS, 10_000).tokens < replaced_tokens(ITEMS)

    def test_says_how_many_messages_it_covers(self) -> None:  # M6
        """In its heading."""
        assert written(ITEMS, 400).summary.as_message().text.startswith("[Summary: depth 1, 2 messages")

    def test_is_the_same_twice(self) -> None:
        """To the last character."""
        assert written(ITEMS, 150) == written(ITEMS, 150)

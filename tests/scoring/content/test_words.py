"""Words for relevance."""

from __future__ import annotations

import pytest

from scoring.content.words import LONGEST, asks, stem, stems, word_count


class TestStems:
    """Question and answer cut the same way."""

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("parsing", "parsed"),
            ("stories", "story"),
            ("running", "run"),
            ("deployment", "deployed"),
            ("tests", "test"),
        ],
    )
    def test_of_two_forms_of_a_word_agree(self, one: str, other: str) -> None:
        """Endings are cut off."""
        assert stem(one) == stem(other)

    def test_leave_stop_words_and_letters_out(self) -> None:
        """`yes, go ahead` says next to nothing."""
        assert stems("Yes, go a x and then") == {}
        assert stems("Tiles and tiles") == {stem("tiles"): 2}

    def test_cut_data_short(self) -> None:
        """A word of a thousand letters is no word."""
        assert [len(word) for word in stems("x" * 1_000)] == [LONGEST]

    def test_count_words(self) -> None:
        """All of them, stop words too."""
        assert word_count("Yes, go ahead: 3 times") == 5


class TestAsking:
    """Questions and requests."""

    @pytest.mark.parametrize(
        "text", ["Where is it?", "Tell me what we said of the tiles", "and why did you do that?"]
    )
    def test_is_seen(self, text: str) -> None:
        """A question mark, or a word that asks, in a sentence of words."""
        assert asks(text)

    @pytest.mark.parametrize(
        "text", ["", "go on", "git diff --stat HEAD~1 src/app.py?raw", "yes, please do it"]
    )
    def test_is_not_seen_in_orders_and_code(self, text: str) -> None:
        """Neither an order nor a line of code asks."""
        assert not asks(text)

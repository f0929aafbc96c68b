"""Keyword groups and how words are found."""

from __future__ import annotations

import pytest

from scoring.lexicon import SLICE_CHARS, KeywordGroup, Lexicon, lexicon_of, slices, words_in
from scoring.settings import KEYWORDS


class TestDefaultGroups:
    """What the preset lists rate."""

    @pytest.mark.parametrize(
        ("text", "rating"),
        [
            ("nothing of note", 0.0),
            ("ERROR: it did not work", 15 / 25),
            ("a Traceback follows", 15 / 25),
            ("the build was a success", 10 / 25),
            ("ran the tool", 10 / 25),
            ("UPDATE: src/app.py", 20 / 25),
            ("create: a file", 20 / 25),
            ("error, but then success", 1.0),
            ("error, tool, done, CREATE: all at once", 1.0),
        ],
    )
    def test_rate_by_the_groups_found(self, text: str, rating: float) -> None:  # B4
        """Errors 15, outcomes 10, tool use 10, changes 20 of 25; in any case; at most 1 in all."""
        assert lexicon_of(KEYWORDS).rate(text) == pytest.approx(rating)

    @pytest.mark.parametrize(
        "text", ["terror", "errorless", "my_error_handler", "undone", "recreate:", "toolbox"]
    )
    def test_count_whole_words_only(self, text: str) -> None:  # B4
        """A word inside another one is not found."""
        assert lexicon_of(KEYWORDS).rate(text) == 0

    def test_count_a_group_once(self) -> None:  # B4
        """Ten errors rate as one."""
        assert lexicon_of(KEYWORDS).rate("error " * 10) == lexicon_of(KEYWORDS).rate("error")


class TestEditing:
    """Lists that people change."""

    def test_takes_phrases_signs_and_other_scripts(self) -> None:  # B4, B16
        """A phrase, a word with signs and a word in Chinese are found as they are written."""
        lexicon = Lexicon([KeywordGroup("own", 0.5, ("roll back", "C++", "失败"))])
        assert [lexicon.rate(t) for t in ("Roll back!", "in c++ only", "失败", "rollback")] == [
            0.5,
            0.5,
            0.5,
            0,
        ]

    def test_of_nothing_finds_nothing(self) -> None:
        """No groups, empty groups and blank words rate 0."""
        assert Lexicon([]).rate("error") == 0
        assert Lexicon([KeywordGroup("a", 1.0, ()), KeywordGroup("b", 1.0, (" ",))]).rate("error") == 0

    def test_changes_its_digest_with_any_change(self) -> None:
        """Another word or share is another lexicon; equal groups are the same object."""
        one = (KeywordGroup("a", 0.5, ("x",)),)
        others = [(KeywordGroup("a", 0.6, ("x",)),), (KeywordGroup("a", 0.5, ("y",)),), ()]
        assert lexicon_of(one) is lexicon_of((KeywordGroup("a", 0.5, ("x",)),))
        assert lexicon_of(one).digest not in {lexicon_of(other).digest for other in others}

    def test_group_survives_json(self) -> None:
        """A group is read back as it was written."""
        group = KeywordGroup.of("a", 0.5, "x y")
        assert KeywordGroup.from_dict(group.to_dict()) == group == KeywordGroup("a", 0.5, ("x", "y"))


class TestLongTexts:
    """Texts of any length."""

    @pytest.mark.parametrize("chars", [1, 3, 7, 1000])
    def test_are_looked_at_in_pieces_that_cut_no_word(self, chars: int) -> None:
        """All of it, in order."""
        text = "an error, naïve_word " * 20 + "x" * 30
        pieces = list(slices(text, chars))
        assert "".join(pieces) == text
        assert [w for p in pieces for w in words_in(p)] == words_in(text)

    def test_are_rated_as_a_whole(self) -> None:
        """A keyword behind the first piece counts, and one of each group."""
        lexicon = Lexicon([KeywordGroup.of("a", 0.5, "alpha"), KeywordGroup.of("b", 0.25, "beta")])
        assert lexicon.rate("alpha " + "word " * SLICE_CHARS + "beta") == 0.75
        assert lexicon.rate("") == 0

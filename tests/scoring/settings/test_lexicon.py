"""Keyword groups and how words are found."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.settings.lexicon import SLICE_BYTES, Finder, KeywordGroup, Lexicon, lexicon_of
from scoring.settings.settings import KEYWORDS


class TestDefaultGroups:
    """Ratings by the preset lists."""

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


# Letters that touch, signs, blanks, other scripts, half a surrogate pair, and what grows in lower case.
LETTERS = st.sampled_from([*"aabbc_9", *" .:+-", "é", "失", "败", "\u0301", "\ud800", "🙂", "İ", "K"])


def said(most: int) -> st.SearchStrategy[str]:
    """Texts of few different characters, so that words are often found in them."""
    return st.text(LETTERS, max_size=most)


class TestAnyText:
    """Words found in any text, compared with a regular expression."""

    @given(text=said(30), words=st.lists(said(4), max_size=5))
    def test_matches_whole_words_only(self, text: str, words: list[str]) -> None:  # B4
        """A word is found where no letter, digit or underscore touches one of its own, and nowhere else."""
        spelled = [word.strip().lower() for word in words if word.strip()]
        edges = [
            (r"(?<!\w)" * bool(re.match(r"\w", w)), r"(?!\w)" * bool(re.search(r"\w\Z", w))) for w in spelled
        ]
        stands = [
            re.search(before + re.escape(w) + after, text.lower())
            for w, (before, after) in zip(spelled, edges, strict=True)
        ]
        rated = Lexicon([KeywordGroup("any", 0.5, tuple(words))]).rate(text)
        assert rated == (0.5 if any(stands) else 0.0)

    @given(text=said(40), words=st.lists(said(4).filter(str.strip), min_size=1, max_size=5))
    def test_is_searched_for_all_words_as_for_each_alone(self, text: str, words: list[str]) -> None:
        """Words searched together hide nothing of each other, and a word of two groups counts in both."""
        together = Lexicon([KeywordGroup(word, 2.0**-n, (word,)) for n, word in enumerate(words, 1)])
        alone = [Lexicon([KeywordGroup(word, 2.0**-n, (word,))]) for n, word in enumerate(words, 1)]
        assert together.rate(text) == sum(one.rate(text) for one in alone)

    def test_may_hold_words_within_words(self) -> None:
        """A longer word does not hide a shorter one, nor a phrase the next that begins inside it."""
        groups = [KeywordGroup(w, 0.25, (w,)) for w in ("roll back", "back", "back end", "error", "errors")]
        assert Lexicon(groups[:3]).rate("roll back end") == 0.75
        assert Lexicon(groups[3:]).rate("errors") == 0.25


class TestLongTexts:
    """Texts of any length, which are searched in slices."""

    @pytest.mark.parametrize("before", range(SLICE_BYTES - 12, SLICE_BYTES + 3))
    @pytest.mark.parametrize("blank", [" ", "失 "])
    def test_are_rated_as_a_whole(self, before: int, blank: str) -> None:
        """Keywords of every group are found at the edge of a slice, whatever text crosses it."""
        lexicon = Lexicon([KeywordGroup.of("a", 0.5, "alpha:"), KeywordGroup("b", 0.25, ("beta max",))])
        start = (blank * before)[: before // len(blank.encode()) * len(blank)]
        assert lexicon.rate(f"{start}alpha: beta max") == 0.75
        assert lexicon.rate(f"{start}xalpha: beta maximum") == 0

    def test_may_be_empty(self) -> None:
        """An empty text has no keywords."""
        assert lexicon_of(KEYWORDS).rate("") == 0


class TestFinder:
    """The lines that contain any of some words."""

    @given(
        lines=st.lists(said(12), max_size=6),
        words=st.lists(said(3).filter(str.strip), min_size=1, max_size=4),
    )
    def test_finds_each_line_with_a_word(self, lines: list[str], words: list[str]) -> None:
        """In upper or lower case, also within other words, each line once and in order."""
        expected = [n for n, line in enumerate(lines) if any(w.lower() in line.lower() for w in words)]
        assert Finder(words).lines_of("\n".join(lines)) == expected

"""The levels of a summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from scoring.messages import Message, message
from scoring.summary.levels import (
    Level,
    SummaryScope,
    built_in,
    covering,
    deterministic,
    judge,
    replaced_tokens,
    request,
)
from scoring.summary.sections import SECTIONS
from scoring.summary.summary import OLDER_BELOW, Summary, Surroundings
from scoring.tokens import estimate_message_tokens
from tests.scoring.builders import any_messages, model, user

ALONE = Surroundings()
GOOD = "\n".join(f"## {name}\n- about {name.lower()}" for name in SECTIONS)
LISTED = [
    user("Use tabs in src/parser.py, never spaces. " * 20),
    model("I decided to use tabs because the file has them. " * 20),
]
TALK = [user("Use port 8080 because 80 is taken. " * 20), model("I'll do that. " * 40)]


def scope_of(items: Sequence[Message], *, replaced: int | None = None, first: str = "") -> SummaryScope:
    """Return the scope of a summary of these messages, beside which nothing stays."""
    tokens = replaced_tokens(items) if replaced is None else replaced
    return SummaryScope(items, ALONE, tokens, covering(items, ALONE, first))


class TestLevels:
    """Structured, terser, deterministic."""

    def test_ask_for_less_at_the_second(self) -> None:  # C9
        """Fewer words, and terser."""
        assert get_args(Level) == ("structured", "terser", "deterministic")
        assert request("structured", TALK).max_words == 600
        assert request("terser", TALK).max_words == 240

    def test_reject_what_is_not_shorter(self) -> None:  # C9
        """At every level; the reason has the numbers."""
        judged = judge(scope_of(TALK, replaced=20), GOOD, max_words=600)
        assert not judged.accepted
        assert "no fewer than the 20 it replaces" in judged.problem
        assert judge(scope_of(TALK), GOOD, 600).accepted

    def test_reject_a_reply_that_is_none(self) -> None:  # C9
        """It does not raise."""
        assert judge(scope_of(TALK, replaced=1_000), "no", 600).problem

    @given(any_messages, st.integers(1, 600))
    def test_end_with_one_that_always_fits(self, messages: list[Message], words: int) -> None:  # C9
        """Shorter than what it replaces, unless even the heading is not."""
        replaced = replaced_tokens(messages)
        judged = deterministic(scope_of(messages), words)
        heading = estimate_message_tokens(covering(messages, ALONE).as_message())
        assert judged.accepted or replaced <= heading + 1
        assert not judged.accepted or judged.tokens < replaced

    def test_take_more_than_half_for_a_whole_sentence(self) -> None:  # C9, S4
        """The only sentence of a short text is not cut after four words."""
        asked = (
            "Please fix the login page: it redirects twice after the session expires, and its token is lost."
        )
        items = [user(" ".join([asked] * 4)), model("I will look at it now.")]
        judged = deterministic(scope_of(items, first="2026-11-22"))
        assert f"- User: {asked} …" in judged.summary.text
        assert judged.tokens <= 0.75 * replaced_tokens(items)

    def test_end_with_one_worth_its_place(self) -> None:  # C9, S4
        """Half of what it replaces at most, and no word is cut."""
        asked = "Please fix the login page: nobody can sign in since Friday, and we open on Monday. Ticket AUTH-77."
        items = [user(asked), model("I'll look at src/login.py first and then at the sessions table.")]
        judged = deterministic(scope_of(items))
        lines = [line for line in judged.summary.text.splitlines() if line.startswith("- ")]
        said = set(" ".join(item.text for item in items).replace(".", " ").split())
        assert judged.accepted
        assert judged.tokens <= replaced_tokens(items) // 2
        assert set(" ".join(lines).replace(".", " ").split()) - {"-", "User:", "…"} <= said


class TestCovering:
    """The messages that a summary covers."""

    def test_is_one_deeper_than_what_it_covers(self) -> None:  # C7
        """Messages count through."""
        made = covering(
            [Summary("a", "", 2, 45), message("user", "x"), Summary("b", "", 1, 4, note="n")],
            ALONE,
            "2024-01-01",
        )
        assert (made.depth, made.messages, made.note, made.first) == (3, 50, "n", "2024-01-01")
        assert covering([], ALONE).depth == 1

    def test_says_that_older_messages_are_below(self) -> None:  # M7, C2
        """It stands at the place of the first message; the note of an earlier summary stays, but is said once."""
        above, below = Surroundings(), Surroundings(older_below=True)
        first = covering([*TALK, Summary("a", "", note="cut")], below)
        assert first.note == f"cut; {OLDER_BELOW}"
        assert covering([*TALK, first], below).note == first.note
        assert covering([*TALK, first], above).note == "cut"
        assert covering(TALK, below).as_message().text.endswith(f"[{OLDER_BELOW}]")


class TestBuiltInSummary:
    """The summary that a plan asks for, for a list that no store keeps."""

    def test_keeps_to_what_was_set_aside(self) -> None:  # C9
        """At any size, and says what it takes."""
        for most in (60, 100, 200):
            made = built_in(LISTED, ALONE, most)
            assert made.accepted
            assert made.tokens <= most

    def test_is_shorter_than_what_it_covers(self) -> None:  # C9
        """It is shorter than the messages, however much room it has."""
        assert built_in(LISTED, ALONE, 10_000).tokens < replaced_tokens(LISTED)

    def test_says_how_many_messages_it_covers(self) -> None:  # M6
        """The heading gives the number of messages."""
        assert (
            built_in(LISTED, ALONE, 400).summary.as_message().text.startswith("[Summary: depth 1, 2 messages")
        )

    def test_is_the_same_twice(self) -> None:
        """The same messages give the same text."""
        assert built_in(LISTED, ALONE, 150) == built_in(LISTED, ALONE, 150)

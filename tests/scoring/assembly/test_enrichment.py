"""Memories and learnings in the system prompt."""

from __future__ import annotations

from scoring.assembly.enrichment import LEARNINGS_HEADING, MEMORY_HEADING, enrich, words_for_search
from scoring.messages import Message, message
from scoring.tokens import ESTIMATOR

FACTS = [
    f"fact {n}: the service number {n} listens on port {8000 + n} and logs to its own file" for n in range(20)
]


class TestMemory:
    """Memories found for the new message."""

    def test_stands_under_its_heading_behind_the_prompt(self) -> None:  # M3
        """The section follows the whole prompt, under its heading."""
        made = enrich("You are an agent.", FACTS[:2], [], 1_000, 0, 5)
        assert made.prompt.startswith(f"You are an agent.\n\n{MEMORY_HEADING}\n\n- fact 0")
        assert made.memories == 2

    def test_is_cut_to_its_budget(self) -> None:  # M3
        """Conformance example 10: the section with its heading is within the budget."""
        made = enrich("", FACTS, [], 100, 0, 5)
        assert 0 < ESTIMATOR.count(made.prompt) <= 100
        assert "relevant memory is cut to 100 tokens" in made.notes[0]

    def test_is_left_out_where_nothing_fits(self) -> None:
        """If no line fits, the heading is left out too."""
        assert enrich("p", FACTS, FACTS, 0, 0, 5).prompt == "p"

    def test_in_a_script_without_blanks_is_cut(self) -> None:
        """A text that is a single word is cut to the budget as well."""
        made = enrich("", ["数据库连接失败" * 60], [], 60, 0, 5)
        assert 0 < ESTIMATOR.count(made.prompt) <= 60


class TestLearnings:
    """Learnings from earlier sessions."""

    def test_the_sixth_is_left_out(self) -> None:  # M3
        """Conformance example 10: at most five are added."""
        made = enrich("", [], [f"learning {n}" for n in range(6)], 0, 1_000, 5)
        assert made.learnings == 5
        assert "learning 5" not in made.prompt
        assert made.notes == ("1 past learning is left out",)

    def test_are_taken_whole_or_not_at_all(self) -> None:  # M3
        """A learning that is too large does not exclude the others."""
        made = enrich("", [], ["long " * 500, "short one"], 0, 40, 5)
        assert made.prompt == f"{LEARNINGS_HEADING}\n\n- short one"
        assert ESTIMATOR.count(made.prompt) <= 40


class TestWordsForSearch:
    """The words of a message by which memories are searched."""

    def test_are_the_telling_words_once(self) -> None:  # M3
        """Common words and repeated words are left out."""
        assert words_for_search(message("user", "Please fix the Login page, the login!")) == (
            "fix",
            "login",
            "page",
        )

    def test_of_a_message_without_content_are_none(self) -> None:  # M3
        """Conformance example 10: a message without content gives no words."""
        assert words_for_search(Message("user")) == ()
        assert words_for_search(None) == ()

    def test_of_a_long_message_are_not_too_many(self) -> None:
        """The number of words is limited, since a query with every word finds everything."""
        assert len(words_for_search(message("user", " ".join(f"word{n}" for n in range(500))))) == 32

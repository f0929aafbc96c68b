"""Measuring a message once."""

from __future__ import annotations

import orjson
import pytest

from scoring.history import Facts, with_content
from scoring.messages import Message, Text, ToolResult
from scoring.settings import lexicon_of
from scoring.tokens import ESTIMATOR
from tests.scoring.builders import BALANCED
from webapp.agents.records import REMINDER
from webapp.services.session.measuring import measure, region_of, starts_turn, title_of

LEXICON = lexicon_of(BALANCED.keywords)


class TestMeasure:
    """Tokens, features, card."""

    def test_gives_what_is_stored(self) -> None:
        """The features' text is the features."""
        found = measure(
            Message("tool", (ToolResult("c", "Error: it failed", is_error=True),)), ESTIMATOR, LEXICON, {}
        )
        assert orjson.loads(found.features_text)["tokens"] == found.features.tokens > 0
        assert found.is_error
        assert found.features.keywords > 0

    def test_knows_that_a_reminder_is_nobodys_word(self) -> None:
        """A reminder that a program put into the user's message is not protected."""
        assert not measure(
            Message("user", (Text("todo list is empty"),), REMINDER), ESTIMATOR, LEXICON, {}
        ).features.own_words
        assert measure(Message("user", (Text("please"),)), ESTIMATOR, LEXICON, {}).features.own_words

    @pytest.mark.parametrize(
        "text", ["look at a/b.py", "what is wrong in main.rs?", "Done. It works.", "see https://x.org/a", "…"]
    )
    def test_tells_talk_of_files_without_looking_for_its_content(self, text: str) -> None:
        """The task type counts are the same with and without the contents that a plan reads."""
        message = Message("user", (Text(text),))
        found = measure(message, ESTIMATOR, LEXICON, {}).features
        at_once, later = Facts(), Facts()
        at_once.add(found)
        later.add(with_content(found, message))
        assert (found.content, at_once) == (None, later)
        assert found.names_file == (".py" in text or ".rs" in text)


class TestTurns:
    """The beginnings of turns."""

    def test_begin_where_a_person_speaks(self) -> None:
        """Reminders, results and summaries begin no turn."""
        words = Message("user", (Text("go on"),))
        assert starts_turn(words, "message")
        assert not starts_turn(words, "compaction_summary")
        assert not starts_turn(Message("user", (Text("x"),), REMINDER), "message")
        assert not starts_turn(Message("user", (ToolResult("c", "out"),)), "message")
        assert starts_turn(Message("user", (ToolResult("c", "out"), Text("and this?"))), "message")

    def test_give_a_title(self) -> None:
        """One line, not too long."""
        assert title_of(Message("user", (Text(" fix\n the   parser "),))) == "fix the parser"
        assert len(title_of(Message("user", (Text("x" * 500),))) or "") == 80
        assert title_of(Message("user", ())) is None


class TestRegion:
    """The region of the window that a message counts in."""

    def test_is_the_role_but_for_summaries(self) -> None:
        """Summaries have a separate region."""
        assert (region_of("tool", "message"), region_of("user", "compaction_summary")) == ("tool", "summary")

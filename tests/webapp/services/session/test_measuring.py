"""Measuring a message: its tokens, features and card."""

from __future__ import annotations

import orjson
import pytest

from scoring.history import TaskCounts, with_content
from scoring.messages import REMINDER, Message, Text, ToolResult
from scoring.settings import lexicon_of
from scoring.tokens import ESTIMATOR
from tests.scoring.builders import BALANCED
from webapp.services.session.measuring import measure, region_of, starts_turn

LEXICON = lexicon_of(BALANCED.keywords)


class TestMeasure:
    """The measurements of a message."""

    def test_gives_features_as_text(self) -> None:
        """The stored text equals the features."""
        found = measure(
            Message("tool", (ToolResult("c", "Error: it failed", is_error=True),)), ESTIMATOR, LEXICON, {}
        )
        assert orjson.loads(found.features_text)["tokens"] == found.features.tokens > 0
        assert found.is_error
        assert found.features.keywords > 0

    def test_marks_results_that_the_tool_marks_as_errors(self) -> None:
        """Text that merely looks like an error does not count."""
        for failed in (True, False):
            message = Message("tool", (ToolResult("c", "error", is_error=failed),))
            assert measure(message, ESTIMATOR, LEXICON, {}).is_error is failed

    def test_excludes_reminders_from_the_users_own_words(self) -> None:
        """A reminder has the role of the user, but the user did not write it."""
        assert not measure(
            Message("user", (Text("todo list is empty"),), REMINDER), ESTIMATOR, LEXICON, {}
        ).features.own_words
        assert measure(Message("user", (Text("please"),)), ESTIMATOR, LEXICON, {}).features.own_words

    @pytest.mark.parametrize(
        "text", ["look at a/b.py", "what is wrong in main.rs?", "Done. It works.", "see https://x.org/a", "…"]
    )
    def test_detects_file_names_without_the_content(self, text: str) -> None:
        """The counts for the task type are the same with and without contents."""
        message = Message("user", (Text(text),))
        found = measure(message, ESTIMATOR, LEXICON, {}).features
        at_once, later = TaskCounts(), TaskCounts()
        at_once.add(found)
        later.add(with_content(found, message))
        assert (found.content, at_once) == (None, later)
        assert found.names_file == (".py" in text or ".rs" in text)


class TestTurns:
    """Turns."""

    def test_begin_with_a_request_of_the_user(self) -> None:
        """Reminders, results and summaries do not begin a turn."""
        words = Message("user", (Text("go on"),))
        assert starts_turn(words, "message")
        assert not starts_turn(words, "compaction_summary")
        assert not starts_turn(Message("user", (Text("x"),), REMINDER), "message")
        assert not starts_turn(Message("user", (ToolResult("c", "out"),)), "message")
        assert starts_turn(Message("user", (ToolResult("c", "out"), Text("and this?"))), "message")


class TestRegion:
    """The region of the window that a message counts in."""

    def test_is_the_role_except_for_summaries(self) -> None:
        """Summaries have their own region."""
        assert (region_of("tool", "message"), region_of("user", "compaction_summary")) == ("tool", "summary")

"""The features of one message."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.formats import decode
from scoring.history.content import READ_CHARS, content_of
from scoring.history.cues import COMPACTION, MACHINE_MADE
from scoring.history.features import (
    Features,
    analyse,
    argument_values,
    rated,
    text_of,
    with_content,
)
from scoring.messages import Message, Reasoning, ToolCall, ToolResult, message
from scoring.settings import lexicon_of
from scoring.settings.lexicon import KeywordGroup
from scoring.settings.settings import KEYWORDS
from tests.scoring.builders import any_messages, calls, model, results, thought, user

LEXICON = lexicon_of(KEYWORDS)
AROUND = st.text(" \t\n\r\x0b\xa0,]", max_size=2)


class TestText:
    """The text that signals read."""

    def test_is_text_results_and_argument_values(self) -> None:  # B4
        """Values of arguments count, numbers too; their keys do not."""
        one = message(
            "assistant", "look", ToolCall("1", "run", '{"error": {"failed": ["ls -l", 3, true, null]}}')
        )
        assert text_of(one) == "look\nls -l\n3\nTrue"
        assert text_of(results("1", text="output")) == "output"
        assert analyse(one, 10, LEXICON).keywords == 0

    def test_leaves_reasoning_out(self) -> None:
        """A thought counts neither as words nor as length."""
        assert text_of(thought("error")) == ""
        assert analyse(thought("error"), 10, LEXICON).chars == 0

    @pytest.mark.parametrize("arguments", ["free text", "{broken", "", '["a"', "[" * 100_000])
    def test_takes_arguments_that_are_no_json_as_they_are(self, arguments: str) -> None:
        """Arguments that are not JSON count as text, without an error."""
        assert argument_values(arguments) == [arguments]

    @given(AROUND, st.sampled_from(['{"a": "b"}', "{}", '[1, "x"]', "[]", '"a"', "5", '{"a" 1}']), AROUND)
    def test_takes_for_json_what_json_is(self, before: str, core: str, behind: str) -> None:
        """Only an object or a list, with JSON's white space around it, is read as JSON."""
        arguments = before + core + behind
        try:
            parsed = json.loads(arguments)
        except ValueError:
            parsed = None
        if not isinstance(parsed, dict | list):
            assert argument_values(arguments) == [arguments]
        else:
            assert argument_values(arguments) != [arguments]

    def test_reads_deep_arguments_without_recursion(self) -> None:
        """Values are found at any depth that a JSON parser accepts."""
        assert argument_values("[" * 500 + '"x"' + "]" * 500) == ["x"]


class TestFeatures:
    """The stored facts."""

    def test_say_who_speaks_and_what_is_tied_to_it(self) -> None:
        """Role, tokens, call ids, and whether the words are the user's own."""
        assert analyse(calls("1", "2"), 7, LEXICON).calls == ("1", "2")
        assert analyse(results("1"), 7, LEXICON).results == ("1",)
        assert analyse(user(), 7, LEXICON).own_words
        assert analyse(thought(), 7, LEXICON).reasoning_only

    @pytest.mark.parametrize("content", [True, False])
    def test_say_if_a_program_wrote_a_users_message(self, content: bool) -> None:  # X23
        """That is known even if the content is not analysed."""
        said = "<output>ok</output>"
        assert analyse(user(said), 7, LEXICON, content=content).cues.speech == MACHINE_MADE
        for other in (user(), model(said), message("user", "", ToolResult("1", said))):
            assert MACHINE_MADE not in analyse(other, 7, LEXICON, content=content).cues.speech

    @pytest.mark.parametrize("content", [True, False])
    def test_say_if_a_provider_compacted_what_came_before(self, content: bool) -> None:
        """Found at the append, where the wire object is at hand, and kept when the content is analysed later."""
        [item] = decode([{"type": "compaction", "encrypted_content": "gAAA"}], "responses").messages
        found = analyse(item, 7, LEXICON, content=content)
        assert COMPACTION in found.cues.speech
        assert with_content(found, replace(item, wire=None)).cues.speech.count(COMPACTION) == 1

    @given(any_messages)
    def test_hold_the_traces_of_every_message(self, messages: list[Message]) -> None:  # X7
        """Traces found at the append and traces found later from the text are the same."""
        for one in messages:
            found = analyse(one, 10, LEXICON, traces=True)
            later = with_content(found._replace(traces=None), one)
            assert found.traces == later.traces == Features.from_dict(later.to_dict()).traces

    def test_name_the_tools_of_calls_and_results(self) -> None:  # C8
        """The names are stored in order; nothing is stored if no name is known."""
        both = message(
            "user", "", ToolCall("1", "read", "{}"), ToolResult("2", "out"), ToolCall("3", "a\nb", "")
        )
        assert analyse(both, 7, LEXICON).names == (["read", "a b"], [""])
        assert analyse(results("1"), 7, LEXICON).to_dict().keys() & {"tool"} == set()
        assert analyse(message("tool", "", ToolResult("1", "x", "grep")), 7, LEXICON).tool == "grep"

    def test_of_an_older_version_name_no_tools(self) -> None:  # C8
        """Stored rows without the field, or with names that do not fit their calls, are read."""
        old = Features.from_dict({"role": "assistant", "tokens": 3, "calls": ["1", "2"], "results": ["3"]})
        assert old.names == (["", ""], [""])
        assert Features("assistant", 3, calls=("1", "2"), tool="read").names == (["", ""], [])

    @given(any_messages)
    def test_survive_json(self, messages: list[Message]) -> None:
        """The stored form is read back as an equal value."""
        for one in messages:
            features = analyse(one, 5, LEXICON)
            assert Features.from_dict(json.loads(json.dumps(features.to_dict()))) == features

    def test_pass_over_fields_of_a_later_version(self) -> None:
        """An unknown field is ignored."""
        assert Features.from_dict({"role": "user", "tokens": 1, "mood": "fine"}) == Features("user", 1)

    def test_know_when_the_lexicon_changed(self) -> None:  # B16
        """The keyword rating is computed again only for another lexicon."""
        features = analyse(user("banana"), 5, LEXICON)
        other = lexicon_of((KeywordGroup("fruit", 1.0, ("banana",)),))
        assert rated(features, user("banana"), LEXICON) is features
        assert rated(features, user("banana"), other) == analyse(user("banana"), 5, other)

    def test_hold_the_reasoning_out_of_length(self) -> None:
        """The length is in characters, without thoughts."""
        one = Message("assistant", (Reasoning("x" * 9_000), *message("assistant", "čaj 🍵").parts))
        assert analyse(one, 1, LEXICON).chars == 5


class TestEnormousTexts:
    """Texts longer than any window."""

    def test_have_the_content_of_their_beginning_and_end(self) -> None:
        """Only their beginning and end are analysed, because all their words would take many times their memory."""
        words = "word " * (READ_CHARS // 5)
        text = f"see first_name.py\n{words}\nmiddle_name.py\n{words}\nlast_name.py"
        found = content_of(text, [text])
        assert {"first_name.py", "last_name.py"} <= set(found.names.split("\n"))
        assert "middle_name.py" not in found.names
        assert len(found.rows.lines) == 0

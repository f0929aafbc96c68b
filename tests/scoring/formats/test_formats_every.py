"""Properties of every format: for its own sample, any conversation, nonsense, and the lists of real agents.
sent.
"""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.errors import MalformedMessage, UnknownFormat
from scoring.formats import (
    FORMATS,
    decode,
    encode,
    recognise,
    repair,
    validate,
)
from scoring.messages import Message, Text
from tests.scoring.formats.lists import NAMES, SAMPLES, conversations, near_wire, wire_of
from tests.shared import shared_files


@pytest.mark.parametrize("name", NAMES)
class TestEveryFormat:
    """Properties of each format."""

    def test_recognises_its_own(self, name: str) -> None:
        """A list with one call is enough to recognise the format."""
        assert recognise(SAMPLES[name]).name == name

    def test_reads_user_call_and_result(self, name: str) -> None:
        """Every format gives the same three messages, tied by one id."""
        asked, called, answered = decode(SAMPLES[name]).messages
        assert (asked.role, asked.text) == ("user", "weather?")
        assert (called.role, called.calls[0].name) == ("assistant", "w")
        assert (answered.role, answered.results[0].text) == ("tool", "sunny")
        assert answered.results[0].call_id == called.calls[0].id

    def test_gives_back_the_same_objects(self, name: str) -> None:
        """Decoding and encoding changes no object, unknown fields included."""
        value = SAMPLES[name]
        again = encode(decode(value).messages, name)
        assert all(a is b for a, b in zip(again, value, strict=True))

    def test_replaces_just_the_text_of_a_changed_result(self, name: str) -> None:
        """An edited message gets a copy of its object; the original and the others stay the same."""
        value = SAMPLES[name]
        before = copy.deepcopy(value)
        messages = list(decode(value).messages)
        messages[2] = messages[2].with_result_text(messages[2].results[0].call_id, "[cleared]")
        again = encode(messages, name)
        assert again[:2] == value[:2]
        assert json.loads(json.dumps(value[2]).replace("sunny", "[cleared]")) == again[2]
        assert value == before

    def test_finds_nothing_wrong_with_its_sample(self, name: str) -> None:
        """The sample of each format is valid."""
        assert validate(SAMPLES[name], name) == []

    def test_is_malformed_with_index_and_kind(self, name: str) -> None:
        """The error has the position, what was expected, and what was found."""
        with pytest.raises(
            MalformedMessage, match=r"message 1: expected .* to be an object, got a number"
        ) as e:
            decode([SAMPLES[name][0], 7], name)
        assert e.value.index == 1

    def test_survives_a_hundred_thousand_levels(self, name: str) -> None:
        """Nesting beyond any recursion limit is read, written and checked."""
        deep: Any = "bottom"
        for _ in range(100_000):
            deep = [deep]
        value = json.loads(json.dumps(SAMPLES[name]))
        target = value[1]["data"] if name == "langchain" else value[1]
        calls = {
            "openai": lambda: target["tool_calls"][0]["function"].update(arguments=deep),
            "responses": lambda: target.update(arguments=deep),
            "anthropic": lambda: target["content"][0].update(input={"x": deep}),
            "gemini": lambda: target["parts"][0]["functionCall"].update(args={"x": deep}),
            "langchain": lambda: target["tool_calls"][0].update(args={"x": deep}),
        }
        calls[name]()
        decoded = decode(value, name)
        assert decoded.messages[1].calls[0].arguments.count("[") == 100_000
        assert encode(decoded.messages, name)[1] is value[1]
        for other in NAMES:
            assert len(encode(decoded.messages, other, {})) == 3

    @given(st.data())
    def test_writes_any_conversation_so_that_it_is_valid(self, name: str, data: st.DataObject) -> None:  # X6
        """A valid list written in any format is valid there and has the same text."""
        messages = data.draw(conversations())
        written = encode(messages, name, {})
        assert validate(written, name) == []
        again = decode(written, name).messages
        assert [c.name for m in again for c in m.calls] == [c.name for m in messages for c in m.calls]
        assert len([r for m in again for r in m.results]) == len([r for m in messages for r in m.results])

    @given(st.data())
    def test_reads_back_what_it_wrote(self, name: str, data: st.DataObject) -> None:
        """The written list decodes, and encodes to the same objects."""
        written = encode(data.draw(conversations()), name, {})
        again = encode(decode(written, name).messages, name)
        assert all(a is b for a, b in zip(again, written, strict=True))

    @given(st.data())
    def test_carries_any_conversation_on_to_any_other(self, name: str, data: st.DataObject) -> None:
        """After two conversions the list is still valid, and every call has its own result."""
        messages = data.draw(conversations())
        envelope: dict[str, Any] = {}
        first = decode(encode(messages, name, envelope), name).messages
        other = data.draw(st.sampled_from(NAMES))
        written = encode(first, other, envelope)
        assert validate(written, other) == []
        assert _answers(decode(written, other).messages) == _answers(messages)

    @given(near_wire)
    def test_refuses_nonsense_only_as_malformed(self, name: str, value: Any) -> None:
        """Arbitrary data is read, or refused with one kind of error; checking it never raises."""
        items = wire_of(value)
        assert isinstance(validate(items, name), list)
        try:
            messages = decode(items, name).messages
        except MalformedMessage:
            return
        again = encode(messages, name)
        if all(m.wire is not None and m.wire.format == name for m in messages):  # not read in another format
            assert all(a is b for a, b in zip(again, items, strict=True))
        for other in NAMES:
            encode(messages, other, {})
        repair(messages)


class TestRealLists:
    """Lists of real agents."""

    @pytest.mark.parametrize(
        "path", shared_files("*.json", "transcripts", "openai-chat"), ids=lambda p: p.stem
    )
    def test_of_transcripts_come_back_as_they_are(self, path: Path) -> None:
        """They give equal lists of the same objects, and are valid in every format."""
        value = json.loads(path.read_text(encoding="utf-8"))
        _check_real(value if isinstance(value, list) else value["messages"])

    @pytest.mark.parametrize(
        "path", shared_files("*.jsonl.gz", "retention"), ids=lambda p: p.name.partition(".")[0]
    )
    def test_of_labelled_sessions_come_back_as_they_are(self, path: Path) -> None:
        """Five sessions of each file are read."""
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line, _ in zip(file, range(5), strict=False):
                _check_real(json.loads(line)["messages"])


def _check_real(value: list[Any]) -> None:
    """The laws on one real list."""
    decoded = decode(value)
    assert decoded.format == "openai"
    again = encode(decoded.messages, "openai")
    assert all(a is b for a, b in zip(again, value, strict=True))
    paired = [*decoded.messages, Message("user", (Text("go on"),))]
    for name in NAMES:
        written = encode(paired, name, {})
        assert validate(written, name) == []
        assert _answers(decode(written, name).messages) == _answers(paired)


def _answers(messages: Any) -> list[tuple[str, str]]:
    """Each call's tool with the text of its result, in the order of the calls."""
    found: list[tuple[str, str]] = []
    for n, m in enumerate(messages):
        for call in m.calls:
            later = (r for after in messages[n:] for r in after.results if r.call_id == call.id)
            found.append((call.name, next(later).text))
    return found


class TestMixedLists:
    """Lists with messages of several formats."""

    SAID = (
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "three"},
        {"role": "user", "parts": [{"text": "four"}]},
        {"type": "human", "data": {"content": "five"}},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "d", "name": "g", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "d", "content": "six"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "seven"}]},
    )  # fmt: skip

    @pytest.mark.parametrize("name", [None, *FORMATS])
    def test_lose_no_text_and_no_call(self, name: str | None) -> None:
        """Each message is read in the only format it can have, whatever the format of the list."""
        messages = decode(list(self.SAID), name).messages
        said = [m.text or "".join(r.text for r in m.results) for m in messages]
        assert said == ["one", "two", "three", "four", "five", "", "six", "seven"]
        assert [c.name for m in messages for c in m.calls] == ["f", "g"]

    @pytest.mark.parametrize("name", FORMATS)
    def test_are_written_whole(self, name: str) -> None:
        """The list is written whole in the requested format."""
        listed = encode(decode(list(self.SAID)).messages, name)
        written = json.dumps(listed)
        assert validate(listed, name, ready=False) == []
        assert all(word in written for word in ("one", "two", "three", "four", "five", "six", "seven"))


def test_name_an_unknown_role() -> None:
    """The error has the unknown role and the valid ones."""
    with pytest.raises(UnknownFormat, match='the role "wizard"; expected one of system, developer, user'):
        decode([{"role": "wizard", "content": "x"}])

"""The table of formats: recognising, decoding and encoding whole lists, and what holds for every format."""

from __future__ import annotations

import copy
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.errors import MalformedMessage, UnknownFormat
from scoring.formats import (
    FORMATS,
    OPENING,
    decode,
    decode_readable,
    encode,
    reads_as_said,
    recognise,
    repair,
    system_text,
    validate,
)
from scoring.messages import Message, Text, ToolCall, ToolResult, Wire, message
from tests.scoring.formats.lists import conversations, near_wire, wire_of
from tests.shared import shared_files

NAMES = sorted(FORMATS)

# One small list in each format, with a call and its result.
SAMPLES: dict[str, list[Any]] = {
    "openai": [
        {"role": "user", "content": "weather?", "x-own": 1},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "w", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    ],
    "responses": [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "weather?"}],
            "x-own": 1,
        },
        {"type": "function_call", "call_id": "c1", "name": "w", "arguments": "{}", "id": "fc_1"},
        {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
    ],
    "anthropic": [
        {"role": "user", "content": "weather?", "x-own": 1},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "w", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "sunny"}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "weather?"}], "x-own": 1},
        {"role": "model", "parts": [{"functionCall": {"name": "w", "args": {}}, "thoughtSignature": "abc"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "w", "response": {"output": "sunny"}}}]},
    ],
    "langchain": [
        {"type": "human", "data": {"content": "weather?", "x-own": 1}},
        {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "w", "args": {}, "id": "c1"}]}},
        {"type": "tool", "data": {"content": "sunny", "tool_call_id": "c1"}},
    ],
}


@pytest.mark.parametrize("name", NAMES)
class TestEveryFormat:
    """What holds for each of them."""

    def test_recognises_its_own(self, name: str) -> None:
        """A list with a call is enough to tell the formats apart."""
        assert recognise(SAMPLES[name]).name == name

    def test_reads_user_call_and_result(self, name: str) -> None:
        """The same three messages are read from every format, tied by one id."""
        asked, called, answered = decode(SAMPLES[name]).messages
        assert (asked.role, asked.text) == ("user", "weather?")
        assert (called.role, called.calls[0].name) == ("assistant", "w")
        assert (answered.role, answered.results[0].text) == ("tool", "sunny")
        assert answered.results[0].call_id == called.calls[0].id

    def test_gives_back_the_same_objects(self, name: str) -> None:
        """Decoding and encoding changes no object, fields nobody understands included."""
        value = SAMPLES[name]
        again = encode(decode(value).messages, name)
        assert all(a is b for a, b in zip(again, value, strict=True))

    def test_replaces_just_the_text_of_a_changed_result(self, name: str) -> None:
        """An edited message gets a copy of its object; the original and the others stay."""
        value = SAMPLES[name]
        before = copy.deepcopy(value)
        messages = list(decode(value).messages)
        messages[2] = messages[2].with_result_text(messages[2].results[0].call_id, "[cleared]")
        again = encode(messages, name)
        assert again[:2] == value[:2]
        assert json.loads(json.dumps(value[2]).replace("sunny", "[cleared]")) == again[2]
        assert value == before

    def test_finds_nothing_wrong_with_its_sample(self, name: str) -> None:
        """The samples are what providers accept."""
        assert validate(SAMPLES[name], name) == []

    def test_is_malformed_with_index_and_kind(self, name: str) -> None:
        """What cannot be read is named by its place, with what was expected and what came."""
        with pytest.raises(
            MalformedMessage, match=r"message 1: expected .* to be an object, got a number"
        ) as e:
            decode([SAMPLES[name][0], 7], name)
        assert e.value.index == 1

    def test_survives_a_hundred_thousand_levels(self, name: str) -> None:
        """Nesting beyond any recursion limit is read, written back and checked."""
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
    @settings(max_examples=60, deadline=None)
    def test_writes_any_conversation_so_that_it_is_valid(self, name: str, data: st.DataObject) -> None:  # X6
        """A valid list written in any format passes that format's rules and says the same words."""
        messages = data.draw(conversations())
        written = encode(messages, name, {})
        assert validate(written, name) == []
        again = decode(written, name).messages
        assert [c.name for m in again for c in m.calls] == [c.name for m in messages for c in m.calls]
        assert len([r for m in again for r in m.results]) == len([r for m in messages for r in m.results])

    @given(st.data())
    @settings(max_examples=60, deadline=None)
    def test_reads_back_what_it_wrote(self, name: str, data: st.DataObject) -> None:
        """What was written decodes, and encodes to the same objects."""
        written = encode(data.draw(conversations()), name, {})
        again = encode(decode(written, name).messages, name)
        assert all(a is b for a, b in zip(again, written, strict=True))

    @given(st.data())
    @settings(max_examples=60, deadline=None)
    def test_carries_any_conversation_on_to_any_other(self, name: str, data: st.DataObject) -> None:
        """From one format to another and on to a third: still valid, every call still with its own result."""
        messages = data.draw(conversations())
        envelope: dict[str, Any] = {}
        first = decode(encode(messages, name, envelope), name).messages
        other = data.draw(st.sampled_from(NAMES))
        written = encode(first, other, envelope)
        assert validate(written, other) == []
        assert _answers(decode(written, other).messages) == _answers(messages)

    @given(near_wire)
    @settings(max_examples=150, deadline=None)
    def test_refuses_nonsense_only_as_malformed(self, name: str, value: Any) -> None:
        """Arbitrary data is read or refused with one error, and checking it never raises."""
        items = wire_of(value)
        assert isinstance(validate(items, name), list)
        try:
            messages = decode(items, name).messages
        except MalformedMessage:
            return
        again = encode(messages, name)
        assert all(a is b for a, b in zip(again, items, strict=True))
        for other in NAMES:
            encode(messages, other, {})
        repair(messages)


def _answers(messages: Any) -> list[tuple[str, str]]:
    """Each call's tool with the text of its result, in the order of the calls."""
    found: list[tuple[str, str]] = []
    for n, m in enumerate(messages):
        for call in m.calls:
            later = (r for after in messages[n:] for r in after.results if r.call_id == call.id)
            found.append((call.name, next(later).text))
    return found


class TestReadable:
    """A list as far as it can be read."""

    def test_leaves_out_what_cannot_be_read_and_tells_it(self) -> None:
        """By its number in the list."""
        good = {"role": "user", "content": "hi"}
        decoded, faults = decode_readable(
            {"messages": [good, 5, good, {"role": "user", "content": 5}], "n": 1}
        )
        assert [m.text for m in decoded.messages] == ["hi", "hi"]
        assert [fault.index for fault in faults] == [1, 3]
        assert faults[0].reason == "expected a message to be an object, got a number"
        assert decoded.envelope == {"n": 1}

    def test_needs_a_list(self) -> None:
        """As every reader does."""
        with pytest.raises(MalformedMessage):
            decode_readable({"messages": 5}, "openai")
        with pytest.raises(UnknownFormat):
            decode_readable([{"a": 1}])


class TestRecognising:
    """Which format a list is in."""

    @pytest.mark.parametrize(
        ("body", "name"),
        [
            ({"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hi"}]}, "anthropic"),
            ({"system": "x", "messages": [{"role": "user", "content": "hi"}]}, "anthropic"),
            ({"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}, "openai"),
            ({"contents": [{"parts": [{"text": "hi"}]}]}, "gemini"),
            ({"input": "hi", "instructions": "be brief"}, "responses"),
            ({"input": [{"role": "user", "content": "hi"}]}, "responses"),
            ([{"role": "user", "content": "hi"}], "openai"),
            ([{"role": "user", "content": [{"type": "text", "text": "hi"}]}], "openai"),
            ([{"role": "user", "content": [{"type": "image", "source": {"type": "url"}}]}], "anthropic"),
            ([{"role": "developer", "content": "hi"}], "openai"),
            (
                [
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "text", "text": "so"}],
                        "stop_reason": None,
                    }
                ],
                "anthropic",
            ),
            ([{"type": "message", "role": "user", "content": "hi"}], "responses"),
            ([{"lc": 1, "type": "constructor", "id": ["x", "HumanMessage"], "kwargs": {}}], "langchain"),
            ([], "openai"),
        ],
    )
    def test_goes_by_what_only_one_format_has(self, body: Any, name: str) -> None:
        """The surest format wins; plain role and content is OpenAI chat."""
        assert recognise(body).name == name

    @pytest.mark.parametrize("value", [None, 3, "text", [3], {"a": 1}, [{}], [[]]])
    def test_says_what_it_saw_instead(self, value: Any) -> None:
        """What is no message list is refused with a description of it."""
        with pytest.raises(UnknownFormat, match="expected a list of OpenAI"):
            recognise(value)

    def test_refuses_a_format_that_does_not_exist(self) -> None:
        """The name that was asked for, and the names there are, stand in the error."""
        with pytest.raises(UnknownFormat, match="'cohere'; expected one of openai"):
            decode([], "cohere")


class TestBodies:
    """Request bodies: the list, and what stands beside it."""

    def test_keep_their_other_fields_in_the_envelope(self) -> None:
        """System, tools and fields nobody knows come back beside the messages."""
        body = {"model": "m", "system": "be brief", "tools": [], "messages": SAMPLES["anthropic"]}
        decoded = decode(body)
        assert decoded.envelope == {"model": "m", "system": "be brief", "tools": []}
        assert len(decoded.messages) == 3

    def test_may_say_one_string(self) -> None:
        """Responses take a bare string as the user's message."""
        assert decode({"input": "hi"}).messages == (message("user", "hi"),)

    def test_without_a_list_are_unknown(self) -> None:
        """A body of the right format without its list is said to lack it."""
        with pytest.raises(UnknownFormat, match="without 'messages'"):
            decode({"model": "m"}, "openai")

    @pytest.mark.parametrize(
        ("name", "key", "placed"),
        [
            ("anthropic", "system", "be brief"),
            ("responses", "instructions", "be brief"),
            ("gemini", "systemInstruction", {"parts": [{"text": "be brief"}]}),
        ],
    )
    def test_take_the_system_prompt_to_its_own_place(self, name: str, key: str, placed: Any) -> None:
        """System messages of another format move into the envelope, once however often it is done."""
        messages = decode([{"role": "system", "content": "be brief"}, *SAMPLES["openai"]]).messages
        envelope: dict[str, Any] = {}
        for _ in range(2):
            assert len(encode(messages, name, envelope)) == 3
        assert envelope == {key: placed}

    def test_give_the_system_prompt_back_to_a_list(self) -> None:
        """A prompt beside the list stands first in a format that keeps it there."""
        decoded = decode({"system": [{"type": "text", "text": "be brief"}], "messages": SAMPLES["anthropic"]})
        written = encode(decoded.messages, "openai", decoded.envelope)
        assert written[0] == {"role": "system", "content": "be brief"}
        assert decoded.envelope == {}

    def test_are_left_alone_in_their_own_format(self) -> None:
        """Writing the same format again changes neither the list nor the envelope."""
        body = {"system": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}
        decoded = decode({**body, "messages": SAMPLES["anthropic"]})
        assert encode(decoded.messages, "anthropic", decoded.envelope) == SAMPLES["anthropic"]
        assert decoded.envelope == body

    def test_say_their_prompt_in_words(self) -> None:
        """The prompt can be read from any of the places, without keys."""
        assert system_text({"system": [{"type": "text", "text": "a"}]}) == "a"
        assert system_text({"systemInstruction": {"parts": [{"text": "b"}]}}) == "b"
        assert system_text({"model": "m"}) == ""


class TestRoles:
    """What wire formats call the four roles."""

    @pytest.mark.parametrize(
        ("written", "role"),
        [("model", "assistant"), ("developer", "system"), ("function", "tool"), ("user", "user")],
    )
    def test_have_other_names(self, written: str, role: str) -> None:  # B3
        """`model` is the assistant, `developer` the system, `function` a tool, in any list."""
        assert decode([{"role": written, "content": "x", "name": "f"}], "openai").messages[0].role == role

    def test_unknown_ones_are_refused(self) -> None:
        """The error lists the roles there are."""
        with pytest.raises(
            MalformedMessage, match="message 0: expected role to be one of .*got the string 'boss'"
        ):
            decode([{"role": "boss", "content": "x"}], "openai")


class TestLists:
    """Lists of mixed origin."""

    def test_begin_with_the_user_where_they_have_to(self) -> None:
        """A built list that would begin with the assistant gets an opening line that says why."""
        messages = [message("assistant", "hello"), message("user", "hi")]
        assert encode(messages, "anthropic")[0] == {"role": "user", "content": OPENING}
        assert encode(messages, "openai")[0] == {"role": "assistant", "content": "hello"}

    def test_tie_reused_ids_anew_where_ids_must_be_unique(self) -> None:  # P4
        """An id used in two rounds becomes two ids, each call still with its own result."""
        messages = [message("user", "go")]
        for text in ("one", "two"):
            messages += [
                Message("assistant", (ToolCall("c", "f", "{}"),)),
                Message("tool", (ToolResult("c", text),)),
            ]
        written = encode(messages, "anthropic")
        assert validate(written, "anthropic") == []
        ids = [
            b["id"] for m in written for b in m["content"] if isinstance(b, dict) and b["type"] == "tool_use"
        ]
        assert ids == ["c", "c-2"]

    def test_put_results_behind_their_calls(self) -> None:
        """Results that came later, in any order, stand directly behind the turn that called."""
        items = [
            {"role": "user", "content": "go"},
            {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
            {"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
            {"type": "message", "role": "assistant", "content": "running"},
            {"type": "function_call_output", "call_id": "b", "output": "2"},
            {"role": "user", "content": "well?"},
            {"type": "function_call_output", "call_id": "a", "output": "1"},
        ]
        for name in ("openai", "anthropic", "langchain"):
            assert validate(encode(decode(items).messages, name), name) == []
        written = encode(decode(items).messages, "openai")
        assert [m["role"] for m in written] == ["user", "assistant", "tool", "tool", "user"]
        assert [m["content"] for m in written[2:4]] == ["1", "2"]

    def test_mix_kept_objects_with_new_messages(self) -> None:
        """A summary in front of kept messages leaves these the same objects."""
        kept = decode(SAMPLES["anthropic"]).messages
        written = encode([message("user", "[summary]"), *kept], "anthropic")
        assert written[0] == {"role": "user", "content": "[summary]"}
        assert all(a is b for a, b in zip(written[1:], SAMPLES["anthropic"], strict=True))

    def test_may_be_checked_at_rest(self) -> None:
        """A context that waits for the next message or a running tool is no fault."""
        open_call = SAMPLES["openai"][:2]
        assert validate(open_call, "openai") != []
        assert validate(open_call, "openai", ready=False) == []


class TestWhatIsKnown:
    """Objects that were read before need not be read again to be checked."""

    @given(st.sampled_from(NAMES), st.lists(near_wire, max_size=6), st.booleans())
    def test_gives_the_same_problems(self, name: str, items: list[Any], ready: bool) -> None:  # X6
        """Of any list, whichever way."""
        readable = decode_readable(items, name)[0].messages
        known = [m for m in readable if reads_as_said(m)]
        listed = [m.wire.value for m in known if m.wire is not None]
        assert validate(listed, name, ready=ready, said=known) == validate(listed, name, ready=ready)

    @pytest.mark.parametrize("name", NAMES)
    def test_holds_for_what_was_just_read(self, name: str) -> None:
        """And not for what says something else, or came from nowhere."""
        for one in decode(SAMPLES[name], name).messages:
            assert reads_as_said(one)
            assert not reads_as_said(replace(one, parts=(*one.parts, Text("more"))))
            assert not reads_as_said(replace(one, wire=None))
            assert not reads_as_said(replace(one, wire=Wire(name, 5)))
            assert not reads_as_said(replace(one, wire=Wire("transcript", [])))


class TestRealLists:
    """Lists that agents really sent."""

    @pytest.mark.parametrize(
        "path", shared_files("*.json", "transcripts", "openai-chat"), ids=lambda p: p.stem
    )
    def test_of_transcripts_come_back_as_they_are(self, path: Path) -> None:
        """Equal lists, the same objects, valid in every format."""
        value = json.loads(path.read_text(encoding="utf-8"))
        _check_real(value if isinstance(value, list) else value["messages"])

    @pytest.mark.parametrize(
        "path", shared_files("*.jsonl.gz", "retention"), ids=lambda p: p.name.partition(".")[0]
    )
    def test_of_labelled_sessions_come_back_as_they_are(self, path: Path) -> None:
        """A sample of five sessions a file."""
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

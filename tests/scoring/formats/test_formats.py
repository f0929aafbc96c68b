"""The table of formats: recognise, decode and encode whole lists, of one format or of several."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scoring.errors import MalformedMessage, UnknownFormat
from scoring.formats import (
    FORMATS,
    OPENING,
    decode,
    decode_readable,
    encode,
    matches_wire,
    recognise,
    system_text,
    validate,
)
from scoring.messages import Media, Message, Text, ToolCall, ToolResult, Wire, message
from scoring.tokens import DEFINITION
from tests.scoring.formats.lists import NAMES, SAMPLES, near_wire


class TestReadable:
    """The readable messages of a list."""

    def test_leaves_out_what_cannot_be_read_and_tells_it(self) -> None:
        """The problem has the message's position."""
        good = {"role": "user", "content": "hi"}
        decoded, faults = decode_readable(
            {"messages": [good, 5, good, {"role": "user", "content": 5}], "n": 1}
        )
        assert [m.text for m in decoded.messages] == ["hi", "hi"]
        assert [fault.index for fault in faults] == [1, 3]
        assert faults[0].reason == "expected a message to be an object, got a number"
        assert decoded.envelope == {"n": 1}

    def test_needs_a_list(self) -> None:
        """Any other value is an error."""
        with pytest.raises(MalformedMessage):
            decode_readable({"messages": 5}, "openai")
        with pytest.raises(UnknownFormat):
            decode_readable([{"a": 1}])


class TestRecognising:
    """The format of a list."""

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
        """The format with the highest certainty is chosen; plain role and content is OpenAI chat."""
        assert recognise(body).name == name

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            (None, "the list is null; expected a list of messages, or a request body with one"),
            (3, "the list is a number; expected a list"),
            ("text", 'the list is the string "text"; expected a list'),
            ({"a": 1}, "the list is an object with the fields a; expected a list"),
            ([3], "message 0 is a number; expected 'role' and 'content' (OpenAI, Anthropic)"),
            ([{}], "message 0 is an object with the fields (none); expected 'role'"),
            ([[]], "message 0 is a list; expected 'role'"),
            ([{"role": "wizard"}], 'message 0 has the role "wizard"; expected one of system, developer'),
        ],
    )
    def test_describes_what_it_cannot_recognise(self, value: Any, said: str) -> None:
        """A value that is not a message list is refused with its place, its look, and what is expected there."""
        with pytest.raises(UnknownFormat, match=re.escape(f"unknown message format: {said}")):
            recognise(value)

    @given(
        st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "role": st.sampled_from(
                        ["system", "user", "assistant", "tool", "developer", "x", None, 5]
                    ),
                    "type": st.sampled_from(["human", "message", "reasoning", "function_call", 5]),
                    "content": st.sampled_from(["", "hi", None, [], [{"type": "text", "text": "hi"}]]),
                    "tool_calls": st.just([]),
                    "parts": st.just([]),
                },
            ),
            min_size=1,
        )
    )
    @example([{"type": "human", "content": "hi"}, {"name": "x", "content": "hi"}])
    @example(
        [{"role": 5, "content": "hi"}, {"role": "developer", "content": "hi"}, {"role": [], "content": ""}]
    )
    def test_goes_by_every_item(self, items: list[Any]) -> None:
        """The whole list decides: one item that only one format has outweighs any number of plain messages."""
        marks = {name: format.recognise(items) for name, format in FORMATS.items()}
        best = max(marks, key=marks.__getitem__)
        if marks[best] > 0:
            assert recognise(items).name == best
        else:
            with pytest.raises(UnknownFormat):
                recognise(items)

    def test_refuses_a_format_that_does_not_exist(self) -> None:
        """The error has the wrong name and the valid ones."""
        with pytest.raises(UnknownFormat, match='"cohere"; expected one of openai'):
            decode([], "cohere")


class TestBodies:
    """Request bodies: the list and the other fields."""

    def test_keep_their_other_fields_in_the_envelope(self) -> None:
        """System prompt, tools and unknown fields come back beside the messages."""
        body = {"model": "m", "system": "be brief", "tools": [], "messages": SAMPLES["anthropic"]}
        decoded = decode(body)
        assert decoded.envelope == {"model": "m", "system": "be brief", "tools": []}
        assert len(decoded.messages) == 3

    def test_may_have_a_string_as_input(self) -> None:
        """A Responses body may have a string as the user's message."""
        assert decode({"input": "hi"}).messages == (message("user", "hi"),)

    def test_without_a_list_are_unknown(self) -> None:
        """The error says that a body of this format has no list."""
        with pytest.raises(UnknownFormat, match='without "messages"'):
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
        """System messages of another format move into the envelope, only once if repeated."""
        messages = decode([{"role": "system", "content": "be brief"}, *SAMPLES["openai"]]).messages
        envelope: dict[str, Any] = {}
        for _ in range(2):
            assert len(encode(messages, name, envelope)) == 3
        assert envelope == {key: placed}

    def test_give_the_system_prompt_back_to_a_list(self) -> None:
        """A format that keeps the prompt in the list gets it as the first message."""
        decoded = decode({"system": [{"type": "text", "text": "be brief"}], "messages": SAMPLES["anthropic"]})
        written = encode(decoded.messages, "openai", decoded.envelope)
        assert written[0] == {"role": "system", "content": "be brief"}
        assert decoded.envelope == {}

    def test_are_left_alone_in_their_own_format(self) -> None:
        """Encoding in the same format changes neither the list nor the envelope."""
        body = {"system": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}
        decoded = decode({**body, "messages": SAMPLES["anthropic"]})
        assert encode(decoded.messages, "anthropic", decoded.envelope) == SAMPLES["anthropic"]
        assert decoded.envelope == body

    def test_say_their_prompt_in_words(self) -> None:
        """The prompt is read as text from any of its places."""
        assert system_text({"system": [{"type": "text", "text": "a"}]}) == "a"
        assert system_text({"systemInstruction": {"parts": [{"text": "b"}]}}) == "b"
        assert system_text({"model": "m"}) == ""


class TestRoles:
    """The names of the four roles in wire formats."""

    @pytest.mark.parametrize(
        ("written", "role"),
        [("model", "assistant"), ("developer", "system"), ("function", "tool"), ("user", "user")],
    )
    def test_have_other_names(self, written: str, role: str) -> None:  # B3
        """`model` is assistant, `developer` is system, `function` is tool, in any list."""
        assert decode([{"role": written, "content": "x", "name": "f"}], "openai").messages[0].role == role

    def test_unknown_ones_are_refused(self) -> None:
        """The error lists the valid roles."""
        with pytest.raises(
            MalformedMessage, match='message 0: expected role to be one of .*got the string "boss"'
        ):
            decode([{"role": "boss", "content": "x"}], "openai")


class TestLists:
    """Lists with messages of several formats."""

    def test_begin_with_the_user_if_required(self) -> None:
        """A list that would begin with the assistant gets an opening message that gives the reason."""
        messages = [message("assistant", "hello"), message("user", "hi")]
        assert encode(messages, "anthropic")[0] == {"role": "user", "content": OPENING}
        assert encode(messages, "openai")[0] == {"role": "assistant", "content": "hello"}

    def test_get_new_ids_if_ids_must_be_unique(self) -> None:  # P4
        """An id used in two rounds becomes two ids, and each call keeps its own result."""
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
        """Results that came later, in any order, are written directly after the turn with their calls."""
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

    @pytest.mark.parametrize("name", NAMES)
    def test_leave_out_definitions_of_tools(self, name: str) -> None:
        """A result of tool search is written as its text: a placeholder for a definition would tell nothing."""
        found = ToolResult("c", "Fetch", "ToolSearch", media=(Media(DEFINITION, digest="Fetch"),))
        called = Message("assistant", (ToolCall("c", "ToolSearch", "{}"),))
        written = encode([message("user", "a"), called, Message("tool", (found,))], name)
        assert [r.text for m in decode(written, name).messages for r in m.results] == ["Fetch"]

    def test_mix_kept_objects_with_new_messages(self) -> None:
        """A summary before kept messages leaves them the same objects."""
        kept = decode(SAMPLES["anthropic"]).messages
        written = encode([message("user", "[summary]"), *kept], "anthropic")
        assert written[0] == {"role": "user", "content": "[summary]"}
        assert all(a is b for a, b in zip(written[1:], SAMPLES["anthropic"], strict=True))

    def test_may_be_checked_at_rest(self) -> None:
        """Open calls and a last message by the model are no fault in a list that is not sent."""
        open_call = SAMPLES["openai"][:2]
        assert validate(open_call, "openai") != []
        assert validate(open_call, "openai", ready=False) == []


class TestWhatIsKnown:
    """Checks that use messages which were read before."""

    @given(st.sampled_from(NAMES), st.lists(near_wire, max_size=6), st.booleans())
    def test_gives_the_same_problems(self, name: str, items: list[Any], ready: bool) -> None:  # X6
        """The problems are the same as for a list that is read again."""
        readable = decode_readable(items, name)[0].messages
        known = [m for m in readable if matches_wire(m) and m.wire is not None and m.wire.format == name]
        listed = [m.wire.value for m in known if m.wire is not None]
        assert validate(listed, name, ready=ready, decoded=known) == validate(listed, name, ready=ready)

    @pytest.mark.parametrize("name", NAMES)
    def test_holds_only_for_unchanged_messages(self, name: str) -> None:
        """A message that was changed, or that has no object in this format, has to be read again."""
        for one in decode(SAMPLES[name], name).messages:
            assert matches_wire(one)
            assert not matches_wire(replace(one, parts=(*one.parts, Text("more"))))
            assert not matches_wire(replace(one, wire=None))
            assert not matches_wire(replace(one, wire=Wire(name, 5)))
            assert not matches_wire(replace(one, wire=Wire("transcript", [])))

"""LangChain messages in their three shapes: what they say, how they are written, how changes go back."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage, convert_to_messages

from scoring.errors import MalformedMessage
from scoring.formats import decode, encode, validate
from scoring.messages import Media, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult, message
from tests.scoring.formats.lists import PNG

CALL = {"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}


def data(kind: str, **fields: Any) -> dict[str, Any]:
    """The type-and-data shape."""
    return {"type": kind, "data": {"content": "", **fields}}


def lc(class_name: str, /, **fields: Any) -> dict[str, Any]:
    """The constructor shape."""
    return {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", class_name],
        "kwargs": fields,
    }


def read(item: Any) -> Message:
    """The one message of a list of one."""
    return decode([item], "langchain").messages[0]


class TestReading:
    """Parts read from messages."""

    @pytest.mark.parametrize(
        ("item", "role", "parts"),
        [
            (data("human", content="hi"), "user", (Text("hi"),)),
            (data("system", content="s"), "system", (Text("s"),)),
            (lc("HumanMessage", content="hi"), "user", (Text("hi"),)),
            (lc("AIMessageChunk", content="so"), "assistant", (Text("so"),)),
            ({"type": "human", "content": "hi"}, "user", (Text("hi"),)),
            (data("chat", content="hi", role="assistant"), "assistant", (Text("hi"),)),
            (data("remove", id="x"), "user", ()),
            (data("ai", tool_calls=[CALL]), "assistant", (ToolCall("c", "f", '{"a": 1}'),)),
            (
                data(
                    "ai",
                    content=[{"type": "text", "text": "x"}, {"type": "tool_use", "id": "c"}],
                    tool_calls=[CALL],
                ),
                "assistant",
                (Text("x"), ToolCall("c", "f", '{"a": 1}')),
            ),
            (
                data("ai", invalid_tool_calls=[{"name": "f", "args": "{bad", "id": "c"}]),
                "assistant",
                (ToolCall("c", "f", "{bad"),),
            ),
            (
                data(
                    "ai",
                    additional_kwargs={
                        "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]
                    },
                ),
                "assistant",
                (ToolCall("c", "f", "{}"),),
            ),
            (data("ai", content=[{"type": "reasoning", "reasoning": "hm"}]), "assistant", (Reasoning("hm"),)),
            (
                lc("ToolMessage", content="r", tool_call_id="c", name="f"),
                "tool",
                (ToolResult("c", "r", "f"),),
            ),
            (
                data("tool", content="no", tool_call_id="c", status="error"),
                "tool",
                (ToolResult("c", "no", "", True),),
            ),
        ],
    )
    def test_gives_role_and_parts(self, item: Any, role: Role, parts: tuple[Part, ...]) -> None:
        """All shapes, and all places where calls can be; each call is read once."""
        assert (read(item).role, read(item).parts) == (role, parts)

    def test_ties_function_messages_by_name(self) -> None:
        """A call without id and its function message get one made-up id."""
        called, answered = decode(
            [
                data("ai", tool_calls=[{"name": "f", "args": {}, "id": None}]),
                data("function", content="r", name="f"),
            ]
        ).messages
        assert called.calls[0].id == answered.results[0].call_id

    @pytest.mark.parametrize(
        ("item", "said"),
        [
            ({"type": "boss", "data": {}}, 'expected type to be one of human.*got the string "boss"'),
            ({"type": "human", "data": 5}, "expected data to be an object, got a number"),
            (data("ai", tool_calls=5), "expected tool_calls to be a list"),
            (data("human", content=5), "expected content"),
            (data("chat", role="boss"), "expected role"),
        ],
    )
    def test_refuses_what_it_cannot_read(self, item: Any, said: str) -> None:
        """The error names what was expected and what was found."""
        with pytest.raises(MalformedMessage, match=said):
            read(item)


class TestWriting:
    """New messages written as LangChain's."""

    def test_gives_what_langchain_loads(self) -> None:
        """The library itself reads back what was written."""
        messages = [
            message("system", "s"),
            Message("user", (Text("hi"),), "ann"),
            Message("assistant", (Reasoning("hm"), Text("x"), ToolCall("c", "f", '{"a": 1}'))),
            Message("tool", (ToolResult("c", "r", "f", is_error=True),)),
        ]
        loaded = convert_to_messages(encode(messages, "langchain"))
        assert [m.type for m in loaded] == ["system", "human", "ai", "tool"]
        assert isinstance(loaded[2], AIMessage)
        assert loaded[2].tool_calls == [CALL]
        assert isinstance(loaded[3], ToolMessage)
        assert (loaded[3].tool_call_id, loaded[3].status) == ("c", "error")

    def test_reads_what_langchain_dumps(self) -> None:
        """Dumped messages are read, and come back as the same objects."""
        langchain = pytest.importorskip("langchain_core.messages")
        load = pytest.importorskip("langchain_core.load")
        asked, called = langchain.HumanMessage("hi"), langchain.AIMessage("x", tool_calls=[CALL])
        answered = langchain.ToolMessage("r", tool_call_id="c")
        for dump in (langchain.messages_to_dict, lambda ms: [load.dumpd(m) for m in ms]):
            items = dump([asked, called, answered])
            decoded = decode(items)
            assert decoded.format == "langchain"
            assert [m.role for m in decoded.messages] == ["user", "assistant", "tool"]
            assert decoded.messages[1].calls == (ToolCall("c", "f", '{"a": 1}'),)
            assert all(a is b for a, b in zip(encode(decoded.messages, "langchain"), items, strict=True))

    def test_carries_images_over(self) -> None:
        """Bytes become a LangChain block; an image without bytes is named in words."""
        item = {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}]}
        decoded = decode([item]).messages
        written = encode(decoded, "langchain")
        assert written[0]["content"] == [{"type": "image", "mime_type": "image/png", "base64": PNG}]
        assert decode(written).messages[0].media == decoded[0].media
        assert encode([Message("user", (Media("audio"),))], "langchain")[0]["content"] == "[audio]"

    def test_leaves_out_encrypted_reasoning(self) -> None:
        """A message with nothing else is left out: providers refuse an empty one."""
        asked, thought = Message("user", (Text("a"),)), Message("assistant", (Reasoning("", 900),))
        assert encode([asked, thought, asked], "langchain") == encode([asked, asked], "langchain")


class TestPatching:
    """Changed parts written back into the original objects."""

    @pytest.mark.parametrize(
        ("item", "expected"),
        [
            (
                data("tool", content="long", tool_call_id="c", x=1),
                data("tool", content="x", tool_call_id="c", x=1),
            ),
            (
                lc("ToolMessage", content=[{"type": "text", "text": "long"}], tool_call_id="c"),
                lc("ToolMessage", content=[{"type": "text", "text": "x"}], tool_call_id="c"),
            ),
            (
                {"type": "tool", "content": "long", "tool_call_id": "c"},
                {"type": "tool", "content": "x", "tool_call_id": "c"},
            ),
        ],
    )
    def test_replaces_just_the_text(self, item: Any, expected: Any) -> None:
        """Each shape keeps its form."""
        assert encode([read(item).with_result_text("c", "x")], "langchain") == [expected]

    def test_changes_text_and_calls(self) -> None:
        """Blocks that repeat a call stay as long as the call."""
        block = {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}
        decoded = read(data("ai", content=[{"type": "text", "text": "long"}, block], tool_calls=[CALL]))
        cut = Message("assistant", (Text("x"), ToolCall("c", "f", '{"a": 2}')), wire=decoded.wire)
        written = encode([cut], "langchain")[0]["data"]
        assert written["content"] == [{"type": "text", "text": "x"}, block]
        assert written["tool_calls"] == [{**CALL, "args": {"a": 2}}]
        invalid = {"id": "i", "name": "g", "args": "{", "error": "cut off", "type": "invalid_tool_call"}
        both = read(data("ai", content="long", tool_calls=[CALL], invalid_tool_calls=[invalid]))
        cut = Message("assistant", (Text("x"), *both.calls), wire=both.wire)
        assert encode([cut], "langchain")[0]["data"]["tool_calls"] == [CALL]
        bare = encode([Message("assistant", (Text("x"),), wire=decoded.wire)], "langchain")[0]["data"]
        assert (bare["content"], bare["tool_calls"]) == ([{"type": "text", "text": "x"}], [])


class TestRules:
    """Rules of the providers that LangChain calls."""

    def test_wants_pairs_content_and_a_user(self) -> None:
        """Open calls, orphans, empty questions and a list without a user message are problems."""
        asked, called = data("human", content="hi"), data("ai", tool_calls=[CALL])
        answered = data("tool", content="r", tool_call_id="c")
        assert validate([asked, called, answered], "langchain") == []
        assert "has no result" in validate([asked, called], "langchain")[0]
        assert "without its call" in validate([asked, answered], "langchain")[0]
        assert "content is empty" in validate([asked, data("human")], "langchain")[0]
        assert "no user message" in validate([data("ai", content="x")], "langchain")[0]

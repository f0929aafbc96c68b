"""Anthropic messages: what each block says, how turns are written, how changes go back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import MessageParam
from hypothesis import given
from pydantic import TypeAdapter

from scoring.errors import MalformedMessage
from scoring.formats import FORMATS, decode, encode, repair, validate
from scoring.messages import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult, message
from tests.scoring.formats.lists import PNG, conversations
from tests.shared import shared_files

PARAMS: TypeAdapter[list[Any]] = TypeAdapter(list[MessageParam])
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}


def read(role: str, content: Any) -> Message:
    """The one message of a list of one."""
    return decode([{"role": role, "content": content}], "anthropic").messages[0]


def block(**fields: Any) -> list[dict[str, Any]]:
    """A content of one block."""
    return [fields]


class TestReading:
    """Parts read from content blocks."""

    @pytest.mark.parametrize(
        ("content", "parts"),
        [
            ("hi", (Text("hi"),)),
            ("", ()),
            (None, ()),
            ([], ()),
            (block(type="text", text=""), ()),
            (block(type="thinking", thinking="hm", signature="abcd"), (Reasoning("hm", 4),)),
            (block(type="thinking", thinking="", signature="abcd"), (Reasoning("", 4),)),
            (block(type="redacted_thinking", data="abc"), (Reasoning("", 3),)),
            (block(type="tool_use", id="c", name="f", input={"a": 1}), (ToolCall("c", "f", '{"a": 1}'),)),
            (block(type="tool_use", id="c", name="f", input={}), (ToolCall("c", "f", "{}"),)),
            (
                block(type="server_tool_use", id="c", name="web_search", input={}),
                (ToolCall("c", "web_search", "{}"),),
            ),
            (
                block(
                    type="document",
                    title="T",
                    source={"type": "text", "media_type": "text/plain", "data": "words"},
                ),
                (Text("T\nwords"),),
            ),
            (
                block(
                    type="search_result",
                    source="https://a",
                    title="T",
                    content=[{"type": "text", "text": "w"}],
                ),
                (Text("https://a\nT\nw"),),
            ),
            (block(type="something_new", id="x1", words="seen"), (Text("seen"),)),
        ],
    )
    def test_gives_the_parts(self, content: Any, parts: tuple[Part, ...]) -> None:
        """Text, thinking with its signature, calls, documents, and blocks of unknown type."""
        assert read("assistant", content).parts == parts

    @pytest.mark.parametrize(
        ("fields", "result"),
        [
            ({"content": "r"}, ToolResult("c", "r")),
            ({}, ToolResult("c", "")),
            ({"content": []}, ToolResult("c", "")),
            ({"content": "r", "is_error": True}, ToolResult("c", "r", is_error=True)),
            (
                {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                ToolResult("c", "a\nb"),
            ),
            (
                {"content": [{"type": "tool_reference", "tool_name": "grep"}]},
                ToolResult("c", "grep", media=(Media("definition", digest="grep"),)),
            ),
        ],
    )
    def test_reads_results(self, fields: dict[str, Any], result: ToolResult) -> None:
        """A message with results only has role tool."""
        read_back = read("user", block(type="tool_result", tool_use_id="c", **fields))
        assert (read_back.role, read_back.parts) == ("tool", (result,))

    def test_reads_a_result_with_the_users_words(self) -> None:
        """Results and text in one message remain one message of role user."""
        mixed = read(
            "user",
            [{"type": "tool_result", "tool_use_id": "c", "content": "r"}, {"type": "text", "text": "x"}],
        )
        assert (mixed.role, mixed.parts) == ("user", (ToolResult("c", "r"), Text("x")))

    def test_reads_images_in_results(self) -> None:
        """A screenshot belongs to the result and is measured."""
        shot = read("user", block(type="tool_result", tool_use_id="c", content=[IMAGE]))
        (medium,) = shot.results[0].media
        assert (medium.kind, medium.width, medium.height) == ("image", 2, 3)
        assert shot.media == (medium,)

    def test_reads_server_tools_within_one_message(self) -> None:
        """A search and its results are in one assistant message; encrypted content is not text, but counts."""
        found = {"type": "web_search_result", "url": "https://a", "title": "T", "encrypted_content": "zzzz"}
        searched = read(
            "assistant",
            [
                {
                    "type": "server_tool_use",
                    "id": "srvtoolu_1",
                    "name": "web_search",
                    "input": {"query": "q"},
                },
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [found]},
                {"type": "text", "text": "so"},
            ],
        )
        assert searched.role == "assistant"
        result = searched.results[0]
        assert (result.call_id, result.text) == ("srvtoolu_1", "https://a\nT")
        assert [(medium.kind, medium.size_bytes) for medium in result.media] == [("encrypted", 4)]

    @pytest.mark.parametrize(
        ("source", "text", "kinds"),
        [
            ({"type": "text", "media_type": "text/plain", "data": "the page"}, "T\nthe page\nhttps://a", []),
            (
                {"type": "base64", "media_type": "application/pdf", "data": "QUJD"},
                "T\nhttps://a",
                ["document"],
            ),
        ],
    )
    def test_reads_a_fetched_page(self, source: dict[str, str], text: str, kinds: list[str]) -> None:  # B4
        """Its text counts, and a fetched PDF counts as a document."""
        document = {"type": "document", "title": "T", "source": source}
        page = {"type": "web_fetch_result", "content": document, "url": "https://a"}
        (result,) = read(
            "assistant", block(type="web_fetch_tool_result", tool_use_id="s", content=page)
        ).results
        assert (result.text, [medium.kind for medium in result.media]) == (text, kinds)

    def test_reads_the_images_of_a_document(self) -> None:
        """A document of blocks has texts and images."""
        source = {"type": "content", "content": [{"type": "text", "text": "w"}, IMAGE]}
        said = read("user", block(type="document", source=source))
        assert (said.text, [medium.kind for medium in said.media]) == ("w", ["image"])
        assert encode([said], "openai")[0]["content"][1]["type"] == "image_url"

    def test_reads_a_failed_server_tool(self) -> None:
        """An error object in place of the results makes the result an error."""
        error = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
        failed = read("assistant", block(type="web_search_tool_result", tool_use_id="s", content=error))
        assert failed.results[0] == ToolResult("s", "max_uses_exceeded", is_error=True)

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (5, "expected content to be a string or a list of blocks, got a number"),
            ({}, "got an object"),
            ([5], "expected a content block to be an object"),
            (block(type="text", text=5), "expected a block's text to be a string"),
            (block(type=["text"]), "expected a block's type to be a string, got a list"),
            (block(type="tool_use", id={}, name="f"), "a call's id to be a string, got an object"),
            (block(type="tool_result", tool_use_id="c", content=5), "a tool result's content"),
        ],
    )
    def test_refuses_what_it_cannot_read(self, content: Any, said: str) -> None:
        """The error names what was expected and what was found."""
        with pytest.raises(MalformedMessage, match=said):
            read("user", content)


class TestWriting:
    """New messages written as Anthropic's."""

    def test_joins_results_and_the_users_words(self) -> None:
        """The results come first in one user message, in the order of the calls."""
        messages = [
            message("user", "go"),
            Message("assistant", (ToolCall("a", "f", '{"x": 1}'), ToolCall("b", "g", "plain"))),
            Message("tool", (ToolResult("b", "2", is_error=True),)),
            Message("tool", (ToolResult("a", "1"),)),
            message("user", "well?"),
        ]
        written = encode(messages, "anthropic")
        assert [m["role"] for m in written] == ["user", "assistant", "user"]
        assert [b["input"] for b in written[1]["content"]] == [{"x": 1}, {"input": "plain"}]
        assert written[2]["content"] == [
            {"type": "tool_result", "tool_use_id": "a", "content": "1"},
            {"type": "tool_result", "tool_use_id": "b", "content": "2", "is_error": True},
            {"type": "text", "text": "well?"},
        ]

    def test_leaves_foreign_reasoning_out(self) -> None:
        """The API would refuse thinking without one of its own signatures."""
        written = encode(
            [message("user", "a"), Message("assistant", (Reasoning("hm"), Text("b")))], "anthropic"
        )
        assert written[1] == {"role": "assistant", "content": "b"}

    def test_makes_ids_of_plain_characters(self) -> None:
        """Ids with other characters or lengths are replaced, in the call and its result alike."""
        odd = "call:1/" + "x" * 80
        messages = [message("user", "a"), Message("assistant", (ToolCall(odd, "f", "{}"),))]
        written = encode([*messages, Message("tool", (ToolResult(odd, "r"),))], "anthropic")
        (call,), (result,) = written[1]["content"], written[2]["content"]
        assert call["id"] == result["tool_use_id"]
        assert len(call["id"]) == 40
        assert call["id"].startswith("call_1_x")

    def test_carries_images_over(self) -> None:
        """Bytes and addresses become image blocks, in results too; an image without bytes is named in words."""
        urls = [f"data:image/png;base64,{PNG}", "https://example.org/a.png"]
        content = [{"type": "input_image", "image_url": u} for u in urls] + [
            {"type": "input_image", "file_id": "f"}
        ]
        items = [
            {"role": "user", "content": content},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": content[:1]},
        ]
        written = encode(decode(items).messages, "anthropic")
        assert written[0]["content"] == [
            IMAGE,
            {"type": "image", "source": {"type": "url", "url": urls[1]}},
            {"type": "text", "text": "[image]"},
        ]
        assert written[2]["content"][0]["content"] == [IMAGE]

    def test_leaves_system_messages_in_a_bare_list(self) -> None:
        """A list without an envelope has no other place for them."""
        written = encode([message("system", "s"), message("user", "u")], "anthropic")
        assert written == [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]

    def test_ends_without_white_space(self) -> None:
        """The API refuses a final assistant message that ends in white space."""
        assert encode([message("user", "a"), message("assistant", "b \n")], "anthropic")[1]["content"] == "b"

    @given(conversations())
    def test_passes_the_types_of_the_sdk(self, messages: list[Message]) -> None:  # X6
        """The SDK's own types accept what is written."""
        PARAMS.validate_python(encode(messages, "anthropic", {}))


class TestPatching:
    """Changed parts written back into the original objects."""

    def test_leaves_thinking_untouched(self) -> None:
        """The thinking block beside a changed text is the same object."""
        thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
        decoded = read("assistant", [thinking, {"type": "text", "text": "long", "citations": []}])
        cut = Message("assistant", (decoded.parts[0], Text("lo")), wire=decoded.wire)
        content = encode([cut], "anthropic")[0]["content"]
        assert content[0] is thinking
        assert content[1] == {"type": "text", "text": "lo", "citations": []}

    def test_keeps_the_cache_marks_of_a_result(self) -> None:
        """A replaced text removes the images, and only they can be removed."""
        inner = [{"type": "text", "text": "long"}, IMAGE]
        fields = {"type": "tool_result", "tool_use_id": "c", "cache_control": {"type": "ephemeral"}}
        decoded = read("user", [{**fields, "content": inner}])
        written = encode([decoded.with_result_text("c", "[cut]")], "anthropic")[0]["content"]
        assert written == [{**fields, "content": [{"type": "text", "text": "[cut]"}]}]
        bare = Message("tool", (ToolResult("c", "long"),), wire=decoded.wire)
        assert encode([bare], "anthropic")[0]["content"] == [{**fields, "content": inner[:1]}]

    @pytest.mark.parametrize(
        ("kind", "content", "expected"),
        [
            ("web_search_tool_result", [{"type": "web_search_result", "url": "u", "title": "t"}], []),
            (
                "bash_code_execution_tool_result",
                {"type": "bash_code_execution_result", "stdout": "long", "return_code": 0},
                {"type": "bash_code_execution_result", "stdout": "[cut]", "return_code": 0},
            ),
            (
                "web_fetch_tool_result",
                {"type": "web_fetch_result", "url": "u", "content": {"type": "document"}},
                {"type": "web_fetch_result", "url": "u", "content": {"type": "document"}},
            ),
            (
                "web_fetch_tool_result",
                {
                    "type": "web_fetch_result",
                    "url": "u",
                    "content": {
                        "type": "document",
                        "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJD"},
                    },
                },
                {
                    "type": "web_fetch_result",
                    "url": "u",
                    "content": {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "[cut]"},
                    },
                },
            ),
            (
                "code_execution_tool_result",
                {
                    "type": "encrypted_code_execution_result",
                    "encrypted_stdout": "zzzz",
                    "stderr": "",
                    "return_code": 0,
                    "content": [],
                },
                {
                    "type": "code_execution_result",
                    "stdout": "[cut]",
                    "stderr": "",
                    "return_code": 0,
                    "content": [],
                },
            ),
            (
                "advisor_tool_result",
                {"type": "advisor_redacted_result", "encrypted_content": "zzzz"},
                {"type": "advisor_result", "text": "[cut]"},
            ),
            (
                "advisor_tool_result",
                {"type": "advisor_result", "text": "long"},
                {"type": "advisor_result", "text": "[cut]"},
            ),
        ],
    )
    def test_keeps_the_shape_of_what_the_provider_wrote(self, kind: str, content: Any, expected: Any) -> None:
        """Results of server tools keep the structure that the API accepts, with shortened output or without finds."""
        decoded = read("assistant", block(type=kind, tool_use_id="srvtoolu_1", content=content))
        written = encode([decoded.with_result_text("srvtoolu_1", "[cut]")], "anthropic")[0]["content"]
        assert written == block(type=kind, tool_use_id="srvtoolu_1", content=expected)

    def test_replaces_one_of_two_results(self) -> None:
        """The block of the other result is the same object."""
        blocks = [{"type": "tool_result", "tool_use_id": i, "content": i} for i in ("a", "b")]
        written = encode([read("user", blocks).with_result_text("b", "x")], "anthropic")[0]["content"]
        assert written[0] is blocks[0]
        assert written[1] == {"type": "tool_result", "tool_use_id": "b", "content": "x"}

    def test_adds_and_removes_parts(self) -> None:
        """A string content takes new text as a string and other parts as blocks; a removed result has no block."""
        decoded = read("user", "hi")
        assert encode([Message("user", (Text("ho"),), wire=decoded.wire)], "anthropic")[0]["content"] == "ho"
        more = Message("user", (*decoded.parts, Media("image", "image/png")), wire=decoded.wire)
        assert encode([more], "anthropic")[0]["content"] == [
            {"type": "text", "text": "hi"},
            {"type": "text", "text": "[image: image/png]"},
        ]

    def test_rewrites_a_call(self) -> None:
        """Arguments become the input again; the other fields of the block stay."""
        decoded = read(
            "assistant", block(type="tool_use", id="c", name="f", input={"a": 1}, caller={"type": "direct"})
        )
        changed = Message("assistant", (ToolCall("c", "f", '{"a": 2}'),), wire=decoded.wire)
        assert encode([changed], "anthropic")[0]["content"] == [
            {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 2}, "caller": {"type": "direct"}}
        ]


class TestRecognising:
    """Blocks that only this API has."""

    @pytest.mark.parametrize(
        "kind",
        ["web_fetch_tool_result", "advisor_tool_result", "fallback", "tool_addition", "mcp_tool_listing"],
    )
    def test_needs_one_of_them(self, kind: str) -> None:  # X11
        """A list with such a block and texts is recognised."""
        items = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": block(type=kind)}]
        assert decode(items).format == "anthropic"

    def test_keeps_a_message_of_markers(self) -> None:
        """A change of the tools is sent, although the model reads nothing of it."""
        items = [
            {"role": "user", "content": "hi"},
            {"role": "system", "content": block(type="tool_removal", tool={"name": "grep"})},
        ]
        assert encode(decode(items, "anthropic").messages, "anthropic") == items


class TestRealMessages:
    """Messages from Claude Code's transcripts."""

    @pytest.mark.parametrize(
        "path", shared_files("projects/*/*.jsonl", "transcripts", "claude-code"), ids=lambda p: p.stem[:13]
    )
    def test_come_back_as_they_are(self, path: Path) -> None:
        """Every message comes back the same; after repairs the API would accept the list."""
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        items = [r["message"] for r in rows if r["type"] in ("user", "assistant")]
        decoded = decode(items, "anthropic")
        assert all(a is b for a, b in zip(encode(decoded.messages, "anthropic"), items, strict=True))
        repaired, _ = repair([*decoded.messages, message("user", "go on")])
        for name in FORMATS:
            written = encode([Message(m.role, m.parts) for m in repaired], name, {})
            assert validate(written, name) == []

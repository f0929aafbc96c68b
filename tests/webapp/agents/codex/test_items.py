"""Items of the Responses API as messages."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.messages import REMINDER, Media, Message, Reasoning, Text, ToolCall, ToolResult
from webapp.agents.codex.items import Items, unread


class TestAnItem:
    """An item as a message."""

    @pytest.mark.parametrize(
        ("item", "message"),
        [
            ({"type": "reasoning", "summary": [{"text": "a"}], "content": [{"text": "b"}], "encrypted_content": "ccc"},
             Message("assistant", (Reasoning("a\n\nb", 3),))),
            ({"type": "tool_search_call", "call_id": "c", "arguments": {"q": 1}},
             Message("assistant", (ToolCall("c", "tool_search", '{"q":1}'),))),
            ({"type": "function_call_output", "call_id": "c", "output": {"content": "x", "success": True}},
             Message("tool", (ToolResult("c", "x"),))),
            ({"type": "agent_message", "content": [{"type": "input_text", "text": "hi"}]},
             Message("user", (Text("hi"),), "reminder")),
            ({"type": "message", "role": "user", "content": [{"text": "# AGENTS.md instructions for x"}]},
             Message("user", (Text("# AGENTS.md instructions for x"),), "reminder")),
            ({"type": "additional_tools", "role": "developer", "tools": [{"name": "search"}]},
             Message("system", (Text('[{"name":"search"}]'),))),
            ({"type": "ghost_snapshot"}, None),
            ({"type": "configuration_update", "reasoning": {"effort": "high"}}, None),
            ({"type": "riddle"}, "riddle"),
            ({"type": "message", "role": "ghost", "content": []}, "message of role ghost"),
            ({}, "item without type"),
        ],
    )  # fmt: skip
    def test_is_a_message_or_its_unknown_type(
        self, item: dict[str, Any], message: Message | str | None
    ) -> None:
        """Known types give their message, unsent ones None, unknown ones their type."""
        assert Items().message(item, "name") == message

    def test_with_unknown_blocks_names_them(self) -> None:
        """Content of a kind that is not known is reported, and the rest of the message is read."""
        blocks = [
            {"type": "input_text", "text": "hi"},
            {"type": "riddle", "words": "?"},
            {"text": 4},
            {"type": "text", "text": ""},
        ]
        item = {"type": "message", "role": "user", "content": blocks}
        assert Items().message(item, "name") == Message("user", (Text("hi"),))
        assert list(unread(item)) == ["block riddle", "block without type"]

    def test_with_unknown_blocks_in_its_output_names_them(self) -> None:
        """The output is read with their words."""
        blocks = [{"type": "input_text", "text": "a"}, {"type": "riddle", "words": "b"}, "c"]
        item = {"type": "function_call_output", "call_id": "c", "output": blocks}
        message = Items().message(item, "name")
        assert isinstance(message, Message)
        assert message.results[0].text == 'a\n{"type":"riddle","words":"b"}\nc'
        assert list(unread(item)) == ["block riddle in an output"]

    def test_has_sound_as_media(self) -> None:
        """Words that the user spoke are sent as sound."""
        block = {"type": "input_audio", "audio_url": "data:audio/wav;base64,UklGRg=="}
        message = Items().message({"type": "message", "role": "user", "content": [block]}, "name")
        assert isinstance(message, Message)
        assert [part.kind for part in message.parts if isinstance(part, Media)] == ["audio"]

    @pytest.mark.parametrize(
        ("block", "kind", "detail"),
        [
            ({"type": "input_image", "file_id": "file-1", "detail": "high"}, "image", "high"),
            ({"type": "input_image", "file_id": "file-1", "detail": "auto"}, "image", ""),
            ({"type": "input_audio", "file_id": "file-1"}, "audio", ""),
            ({"type": "input_file", "file_id": "file-1"}, "document", ""),
        ],
    )
    def test_has_an_uploaded_file_as_media(self, block: dict[str, Any], kind: str, detail: str) -> None:
        """A file can be named by the id that it has at the provider."""
        item = {"type": "message", "role": "user", "content": [block]}
        message = Items().message(item, "name")
        assert isinstance(message, Message)
        assert [(part.kind, part.detail) for part in message.media] == [(kind, detail)]
        assert list(unread(item)) == []

    def test_with_an_encrypted_part_has_it_by_its_length(self) -> None:  # X11
        """An output may hold parts that only the provider can read; they are no text."""
        blocks = [
            {"type": "input_text", "text": "2 files"},
            {"type": "encrypted_content", "encrypted_content": "gAAA"},
        ]
        message = Items().message({"type": "function_call_output", "call_id": "c", "output": blocks}, "n")
        assert isinstance(message, Message)
        assert message.results[0].text == "2 files"
        assert [(medium.kind, medium.size_bytes) for medium in message.media] == [("encrypted", 4)]

    def test_without_an_id_is_linked_by_name_and_order(self) -> None:
        """A result belongs to the oldest open call of its tool."""
        items = Items()
        for name in ("one", "two"):
            items.message({"type": "tool_call", "function": {"name": "ls"}}, name)
        said = [items.message({"type": "tool_result", "name": "ls", "result": "x"}, "r") for _ in range(2)]
        assert [m.results[0].call_id for m in said if isinstance(m, Message)] == ["one", "two"]

    def test_that_nobody_called_is_a_reminder(self) -> None:  # X12
        """Newer versions send an output without a call, which no list of messages has a place for."""
        item = {"type": "function_call_output", "name": "goal_objective", "output": "win"}
        assert Items().message(item, "n") == Message("user", (Text("win"),), REMINDER)
        assert list(unread(item)) == []

    @pytest.mark.parametrize(
        ("written", "sent"),
        [
            ('{"output":"a\\nb","metadata":{"exit_code":1,"duration_seconds":0.2}}',
             "Exit code: 1\nWall time: 0.2 seconds\nOutput:\na\nb"),
            ('{"output":"a","metadata":{"exit_code":0}}', "Exit code: 0\nOutput:\na"),
            ('{"output":"a"}', '{"output":"a"}'),
            ('{"output":"a","metadata":{},"more":1}', '{"output":"a","metadata":{},"more":1}'),
            ('{"output', '{"output'),
        ],
    )  # fmt: skip
    def test_of_a_command_is_its_sent_output(self, written: str, sent: str) -> None:
        """Codex writes output and exit code as JSON and sends them as lines; other JSON is unchanged."""
        message = Items().message({"type": "function_call_output", "call_id": "c", "output": written}, "n")
        assert isinstance(message, Message)
        assert message.results[0].text == sent

    def test_of_a_picture_has_text_and_media(self) -> None:
        """A picture made by the provider belongs to the assistant."""
        message = Items().message(
            {"type": "image_generation_call", "revised_prompt": "a bed", "result": "AAAA"}, "n"
        )
        assert isinstance(message, Message)
        assert (message.role, message.text, len(message.media)) == ("assistant", "picture: a bed", 1)

"""Items of the Responses API as messages."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.messages import Message, Reasoning, Text, ToolCall, ToolResult
from webapp.agents.codex.items import Items, user_words


class TestAnItem:
    """One item, one message."""

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
            ({"type": "ghost_snapshot"}, None),
            ({"type": "riddle"}, "riddle"),
            ({"type": "message", "role": "ghost", "content": []}, "message of role ghost"),
            ({}, "item without type"),
        ],
    )  # fmt: skip
    def test_is_a_message_or_says_why_not(self, item: dict[str, Any], message: Message | str | None) -> None:
        """Known types give their message, unsent ones None, unknown ones their type."""
        assert Items().message(item, "name") == message

    def test_without_an_id_is_tied_by_name_and_order(self) -> None:
        """Results take the oldest open call of their tool."""
        items = Items()
        for name in ("one", "two"):
            items.message({"type": "tool_call", "function": {"name": "ls"}}, name)
        said = [items.message({"type": "tool_result", "name": "ls", "result": "x"}, "r") for _ in range(3)]
        assert [m.results[0].call_id for m in said if isinstance(m, Message)] == ["one", "two", ""]

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
    def test_of_a_command_is_what_the_model_was_sent(self, written: str, sent: str) -> None:
        """Codex writes output and exit code as JSON and sends them as lines; other JSON stays as it is."""
        message = Items().message({"type": "function_call_output", "call_id": "c", "output": written}, "n")
        assert isinstance(message, Message)
        assert message.results[0].text == sent

    def test_of_a_picture_has_text_and_media(self) -> None:
        """A picture made by the provider is the assistant's."""
        message = Items().message(
            {"type": "image_generation_call", "revised_prompt": "a bed", "result": "AAAA"}, "n"
        )
        assert isinstance(message, Message)
        assert (message.role, message.text, len(message.media)) == ("assistant", "picture: a bed", 1)


def test_the_users_words_are_cut_out_of_what_an_editor_adds() -> None:
    """Words behind the editor's context; none in a reminder."""
    text = "# Context from my IDE setup:\nx\n## My request for Codex:\nfix it"
    assert user_words(Message("user", (Text(text),))) == "fix it"
    assert user_words(Message("user", (Text("x"),), "reminder")) is None
    assert user_words(Message("assistant", (Text("x"),))) is None

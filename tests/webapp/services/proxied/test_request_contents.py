"""The messages of a transcript in a request of its agent."""

from __future__ import annotations

from typing import Any

from scoring.messages import Message, Part, Reasoning, Text, ToolCall, ToolResult
from webapp.agents.view import ViewRow
from webapp.services.proxied.keys import keys_of
from webapp.services.proxied.request_contents import RequestContents, matched


def row(name: str, role: Any, *parts: Part) -> ViewRow:
    """Return a row of a transcript."""
    return ViewRow(name, Message(role, parts), None, None)


def thought(name: str) -> dict[str, Any]:
    """Return an item of reasoning."""
    return {"type": "reasoning", "id": name, "summary": [], "encrypted_content": "x"}


class TestMatched:
    """The keys of a transcript's rows."""

    def test_include_reasoning_by_its_place(self) -> None:  # X13
        """Without a key of its own it could not be dropped, and with it neither could the call that it led to."""
        items = [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Count them."}]},
            thought("r1"),
            thought("r2"),
            {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "7"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Seven."}]},
        ]
        rows = [
            row("ask", "user", Text("Count them.")), row("early", "assistant", Reasoning("", 1)),
            row("late", "assistant", Reasoning("", 1)), row("call", "assistant", ToolCall("c1", "shell", "{}")),
            row("output", "tool", ToolResult("c1", "7")), row("lost", "assistant", Reasoning("", 1)),
            row("answer", "assistant", Text("Seven.")),
        ]  # fmt: skip
        names = ("ask", "early", "late", "call", "output", "answer")
        keys = keys_of(items)
        found = matched(rows, RequestContents.of(items), keys)
        assert found == {name: (key,) for name, key in zip(names, keys, strict=True)}

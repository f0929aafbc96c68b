"""The messages of a transcript in a request of its agent."""

from __future__ import annotations

from typing import Any

from scoring.messages import Message, Part, Reasoning, Text, ToolCall, ToolResult
from webapp.services.proxied.request_contents import RequestContents, TranscriptRow, matched


def row(name: str, role: Any, *parts: Part) -> TranscriptRow:
    """Return a row of a transcript."""
    return TranscriptRow.of(Message(role, parts), name)


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
        found = matched(rows, RequestContents.of(items))
        assert found == {name: (i,) for i, name in enumerate(names)}

    def test_include_all_items_of_an_answer(self) -> None:  # X13
        """Reasoning, words and each call of one message of an agent are items of their own in Responses."""
        items = [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": "Reading."},
            {"role": "user", "content": "Again."},
            thought("r1"),
            {"role": "assistant", "content": "Reading."},
            {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
            {"type": "function_call", "call_id": "c2", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "one"},
            {"type": "function_call_output", "call_id": "c2", "output": "two"},
        ]
        calls = ToolCall("c1", "read", "{}"), ToolCall("c2", "read", "{}")
        rows = [
            row("ask", "user", Text("Look.")), row("first", "assistant", Text("Reading.")),
            row("again", "user", Text("Again.")), row("second", "assistant", Text("Reading."), *calls),
            row("one", "tool", ToolResult("c1", "one")), row("two", "tool", ToolResult("c2", "two")),
        ]  # fmt: skip
        assert matched(rows, RequestContents.of(items)) == {
            "ask": (0,), "first": (1,), "again": (2,), "second": (3, 4, 5, 6), "one": (7,), "two": (8,),
        }  # fmt: skip

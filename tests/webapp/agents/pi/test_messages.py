"""pi's messages, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.messages import REMINDER, Message, Text, ToolCall, ToolResult
from webapp.agents.pi.messages import message_of, unread, usage_of
from webapp.agents.records import Usage


def reminder(text: str) -> Message:
    """Return a reminder."""
    return Message("user", (Text(text),), REMINDER)


def command(**more: Any) -> dict[str, Any]:
    """Return a command that the user ran."""
    return {"role": "bashExecution", "command": "ls", "output": "a", **more}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"role": "user", "content": "hi"}, Message("user", (Text("hi"),))),
        ({"role": "developer", "content": "rules"}, Message("system", (Text("rules"),))),
        ({"role": "custom", "content": "x"}, reminder("x")),
        (command(), reminder("Ran `ls`\n```\na\n```")),
        (command(output="", exitCode=2), reminder("Ran `ls`\n(no output)\n\nCommand exited with code 2")),
        (command(cancelled=True), reminder("Ran `ls`\n```\na\n```\n\n(command cancelled)")),
        (
            command(truncated=True, fullOutputPath="/f"),
            reminder("Ran `ls`\n```\na\n```\n\n[Output truncated. Full output: /f]"),
        ),
        (command(excludeFromContext=True), None),
        ({"role": "assistant", "content": [], "stopReason": "error"}, "answer that ended with error"),
        ({"role": "oracle"}, "message of role oracle"),
        ({}, "message of role nobody"),
        (
            {"role": "toolResult", "toolCallId": "c", "toolName": "read", "content": "x", "isError": True},
            Message("tool", (ToolResult("c", "x", "read", True),)),
        ),
        (
            {
                "role": "assistant",
                "content": [{"type": "toolCall", "id": "c|fc_1", "name": "ls", "arguments": {}}],
            },
            Message("assistant", (ToolCall("c", "ls", "{}"),)),
        ),
        (
            {"role": "toolResult", "toolCallId": "c|fc_1", "toolName": "ls", "content": "x"},
            Message("tool", (ToolResult("c", "x", "ls"),)),
        ),
    ],
)
def test_messages_are_those_that_pi_sends(said: dict[str, Any], message: Message | str | None) -> None:
    """Each role has its message, and dropped and unknown messages are distinguished."""
    assert message_of(said) == message


def test_summaries_are_sent_with_their_heading() -> None:
    """This applies to summaries of branches and of compactions."""
    for role in ("branchSummary", "compactionSummary"):
        message = message_of({"role": role, "summary": "done"})
        assert isinstance(message, Message)
        assert (message.name, "<summary>\ndone\n</summary>" in message.text) == (REMINDER, True)


def test_usage_counts_the_cache_as_input() -> None:
    """A call without input has none."""
    assert usage_of({"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}) == Usage(8, 2, 3, 4)
    assert usage_of({"output": 2}) is None


def test_the_usage_of_a_tool_is_no_missing_usage() -> None:
    """A tool that asks a model reports it with its result."""
    said = {"role": "toolResult", "toolCallId": "t", "toolName": "ask", "content": []}
    assert list(unread({**said, "usage": {"input": 1, "cacheRead": 2}})) == []

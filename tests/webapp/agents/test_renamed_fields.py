"""Rows of a newer version of an agent, with a renamed field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from webapp.agents import FOLDERS
from webapp.agents.claude_code.decoder import Decoder as ClaudeCode
from webapp.agents.codex.decoder import Decoder as Codex
from webapp.agents.gemini_cli.decoder import Decoder as Gemini
from webapp.agents.opencode.items import unknown_in
from webapp.agents.pi.decoder import Decoder as Pi
from webapp.agents.reading.content import Content
from webapp.agents.reading.tail import LineDecoder, decode
from webapp.agents.records import Unknown

CALL = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
OUTPUT = {"type": "tool_result", "tool_use_id": "t", "content": "a.py"}
USAGE = {"input_tokens": 900, "output_tokens": 5}
CLAUDE: list[dict[str, Any]] = [
    {"type": "user", "uuid": "1", "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}},
    {"type": "assistant", "uuid": "2", "parentUuid": "1", "message": {
        "id": "m", "model": "claude-opus-4-8", "usage": USAGE,
        "content": [{"type": "thinking", "thinking": "well", "signature": "x"}, CALL]}},
    {"type": "user", "uuid": "3", "parentUuid": "2", "message": {"role": "user", "content": [OUTPUT]}},
    {"type": "attachment", "uuid": "4", "parentUuid": "3", "attachment": {"type": "file", "content": {"file": {
        "content": "x = 1"}}}},
]  # fmt: skip
CODEX: list[dict[str, Any]] = [
    {"type": kind, "timestamp": "2026-01-02T12:00:00Z", "payload": payload}
    for kind, payload in [
        ("session_meta", {"id": "s", "cli_version": "0.150.0"}),
        ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}),
        ("response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "well"}]}),
        ("response_item", {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}),
        ("response_item", {"type": "function_call_output", "call_id": "c", "output": "a.py"}),
        ("compacted", {"message": "", "replacement_history": []}),
        ("event_msg", {"type": "token_count", "info": {"last_token_usage": USAGE}}),
    ]
]  # fmt: skip
PI: list[dict[str, Any]] = [
    {"type": "session", "id": "s", "version": 3},
    {"type": "message", "id": "1", "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}},
    {"type": "message", "id": "2", "parentId": "1", "message": {
        "role": "assistant", "usage": {"input": 900, "output": 5, "cacheRead": 0},
        "content": [{"type": "toolCall", "id": "t", "name": "bash", "arguments": {"command": "ls"}}]}},
    {"type": "message", "id": "3", "parentId": "2", "message": {
        "role": "toolResult", "toolCallId": "t", "toolName": "bash", "content": []}},
    {"type": "message", "id": "4", "parentId": "3", "message": {
        "role": "bashExecution", "command": "ls", "output": ""}},
    {"type": "branch_summary", "id": "5", "parentId": "4", "summary": "before"},
]  # fmt: skip
GEMINI: list[dict[str, Any]] = [
    {"sessionId": "s"},
    {"id": "1", "type": "user", "content": [{"text": "hi"}]},
    {"id": "2", "type": "gemini", "content": "well", "tokens": {"input": 900, "output": 5}, "toolCalls": [
        {"id": "t", "name": "ls", "args": {}, "status": "success", "result": [
            {"functionResponse": {"response": {"output": "a.py"}}}]}]},
]  # fmt: skip


def renamed(value: Any, path: tuple[str, ...]) -> Any:
    """Return the value with the last field of the path renamed, wherever it occurs."""
    if isinstance(value, list):
        return [renamed(one, path) for one in value]
    if not isinstance(value, Mapping):
        return value
    first, *rest = path
    if rest:
        return {k: renamed(v, tuple(rest)) if k == first else v for k, v in value.items()}
    return {f"{k}V2" if k == first else k: v for k, v in value.items()}


def unread(decoder: LineDecoder, rows: list[dict[str, Any]]) -> list[str]:
    """Return the names reported as not read."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return [r.type for r in decode(Content(text.encode()), decoder) if isinstance(r, Unknown)]


CASES = [
    (ClaudeCode, CLAUDE, "message.content", "user row without content"),
    (ClaudeCode, CLAUDE, "message.content.text", "block text without text"),
    (ClaudeCode, CLAUDE, "message.content.thinking", "block thinking without thinking"),
    (ClaudeCode, CLAUDE, "message.content.input", "block tool_use without input"),
    (ClaudeCode, CLAUDE, "message.content.name", "block tool_use without name"),
    (ClaudeCode, CLAUDE, "message.content.content", "block tool_result without content"),
    (ClaudeCode, CLAUDE, "message.usage", "assistant row without usage"),
    (ClaudeCode, CLAUDE, "message.usage.input_tokens", "usage without input_tokens"),
    (ClaudeCode, CLAUDE, "attachment.content", "attachment file without text"),
    (Codex, CODEX, "payload.content", "message without content or message"),
    (Codex, CODEX, "payload.content.text", "block input_text without text"),
    (Codex, CODEX, "payload.summary", "reasoning without summary or content or encrypted_content or message"),
    (Codex, CODEX, "payload.arguments", "function_call without arguments or input or action"),
    (Codex, CODEX, "payload.name", "function_call without name or function"),
    (Codex, CODEX, "payload.replacement_history", "compacted without replacement_history"),
    (Codex, CODEX, "payload.output", "function_call_output without output or result or tools"),
    (Codex, CODEX, "payload.info", "token_count without info"),
    (Codex, CODEX, "payload.info.last_token_usage", "token_count without last_token_usage"),
    (Codex, CODEX, "payload.info.last_token_usage.input_tokens", "usage without input_tokens"),
    (Pi, PI, "message.content", "message of role user without content"),
    (Pi, PI, "message.content.text", "block text without text"),
    (Pi, PI, "message.content.type", "block without type"),
    (Pi, PI, "message.content.id", "block toolCall without id"),
    (Pi, PI, "message.toolCallId", "message of role toolResult without toolCallId"),
    (Pi, PI, "message.command", "message of role bashExecution without command"),
    (Pi, PI, "summary", "branch_summary without summary"),
    (Pi, PI, "message.content.arguments", "block toolCall without arguments"),
    (Pi, PI, "message.usage", "message of role assistant without usage"),
    (Pi, PI, "message.usage.input", "usage without input"),
    (Gemini, GEMINI, "content", "user record without content or parts"),
    (Gemini, GEMINI, "content.text", "part with textV2"),
    (Gemini, GEMINI, "tokens.input", "usage without input"),
    (Gemini, GEMINI, "toolCalls.args", "tool call without args"),
    (Gemini, GEMINI, "toolCalls.result", "tool call without result or resultDisplay"),
    (Gemini, GEMINI, "toolCalls.result.functionResponse", "part with functionResponseV2"),
    (
        Gemini,
        GEMINI,
        "toolCalls.result.functionResponse.response",
        "functionResponse without response or parts",
    ),
]


@pytest.mark.parametrize(("decoder", "rows", "path", "said"), CASES)
def test_a_renamed_field_is_reported(
    decoder: type[LineDecoder], rows: list[dict[str, Any]], path: str, said: str
) -> None:
    """Content that cannot be read must not be missing silently."""
    assert unread(decoder(), rows) == []
    assert said in unread(decoder(), renamed(rows, tuple(path.split("."))))


def test_every_agent_has_such_fields() -> None:
    """An agent without a case would lose content silently once a field of its rows has another name."""
    folders = {decoder.__module__.split(".")[-2] for decoder, *_ in CASES}
    assert folders | {unknown_in.__module__.split(".")[-2]} == set(FOLDERS), "add the agent to CASES"


@pytest.mark.parametrize(
    ("decoder", "rows", "usage", "said"),
    [
        (ClaudeCode, CLAUDE, {"cache_read_input_tokens": 7, "cache_written": 5}, ["usage with cache_written"]),
        (ClaudeCode, CLAUDE, {"cacheReadInputTokens": 7}, ["usage with cacheReadInputTokens"]),
        (ClaudeCode, CLAUDE, {"cache_read_input_tokens": 7, "cache_creation_input_tokens": 5, "cache_hits": 7}, []),
        (ClaudeCode, CLAUDE, {"cache_ttl": "1h"}, []),
        (Pi, PI, {"cacheWritten": 5}, ["usage with cacheWritten"]),
    ],
)  # fmt: skip
def test_a_renamed_count_of_cached_tokens_is_reported(
    decoder: type[LineDecoder], rows: list[dict[str, Any]], usage: dict[str, Any], said: list[str]
) -> None:
    """The input of these agents leaves cached tokens out: without them it would be too small silently."""
    assert unread(decoder(), [_with_usage(row, usage) for row in rows]) == said


@pytest.mark.parametrize(
    ("decoder", "rows", "path", "said"),
    [
        (ClaudeCode, CLAUDE, "message.usage.input_tokens", ["usage with input_tokens that is no number"]),
        (
            Codex,
            CODEX,
            "payload.info.last_token_usage.input_tokens",
            ["usage with input_tokens that is no number"],
        ),
        (Pi, PI, "message.usage.input", ["usage with input that is no number"]),
        (Gemini, GEMINI, "tokens.input", ["usage with input that is no number"]),
    ],
)
@pytest.mark.parametrize("value", ["900", True, [900], {"total": 900}, None])
def test_an_input_that_is_no_number_is_reported(
    decoder: type[LineDecoder], rows: list[dict[str, Any]], path: str, said: list[str], value: Any
) -> None:
    """The call would count as one without usage silently; one that is null has none."""
    assert unread(decoder(), with_value(rows, path.split("."), value)) == ([] if value is None else said)


def with_value(value: Any, path: list[str], new: Any) -> Any:
    """Return the value with `new` in the field of the path, wherever it occurs."""
    if isinstance(value, list):
        return [with_value(one, path, new) for one in value]
    if not path:
        return new
    if not isinstance(value, Mapping):
        return value
    return {k: with_value(v, path[1:], new) if k == path[0] else v for k, v in value.items()}


def _with_usage(row: dict[str, Any], usage: dict[str, Any]) -> dict[str, Any]:
    message = row.get("message", {})
    return {**row, "message": {**message, "usage": message["usage"] | usage}} if "usage" in message else row


def test_an_empty_result_is_not_reported() -> None:
    """A tool may return nothing."""
    empty = {key: value for key, value in OUTPUT.items() if key != "content"}
    row = {"type": "user", "uuid": "1", "message": {"role": "user", "content": [empty]}}
    assert unread(ClaudeCode(), [row]) == []


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "text", "words": "hi"}, "part text without text"),
        ({"type": "tool", "state": {"status": "completed", "input": {}, "result": "a"}, "tool": "ls"},
         "state of a tool without output"),
        ({"type": "tool", "tool": "ls", "at": {}}, "part tool without state"),
        ({"type": "tool", "state": {"status": "running", "input": {}}, "tool": "ls"}, None),
        ({"type": "tool", "state": {"status": "streaming", "input": ""}, "tool": "ls"}, None),
        ({"type": "tool", "state": {"status": "cancelled", "output": "half"}, "tool": "ls"},
         "tool with status cancelled"),
    ],
)  # fmt: skip
def test_a_part_without_its_field_is_reported(part: dict[str, Any], said: str | None) -> None:
    """A tool that is still running has no output yet."""
    assert list(unknown_in([part])) == ([said] if said else [])

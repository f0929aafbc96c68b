"""pi's messages, as they are sent to the model.

Commands that the user ran, messages of extensions and summaries are sent with the role user, and are reminders here. An
answer that ended in an error or was aborted is not sent again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoring.formats import said_and_shown
from scoring.messages import REMINDER, Message, Part, Reasoning, Text, ToolCall, ToolResult
from webapp.agents.reading.rows import (
    count_of,
    dumps,
    lacking,
    list_of,
    media_from_base64,
    object_of,
    text_of,
    uncounted_cache,
    uncounted_input,
)
from webapp.agents.records import Usage
from webapp.agents.view import ViewRow

# The texts with which pi introduces summaries.
COMPACTED = "The conversation history before this point was compacted into the following summary:"
BRANCH = "The following is a summary of a branch that this conversation came back from:"

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",), "thinking": ("thinking",), "toolCall": ("id", "name", "arguments"),
    "image": ("data",),
}  # fmt: skip
# Fields of a message by its role; of others, its content.
_HELD_IN: Mapping[str, tuple[str, ...]] = {
    "bashExecution": ("command", "output"), "branchSummary": ("summary",), "compactionSummary": ("summary",),
    "toolResult": ("toolCallId", "toolName", "content"),
}  # fmt: skip
_INCOMPLETE = frozenset({"error", "aborted"})


def message_of(said: dict[str, Any]) -> Message | str | None:
    """Return the message that is sent; None if nothing is, its type as text if that is unknown or dropped."""
    role, parts = text_of(said.get("role")), tuple(_parts(said.get("content")))
    if role == "assistant":
        reason = text_of(said.get("stopReason"))
        return f"answer that ended with {reason}" if reason in _INCOMPLETE else Message("assistant", parts)
    if role == "toolResult":
        return Message("tool", (_result(said, parts),))
    if role == "bashExecution":
        return None if said.get("excludeFromContext") is True else reminder(_command(said))
    if role in ("branchSummary", "compactionSummary"):
        return summary(BRANCH if role == "branchSummary" else COMPACTED, said)
    if role in ("custom", "hookMessage"):
        return Message("user", parts, REMINDER)
    if role in ("developer", "system"):
        return Message("system", (*parts, *_sections(said)))
    return Message("user", parts) if role == "user" else f"message of role {role or 'nobody'}"


def edit_key(row: ViewRow) -> str | None:
    """Return the key of a row's message in pi's own process, its role with its time or its call's id, or None."""
    said = object_of((row.value or {}).get("message"))
    role = text_of(said.get("role"))
    name = said.get("toolCallId") if role == "toolResult" else said.get("timestamp")
    return f"{role}:{name}" if role and name is not None else None


def unread(said: dict[str, Any]) -> Iterator[str]:
    """Yield the unknown types of blocks, and the required fields that a message lacks."""
    role = text_of(said.get("role"))
    yield from lacking(said, *_HELD_IN.get(role, ("content",)), kind=f"message of role {role}")
    for block in map(object_of, list_of(said.get("content"))):
        kind = text_of(block.get("type"))
        if kind in _FIELDS:
            yield from lacking(block, *_FIELDS[kind], kind=f"block {kind}")
        else:
            yield f"block {kind or 'without type'}"
    if role == "assistant" and object_of(said.get("usage")):
        yield from uncounted_input(said["usage"], "input")
        yield from uncounted_cache(said["usage"], "cacheRead", "cacheWrite")
    elif "usage" not in said and any("cacheRead" in v for v in said.values() if isinstance(v, dict)):
        yield "message of role assistant without usage"


def summary(heading: str, said: dict[str, Any]) -> Message:
    """Return a summary as it is sent."""
    return reminder(f"{heading}\n\n<summary>\n{text_of(said.get('summary'))}\n</summary>")


def sent_id(call_id: Any) -> str:
    """Return the id of a call as it is sent: with OpenAI's Responses, pi keeps the id of the item behind it."""
    return text_of(call_id).partition("|")[0]


def reminder(text: str) -> Message:
    """Return a message of role user that no person wrote."""
    return Message("user", (Text(text),), REMINDER)


def custom_message(row: dict[str, Any]) -> Message:
    """Return the message that an extension adds to the conversation."""
    return Message("user", tuple(_parts(row.get("content"))), REMINDER)


def usage_of(usage: dict[str, Any]) -> Usage | None:
    """Return the usage of an answer; pi's input excludes cached tokens."""
    read, written = count_of(usage.get("cacheRead")), count_of(usage.get("cacheWrite"))
    said, output = count_of(usage.get("input")) + read + written, count_of(usage.get("output"))
    thought, hour = (
        min(output, count_of(usage.get("reasoning"))),
        min(written, count_of(usage.get("cacheWrite1h"))),
    )
    return Usage(said, output, read, written, thought, cache_write_hour_tokens=hour) if said else None


def _parts(content: Any) -> Iterator[Part]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in map(object_of, list_of(content)):
        kind = block.get("type")
        if kind == "text" and (text := text_of(block.get("text"))):
            yield Text(text)
        elif kind == "thinking":
            sealed = text_of(block.get("thinkingSignature"))
            yield Reasoning(text_of(block.get("thinking")), len(sealed))
        elif kind == "toolCall":
            arguments = dumps(block.get("arguments", {}))
            yield ToolCall(sent_id(block.get("id")), text_of(block.get("name")), arguments)
        elif kind == "image":
            yield media_from_base64(text_of(block.get("data")), text_of(block.get("mimeType")), "image")


def _sections(said: dict[str, Any]) -> Iterator[Text]:
    """Yield the sections of a system prompt, or those that change."""
    yield from (
        Text(text) for text in object_of(said.get("sections")).values() if isinstance(text, str) and text
    )


def _result(said: dict[str, Any], parts: tuple[Part, ...]) -> ToolResult:
    text, media = said_and_shown(parts)
    call_id, tool = sent_id(said.get("toolCallId")), text_of(said.get("toolName"))
    return ToolResult(call_id, text, tool, said.get("isError") is True, media)


def _command(said: dict[str, Any]) -> str:
    """Return a command that the user ran, with its output."""
    output, code = text_of(said.get("output")), count_of(said.get("exitCode"))
    end = "\n\n(command cancelled)" if said.get("cancelled") is True else ""
    end = end or (f"\n\nCommand exited with code {code}" if code else "")
    if said.get("truncated") is True and (path := text_of(said.get("fullOutputPath"))):
        end += f"\n\n[Output truncated. Full output: {path}]"
    shown = f"```\n{output}\n```" if output else "(no output)"
    return f"Ran `{text_of(said.get('command'))}`\n{shown}{end}"

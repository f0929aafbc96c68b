"""Items of Codex's history (the items of OpenAI's Responses API) as messages.

Every item is a message. Developer messages have the role system. User messages that Codex itself writes (environment,
AGENTS.md, notices, summaries) and outputs that answer no call are reminders. Calls that the provider executes (web
search, pictures) have no separate result and become text of the assistant. Early versions of the format use other
names, which are read as far as possible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from scoring.formats import DETAILS, Source, media_of
from scoring.messages import REMINDER, Media, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from scoring.tokens import ENCRYPTED
from webapp.agents.codex.turns import SUMMARY_START, content_of, is_injected
from webapp.agents.reading.rows import (
    digest,
    dumps,
    lacking,
    list_of,
    media_from_base64,
    media_from_url,
    object_of,
    parse,
    text_of,
)

# Codex's introduction to the summary of a compaction.
SUMMARY_PREFIX = (
    f"{SUMMARY_START} and produced a summary of its thinking process. You also "
    "have access to the state of the tools that were used by that language model. Use this to build on the work that "
    "has already been done and avoid duplicating work. Here is the summary produced by the other language model, use "
    "the information in this summary to assist with your own analysis:"
)
COMPACTION_ITEMS = frozenset({"compaction", "compaction_summary", "context_compaction"})
# A change of the reasoning effort is sent, but has no text.
NOT_SENT = frozenset({"ghost_snapshot", "compaction_trigger", "configuration_update"})
_TOOLS = "additional_tools"

_FAILED = re.compile(r'(Exit code: |exited with code |"exit_code":\s*)-?[1-9]')
_ROLES: dict[str, Role] = {
    "user": "user", "assistant": "assistant", "model": "assistant", "developer": "system", "system": "system",
    "tool": "tool",
}  # fmt: skip


_ENVELOPES = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"}
)
_BARE = frozenset({
    "function_call", "function_call_output", "function_result", "reasoning", "local_shell_call", "custom_tool_call",
})  # fmt: skip


def match_score(row: dict[str, Any]) -> int:
    """Return how surely a row is this agent's: 2 by its envelope, 1 as an item without one, else 0."""
    kind = text_of(row.get("type"))
    if isinstance(row.get("payload"), dict) or kind in _ENVELOPES or "record_type" in row:
        return 2
    item = kind in _BARE or (kind == "message" and "role" in row)
    return int(
        item or {"id", "timestamp", "instructions"} <= row.keys() or {"created_at", "role"} <= row.keys()
    )


_BLOCKS: Mapping[str, str] = {
    "input_text": "text", "output_text": "text", "text": "text", "summary_text": "text", "reasoning_text": "text",
    "encrypted_content": "encrypted_content", "input_image": "image_url|data|file_id",
    "input_audio": "audio_url|data|file_id",
}  # fmt: skip
_NO_FIELDS = frozenset({"image_generation_call"})
_NAMED = frozenset({"function_call", "custom_tool_call"})
# The content of a block with the id of an uploaded file.
_UPLOADED: Mapping[str, str] = {"input_image": "image", "input_audio": "audio"}


def unread(item: dict[str, Any]) -> Iterator[str]:
    """Yield the required fields that an item of a known kind lacks."""
    kind = text_of(item.get("type"))
    if kind == "message" or not kind:
        yield from lacking(item, "content|message", kind="message")
    elif kind == "reasoning" or kind in COMPACTION_ITEMS:
        yield from lacking(item, "summary|content|encrypted_content|message")
    elif kind.endswith("_call") and kind not in _NO_FIELDS:
        yield from lacking(item, "arguments|input|action")
        if kind in _NAMED:
            yield from lacking(item, "name|function")
    elif kind.endswith(("_output", "_result")):
        yield from lacking(item, "output|result|tools")
    blocks = [*list_of(item.get("content")), *list_of(item.get("summary"))]
    yield from (found for block in blocks for found in _unread_block(object_of(block)))
    outputs = (block for block in list_of(item.get("output")) if isinstance(block, dict))
    yield from (f"{found} in an output" for block in outputs for found in _unread_block(block))


def _unread_block(block: dict[str, Any]) -> Iterator[str]:
    """Yield the field that a block of a known type lacks, or its type if it is unknown and holds nothing known."""
    kind = text_of(block.get("type"))
    if kind in _BLOCKS:
        yield from lacking(block, _BLOCKS[kind], kind=f"block {kind}")
    elif not any(_parts([block])):
        yield f"block {kind or 'without type'}"


def is_empty(item: dict[str, Any]) -> bool:
    """Return whether the text of an item is empty, as that of a message is which had only a picture."""
    texts = [object_of(block).get("text") for block in list_of(item.get("content"))]
    return bool(texts) and all(text == "" for text in texts)


class Items:
    """Decodes items in order; remembers calls without an id, to match their results by name and order."""

    def __init__(self) -> None:
        self._open: dict[str, list[str]] = {}

    def message(self, item: dict[str, Any], name: str) -> Message | str | None:
        """Return the item's message; None if it is not sent to the model; its type as text if that is unknown.

        `name` is used as the id of an item that needs one and has none.
        """
        kind = text_of(item.get("type"))
        if kind in NOT_SENT:
            return None
        if kind == "message" or (not kind and text_of(item.get("role"))):
            return _said(item)
        if kind == _TOOLS:
            return Message("system", (Text(dumps(item.get("tools", []))),))
        if kind == "agent_message":
            return Message("user", tuple(_parts(item.get("content"))), REMINDER)
        if kind.endswith(("_output", "_result")):
            result = self._result(item)
            if result.call_id:
                return Message("tool", (result,))
            # No model called it: newer versions send goals and the outputs of a client's tools so (seen in 0.171.0).
            text = (Text(result.text),) if result.text else ()
            return Message("user", (*text, *result.media), REMINDER)
        parts = tuple(self._assistant_parts(kind, item, name))
        return Message("assistant", parts) if parts else kind or "item without type"

    def _assistant_parts(self, kind: str, item: dict[str, Any], name: str) -> Iterator[Part]:
        if kind == "reasoning":
            yield _reasoning(item)
        elif kind in COMPACTION_ITEMS:
            yield Reasoning("", len(text_of(item.get("encrypted_content"))))
        elif kind in ("web_search_call", "image_generation_call"):
            yield from _provider_call(kind, item)
        elif kind.endswith("_call"):
            yield self._call(item, kind, name)

    def _call(self, item: dict[str, Any], kind: str, name: str) -> ToolCall:
        tool = text_of(item.get("name")) or text_of(object_of(item.get("function")).get("name"))
        tool = tool or kind.removesuffix("_call")
        said: Any = next((item[k] for k in ("arguments", "input", "action") if item.get(k) is not None), {})
        call_id = text_of(item.get("call_id"))
        if not call_id:
            call_id = text_of(item.get("id")) or name
            self._open.setdefault(tool, []).append(call_id)
        return ToolCall(call_id, tool, said if isinstance(said, str) else dumps(said))

    def _result(self, item: dict[str, Any]) -> ToolResult:
        tool = text_of(item.get("name"))
        waiting = self._open.get(tool, [])
        call_id = text_of(item.get("call_id")) or (waiting.pop(0) if waiting else "")
        said: Any = next((item[k] for k in ("output", "result", "tools") if item.get(k) is not None), "")
        text, media = _output(said)
        failed = item.get("success") is False or bool(_FAILED.search(text[:400] + text[-400:]))
        return ToolResult(call_id, text, tool, failed, tuple(media))


def agent_message(said: dict[str, Any]) -> dict[str, Any]:
    """Return what an agent said to another one as an item, as it is sent."""
    content = [{"type": "input_text", "text": text_of(said.get("content"))}]
    if hidden := text_of(said.get("encrypted_content")):
        task, sender = text_of(said.get("recipient")), text_of(said.get("author"))
        kind = "NEW_TASK" if said.get("trigger_turn") is True else "MESSAGE"
        head = f"Message Type: {kind}\nTask name: {task}\nSender: {sender}\nPayload:\n"
        content = [
            {"type": "input_text", "text": head},
            {"type": "encrypted_content", "encrypted_content": hidden},
        ]
    return {"type": "agent_message", "content": content}


def _said(item: dict[str, Any]) -> Message | str:
    role = _ROLES.get(text_of(item.get("role")))
    if role is None:
        return f"message of role {text_of(item.get('role')) or 'nobody'}"
    parts = tuple(_parts(content_of(item)))
    injected = all(isinstance(part, Text) for part in parts) and is_injected(item)
    return Message(role, parts, REMINDER if injected else "")


def _parts(content: Any) -> Iterator[Part]:
    if isinstance(content, str):
        yield Text(content)
        return
    for block in list_of(content):
        block = object_of(block)  # noqa: PLW2901
        if text := text_of(block.get("text")):
            yield Text(text)
        elif (media := _media(block)) is not None:
            yield media
        elif hidden := text_of(block.get("encrypted_content")):
            yield Reasoning("", len(hidden))


def _media(block: dict[str, Any]) -> Media | None:
    image = block.get("image_url")
    if not isinstance(image, dict):  # as an address, with its detail beside it
        image = {"url": image, "detail": block.get("detail")}
    if url := text_of(image.get("url")):
        return media_from_url(url, detail=text_of(image.get("detail")))
    if sound := text_of(block.get("audio_url")):
        return media_from_url(sound, "audio")
    if data := text_of(block.get("file_data")) or text_of(block.get("data")):
        return media_from_url(data, "document") if data.startswith("data:") else media_from_base64(data, "")
    if uploaded := text_of(block.get("file_id")):
        kind, detail = _UPLOADED.get(text_of(block.get("type")), "document"), block.get("detail")
        return media_of(Source(kind, file_id=uploaded, detail=detail if detail in DETAILS else ""))
    return None


def _encrypted(block: dict[str, Any]) -> Media | None:
    """Return an encrypted part of an output, which the model reads: its text is not in the file."""
    hidden = text_of(block.get("encrypted_content"))
    return Media(ENCRYPTED, digest=digest(hidden.encode()), size_bytes=len(hidden)) if hidden else None


def _reasoning(item: dict[str, Any]) -> Reasoning:
    blocks = [object_of(b) for b in [*list_of(item.get("summary")), *list_of(item.get("content"))]]
    text = "\n\n".join(t for t in (text_of(b.get("text")) for b in blocks) if t)
    return Reasoning(text, len(text_of(item.get("encrypted_content"))))


def _provider_call(kind: str, item: dict[str, Any]) -> Iterator[Part]:
    if kind == "web_search_call":
        yield Text("web search: " + dumps(item.get("action") or {}))
        return
    yield Text("picture: " + text_of(item.get("revised_prompt")))
    if data := text_of(item.get("result")):
        yield media_from_base64(data, "image/png")


def _output(said: Any) -> tuple[str, list[Media]]:
    """Return text and media of a call's output, in any of the forms that versions have used."""
    if isinstance(said, str):
        return _of_shell(said) if said.startswith('{"') else said, []
    blocks = said
    if isinstance(said, dict):
        blocks = said.get("content") if isinstance(said.get("content"), str | list) else [said]
        if isinstance(blocks, str):
            return blocks, []
    media: list[Media] = []
    texts: list[str] = []
    for block in list_of(blocks):
        found = (_media(block) or _encrypted(block)) if isinstance(block, dict) else None
        if found is not None:
            media.append(found)
        elif isinstance(block, dict) and isinstance(block.get("text"), str):
            texts.append(block["text"])
        else:
            texts.append(block if isinstance(block, str) else dumps(block))
    return "\n".join(texts), media


def _of_shell(said: str) -> str:
    """Return a command's output as it is sent: the file has JSON with the exit code, the model gets lines of text."""
    row = object_of(parse(said.encode()))
    about = row.get("metadata")
    if not isinstance(row.get("output"), str) or not isinstance(about, dict) or len(row) > 2:
        return said
    code, seconds = about.get("exit_code"), about.get("duration_seconds")
    lines = [
        *([f"Exit code: {code}"] if code is not None else []),
        *([f"Wall time: {seconds} seconds"] if seconds is not None else []),
        "Output:",
    ]
    return "\n".join([*lines, row["output"]])

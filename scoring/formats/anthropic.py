"""Anthropic messages: roles user and assistant with typed blocks; the system prompt is beside the list.

`tool_use` and its `tool_result` are tied by id; results come first in the user message right after the call.
Consecutive messages of one role are read as one. Thinking blocks have a signature and are never changed or rebuilt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scoring.formats.anthropic_rules import PROVIDER_CALLS, problems_of
from scoring.formats.base import Format
from scoring.formats.blocks import has_bound_thoughts, joined_text, said_and_shown, text_or_blocks
from scoring.formats.contents import MARKERS, parts_in
from scoring.formats.media import Source, media_in, placeholder, source_of
from scoring.formats.patching import patch_blocks
from scoring.formats.reading import OBJECT, Place, call_input, first_tool, string, surest
from scoring.messages import FileReference, Media, Message, Part, Reasoning, Text, ToolCall, ToolResult

_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
# Results with blocks like those of messages; those of the provider's own tools have objects of other shapes.
_RESULTS = ("tool_result", "mcp_tool_result")
_OWN_BLOCKS = (
    *_CALLS,
    *MARKERS,
    "thinking",
    "redacted_thinking",
    "compaction",
    "container_upload",
    "search_result",
    "tool_addition",
    "mcp_tool_listing",
)
_OWN_FIELDS = (
    "anthropic_version",
    "anthropic_beta",
    "system",
    "thinking",
    "stop_sequences",
    "context_management",
)
# Type of an encrypted result -> the type of one that can be read, the field of its text, and that of the cipher.
_READABLE = {
    "encrypted_code_execution_result": ("code_execution_result", "stdout", "encrypted_stdout"),
    "advisor_redacted_result": ("advisor_result", "text", "encrypted_content"),
}
_IMAGE_MIMES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def recognise(value: Any) -> float:
    """Return the certainty, 0…1, that the list is in this format."""
    items = value.get("messages") if isinstance(value, Mapping) else value
    if not isinstance(items, list | tuple):
        return 0.0
    least = 0.0
    if isinstance(value, Mapping):
        if "input_schema" in first_tool(value) or any(k in value for k in _OWN_FIELDS):
            return 0.92
        if string(value.get("model")).rpartition("/")[2].startswith("claude"):
            least = 0.7
    return max(least, surest(map(_certainty, items), 0.97))


def _certainty(item: Any) -> float:
    if not isinstance(item, OBJECT) or item.get("role") not in ("user", "assistant", "system"):
        return 0.0
    content = item.get("content")
    if item.get("type") == "message" and "stop_reason" in item:  # an answer of the API, unchanged
        return 0.97
    if isinstance(content, str) or content is None:
        return 0.4
    if not isinstance(content, list):
        return 0.0
    types = [b.get("type") for b in content if isinstance(b, Mapping)]
    if any(map(_is_own_block, types)) or any(isinstance(b, Mapping) and "source" in b for b in content):
        return 0.97
    if any(isinstance(b, Mapping) and "cache_control" in b for b in content):
        return 0.7
    return 0.45 if types and all(t == "text" for t in types) else 0.1


def _is_own_block(kind: Any) -> bool:
    """Return whether only this format has a block of such a type."""
    return kind in _OWN_BLOCKS or string(kind).endswith("tool_result")


def read(place: Place, item: Any) -> Message:
    """Return one message; a user message with only results has role tool."""
    item = place.object(item, "a message")
    role = place.role(item.get("role"))
    content = item.get("content")
    if content is None or isinstance(content, str):
        return Message(role, (Text(content),) if content else (), wire=place.wire)
    if not isinstance(content, list | tuple):
        place.fail("content to be a string or a list of blocks", content)
    parts = tuple(p for block in content for p in _parts(place, block))
    if role == "user" and parts and all(isinstance(p, ToolResult) for p in parts):
        role = "tool"
    return Message(role, parts, wire=place.wire)


def _parts(place: Place, block: Any) -> list[Part]:
    """Return the parts of one block: one, or none for an empty text."""
    if isinstance(block, str):
        return [Text(block)] if block else []
    block = place.object(block, "a content block")
    kind = place.text(block.get("type"), "a block's type")
    if kind == "text":
        text = place.text(block.get("text"), "a block's text")
        return [Text(text)] if text else []
    if kind == "thinking":
        signature = place.text(block.get("signature"), "a signature")
        return [Reasoning(place.text(block.get("thinking"), "thinking"), len(signature))]
    if kind == "redacted_thinking":
        return [Reasoning("", len(place.text(block.get("data"), "data")))]
    if kind in _CALLS:
        call_id = place.text(block.get("id"), "a call's id")
        name = place.tool_name(block.get("name"), "a tool's name")
        return [ToolCall(call_id, name, place.json(block.get("input") or {}, "a call's input"))]
    if kind.endswith("tool_result"):
        return [_result(place, block)]
    if kind == "compaction":
        return parts_in([block.get("content"), block.get("tool_changes")])
    medium = media_in(block)
    return [medium] if medium is not None else parts_in(block)


def _result(place: Place, block: Mapping[str, Any]) -> ToolResult:
    content = block.get("content")
    failed = isinstance(content, Mapping) and string(content.get("type")).endswith("error")
    if not isinstance(content, str | list | Mapping | None):
        place.fail("a tool result's content to be a string or a list of blocks", content)
    if block["type"] in _RESULTS and isinstance(content, list):
        parts = [p for b in content for p in _parts(place, b)]
    else:
        parts = parts_in(content)
    text, media = said_and_shown(parts)
    text = content if isinstance(content, str) else text
    call_id = place.text(block.get("tool_use_id"), "tool_use_id")
    return ToolResult(call_id, text, is_error=bool(block.get("is_error")) or failed, media=media)


def write(turns: Sequence[Message], sources: Mapping[str, Source]) -> list[Any]:
    """Return new wire messages; results and the user's words after them become one message."""
    out: list[dict[str, Any]] = []
    for turn in turns:
        role = "user" if turn.role == "tool" else turn.role
        blocks = [b for p in turn.parts if (b := _block(p, sources, role)) is not None]
        if out and out[-1]["role"] == role and role != "system":
            out[-1]["content"] += blocks
        elif blocks:
            out.append({"role": role, "content": blocks})
    if out and out[-1]["role"] == "assistant" and "text" in out[-1]["content"][-1]:
        last = out[-1]["content"][-1]  # the final assistant message may not end in white space
        last["text"] = last["text"].rstrip()
    for message in out:
        message["content"] = text_or_blocks(message["content"])
    return list(out)


def _block(part: Part, sources: Mapping[str, Source], role: str) -> Any | None:
    """Return a new block; None for a part that this format cannot hold."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text} if part.text.strip() else None
    if isinstance(part, FileReference):
        return {"type": "text", "text": part.block}
    if isinstance(part, ToolCall):
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": call_input(part.arguments)}
    if isinstance(part, ToolResult):
        return _result_block(part, sources)
    if isinstance(part, Media):
        return (_media(part, sources) if role == "user" else None) or {
            "type": "text",
            "text": placeholder(part),
        }
    return None  # thinking without its own signature is refused


def _result_block(result: ToolResult, sources: Mapping[str, Source]) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call_id, "content": result.text}
    if result.media:
        text = [{"type": "text", "text": result.text}] if result.text.strip() else []
        media = [_media(m, sources) or {"type": "text", "text": placeholder(m)} for m in result.media]
        block["content"] = [*text, *media]
    if result.is_error:
        block["is_error"] = True
    return block


def _media(part: Media, sources: Mapping[str, Source]) -> Any | None:
    source = sources.get(part.digest)
    if source is None or source.file_id or source.kind not in ("image", "document"):
        return None
    if source.url and source.url.startswith(("http://", "https://")):
        return {"type": source.kind, "source": {"type": "url", "url": source.url}}
    mime = source.mime or ("image/png" if source.kind == "image" else "application/pdf")
    if not source.data or mime not in (_IMAGE_MIMES if source.kind == "image" else ("application/pdf",)):
        return None
    return {"type": source.kind, "source": {"type": "base64", "media_type": mime, "data": source.data}}


def patch(value: Any, message: Message) -> Any:
    """Return a copy of a wire message with the content of `message`; everything else in it stays."""
    content, role = value.get("content"), value.get("role")
    if not isinstance(content, list) and all(isinstance(p, Text) for p in message.parts):
        return {**value, "content": message.text}
    place = Place(0)
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    patched = patch_blocks(
        blocks,
        message.parts,
        read=lambda b: _parts(place, b),
        rewrite=_rewrite,
        build=lambda p: _block(p, {}, role),
    )
    return {**value, "content": patched}


def _rewrite(block: Any, part: Part) -> Any:
    """Return a copy of a block with the content of `part`. Thinking is unchanged: its signature would not fit."""
    if isinstance(part, ToolResult):
        return _rewrite_result(block, part)
    if isinstance(part, ToolCall):
        return {**block, "input": call_input(part.arguments)}
    if not isinstance(part, Text):
        return block
    if isinstance(block, str):
        return part.text
    if block.get("type") == "text":
        return {**block, "text": part.text}
    extra = {k: v for k, v in block.items() if k == "cache_control"}
    return {"type": "text", "text": part.text, **extra}


def _rewrite_result(block: Any, part: ToolResult) -> Any:
    """Return a tool result with new text and the images that are still part of it."""
    content = block.get("content")
    if block.get("type") not in _RESULTS:
        return _rewrite_server_result(block, part)
    out = {**block, "content": part.text}
    if isinstance(content, list):
        place = Place(0)
        words = [b for b in content if source_of(b) is None]
        images = [b for b in content if media_in(b) in part.media]
        texts = [b for b in words if isinstance(b, Mapping) and b.get("type") == "text"]
        same = joined_text([p for b in words for p in _parts(place, b)]) == part.text
        new = {**(texts[0] if texts else {"type": "text"}), "text": part.text}
        out["content"] = [*(words if same else [new] if part.text else []), *images]
    if part.is_error != bool(block.get("is_error")):
        out["is_error"] = part.is_error
    return out


def _rewrite_server_result(block: Any, part: ToolResult) -> Any:
    """Return a result of the provider's own tools in its shape, with new text; a list of search results is emptied.

    An encrypted result becomes one that can be read, because nobody else can encrypt the new text.
    """
    content = block.get("content")
    if isinstance(content, list):
        return {**block, "content": []}
    if not isinstance(content, Mapping):
        return block
    kind = string(content.get("type"))
    if kind in _READABLE:
        plain, field, hidden = _READABLE[kind]
        kept = {name: value for name, value in content.items() if name != hidden}
        return {**block, "content": {**kept, "type": plain, field: part.text}}
    document = content.get("content")
    if isinstance(document, Mapping) and isinstance(document.get("source"), Mapping):
        source = {"type": "text", "media_type": "text/plain", "data": part.text}
        return {**block, "content": {**content, "content": {**document, "source": source}}}
    for key in ("stdout", "text", "content"):
        if isinstance(content.get(key), str):
            return {**block, "content": {**content, key: part.text}}
    return block


FORMAT = Format(
    "anthropic", "messages", recognise, read, write, patch, problems_of,
    system=("system",), begins_with_user=True, provider_calls=PROVIDER_CALLS, flat_texts=True,
    has_bound_thoughts=has_bound_thoughts, models=("claude", "sonnet", "opus", "haiku"),
)  # fmt: skip

"""Native compactions of OpenCode 2: the provider's own replacement of the conversation, kept as messages.

`messages_of_window` reads these messages, which are in the form of `packages/ai` (`schema/messages.ts`). The provider's
summary in them is a part of type `compaction`, mostly encrypted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scoring.messages import Media, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from webapp.agents.reading.rows import dumps, list_of, media_from_base64, media_from_url, object_of, text_of

Row = dict[str, Any]

_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_KINDS = frozenset({"text", "reasoning", "compaction", "media", "tool-call", "tool-result"})


def messages_of_window(window: list[Row], name: str) -> Iterator[tuple[str, Message]]:
    """Yield (name, message) of each message that is sent; the first has the name itself."""
    for number, one in enumerate(window, 1):
        parts = tuple(part for content in _contents(one) for part in _parts(content))
        role = _ROLES.get(text_of(one.get("role")))
        if parts and role is not None:
            yield name if number == 1 else f"{name}:{number}", Message(role, parts)


def is_encrypted(window: list[Row]) -> bool:
    """Return whether the provider's summary cannot be read."""
    return any(content.get("encrypted") for content in _compactions(window))


def unread_in_window(window: list[Row]) -> Iterator[str]:
    """Yield the unknown roles and types of parts, and a compaction without content."""
    yield from (f"message of role {one.get('role')}" for one in window if one.get("role") not in _ROLES)
    kinds = (text_of(content.get("type")) for one in window for content in _contents(one))
    yield from (f"part {kind or 'without type'}" for kind in kinds if kind not in _KINDS)
    for content in _compactions(window):
        if not content.get("encrypted") and not content.get("text"):
            yield "part compaction without content"


def _contents(message: Row) -> list[Row]:
    return [object_of(one) for one in list_of(message.get("content"))]


def _compactions(window: list[Row]) -> Iterator[Row]:
    return (content for one in window for content in _contents(one) if content.get("type") == "compaction")


def _parts(content: Row) -> Iterator[Part]:
    kind, text = content.get("type"), text_of(content.get("text"))
    if kind == "text" and text:
        yield Text(text)
    elif kind in ("reasoning", "compaction"):
        sealed = len(text_of(content.get("encrypted")))
        if text or sealed:
            yield Text(text) if kind == "compaction" and text else Reasoning(text, sealed)
    elif kind == "media":
        yield _media(content)
    elif kind == "tool-call":
        name, given = text_of(content.get("name")), content.get("input")
        yield ToolCall(text_of(content.get("id")), name, dumps({} if given is None else given))
    elif kind == "tool-result":
        yield _result(content)


def _media(content: Row) -> Media:
    """Return a file. Before 2.0.15 its data stood in the part itself."""
    source = object_of(object_of(content.get("media")).get("source")) or content
    mime, data = text_of(source.get("mediaType")), text_of(source.get("data"))
    if data and not data.startswith(("data:", "http:", "https:")):
        return media_from_base64(data, mime)
    return media_from_url(text_of(source.get("url")) or data, _kind_of(mime), mime)


def _result(content: Row) -> ToolResult:
    result = object_of(content.get("result"))
    value, media = result.get("value"), tuple[Media, ...]()
    if result.get("type") == "content":
        blocks = [object_of(one) for one in list_of(value)]
        files = [
            (text_of(block.get("uri")), text_of(block.get("mime"))) for block in blocks if block.get("uri")
        ]
        media = tuple(media_from_url(uri, _kind_of(mime), mime) for uri, mime in files)
        value = "\n".join(filter(None, (text_of(block.get("text")) for block in blocks)))
    text = value if isinstance(value, str) else dumps(value)
    call_id, name = text_of(content.get("id")), text_of(content.get("name"))
    return ToolResult(call_id, text, name, result.get("type") == "error", media)


def _kind_of(mime: str) -> str:
    return "image" if mime.startswith("image") else "document"

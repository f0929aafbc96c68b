"""LangChain messages as data: `{"type": "ai", "data": {…}}`, the `lc` constructor shape, and the flat dump.

All three have the same fields: content, name, tool_calls with arguments as an object, tool_call_id, status. Content
blocks are those of the message's provider, or LangChain's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scoring.formats.base import Format
from scoring.formats.blocks import (
    block_parts,
    content_parts,
    has_bound_thoughts,
    joined_text,
    result_content,
    result_parts,
    rewrite_text,
    text_and_media,
    text_or_blocks,
)
from scoring.formats.checks import adjacent_pairs, has_user_message
from scoring.formats.media import Source, placeholder
from scoring.formats.numbering import made_up_id
from scoring.formats.patching import patch_blocks
from scoring.formats.reading import OBJECT, ROLE_NAMES, Place, call_input, surest
from scoring.messages import FileReference, Media, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult

_TYPES = {
    **{kind: kind for kind in ("human", "ai", "system", "tool", "function", "chat", "remove")},
    "developer": "system",
}
# The constructors of the messages that are written new.
_PATH = ("langchain", "schema", "messages")
_CONSTRUCTORS = {
    "human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage", "tool": "ToolMessage",
}  # fmt: skip
_WRITTEN = {"user": "human", "assistant": "ai", "system": "system", "tool": "tool"}
# Blocks that repeat the calls of tool_calls.
_CALL_BLOCKS = ("tool_use", "tool_call", "function_call", "tool_call_chunk")


def recognise(value: Any) -> float:
    """Return the certainty, 0…1, that the list is in this format."""
    items = value.get("messages") if isinstance(value, Mapping) else value
    if not isinstance(items, list | tuple):
        return 0.0
    return surest(map(_certainty, items), 0.98)


def _certainty(item: Any) -> float:
    if not isinstance(item, OBJECT) or "type" not in item or _type(item) is None:
        return 0.0
    if "data" in item or "lc" in item:
        return 0.98
    return 0.9 if "content" in item and "role" not in item else 0.0


def _type(item: Mapping[str, Any]) -> str | None:
    """Return the type (human, ai, …) of a message in any of the three shapes; None if it is unknown."""
    kind, ids = item.get("type"), item.get("id")
    if item.get("lc") and kind == "constructor" and isinstance(ids, list) and ids:
        kind = ids[-1]
    if not isinstance(kind, str):
        return None
    return _TYPES.get(kind.removesuffix("Chunk").removesuffix("Message").lower())


def _fields(place: Place, item: Any) -> Mapping[str, Any]:
    """Return the message's own fields from any of the three shapes."""
    item = place.object(item, "a message")
    if "lc" in item:
        return place.object(item.get("kwargs"), "kwargs")
    return place.object(item["data"], "data") if "data" in item else item


def read(place: Place, item: Any) -> Message:
    """Return one message."""
    fields = _fields(place, item)
    kind = _type(item)
    if kind is None:
        place.fail("type to be one of " + ", ".join(_TYPES), item.get("type"))
    role: Role = "user" if kind == "remove" else ROLE_NAMES.get(kind, "user")
    if kind == "chat":
        role = place.role(fields.get("role"))
    name = place.tool_name(fields.get("name"), "name")
    if role == "tool":
        return Message("tool", (_result(place, fields, name),), wire=place.wire)
    calls = _calls(place, fields)
    return Message(role, (*_said(place, fields.get("content"), bool(calls)), *calls), name, place.wire)


def _said(place: Place, content: Any, with_calls: bool) -> list[Part]:
    """Return the content, without the blocks that repeat the calls."""
    if with_calls and isinstance(content, list):
        content = [b for b in content if not (isinstance(b, Mapping) and b.get("type") in _CALL_BLOCKS)]
    return content_parts(place, content)


def _result(place: Place, fields: Mapping[str, Any], name: str) -> ToolResult:
    text, media = text_and_media(place, fields.get("content"))
    call_id = place.text(fields.get("tool_call_id"), "tool_call_id") or made_up_id(name)
    return ToolResult(call_id, text, name, fields.get("status") == "error", media)


def _calls(place: Place, fields: Mapping[str, Any]) -> list[ToolCall]:
    """Return the calls of a message: its own list with those that could not be parsed, else the provider's."""
    own = place.items(fields.get("tool_calls"), "tool_calls")
    own = own + place.items(fields.get("invalid_tool_calls"), "invalid_tool_calls")
    extra = fields.get("additional_kwargs")
    if own or not isinstance(extra, Mapping):
        return [_call(place, c) for c in own]
    raw = place.items(extra.get("tool_calls"), "tool_calls")
    return [_provider_call(place, c) for c in raw]


def _call(place: Place, call: Any) -> ToolCall:
    call = place.object(call, "a tool call")
    name = place.tool_name(call.get("name"), "a tool's name")
    call_id = place.text(call.get("id"), "a call's id") or made_up_id(name)
    args = call.get("args")
    return ToolCall(call_id, name, "" if args is None else place.json(args, "args"))


def _provider_call(place: Place, call: Any) -> ToolCall:
    call = place.object(call, "a tool call")
    function = place.object(call.get("function"), "function")
    return _call(
        place, {"id": call.get("id"), "name": function.get("name"), "args": function.get("arguments")}
    )


def write(turns: Sequence[Message], sources: Mapping[str, Source]) -> list[Any]:
    """Return new messages in the flat shape that `convert_to_messages` and chat models accept."""
    out: list[Any] = []
    for turn in turns:
        if turn.role == "tool":
            out += [_wire_result(r, sources) for r in turn.results]
            continue
        blocks = [b for p in turn.parts if (b := _block(p, sources)) is not None]
        message: dict[str, Any] = {"type": _WRITTEN[turn.role], "content": text_or_blocks(blocks) or ""}
        if turn.name:
            message["name"] = turn.name
        if turn.calls:
            message["tool_calls"] = [_wire_call(c) for c in turn.calls]
        out.append(message)
    return out


def shaped(item: Any, like: Any) -> Any:
    """Return a new message in the shape of another one: LangChain reads a whole list in one shape only."""
    if "lc" in like:
        name = _CONSTRUCTORS[item["type"]]
        return {"lc": like["lc"], "type": "constructor", "id": [*_PATH, name], "kwargs": item}
    return {"type": item["type"], "data": item} if "data" in like else item


def _wire_call(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "args": call_input(call.arguments), "id": call.id, "type": "tool_call"}


def _wire_result(result: ToolResult, sources: Mapping[str, Source]) -> dict[str, Any]:
    blocks = [b for p in result_parts(result) if (b := _block(p, sources)) is not None]
    message = {"type": "tool", "content": text_or_blocks(blocks) or "", "tool_call_id": result.call_id}
    if result.name:
        message["name"] = result.name
    if result.is_error:
        message["status"] = "error"
    return message


def _block(part: Part, sources: Mapping[str, Source]) -> Any | None:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text} if part.text else None
    if isinstance(part, FileReference):
        return {"type": "text", "text": part.block}
    if isinstance(part, Reasoning):
        return {"type": "reasoning", "reasoning": part.text} if part.text else None
    if not isinstance(part, Media):
        return None
    source = sources.get(part.digest)
    if source is None:
        return {"type": "text", "text": placeholder(part)}
    block = {"type": "file" if source.kind == "document" else source.kind}
    if source.mime:
        block["mime_type"] = source.mime
    found = (("base64", source.data), ("url", source.url), ("file_id", source.file_id))
    return {**block, **{k: v for k, v in found if v}}


def patch(value: Any, message: Message) -> Any:
    """Return a copy of a message with the content of `message`; everything else in it stays."""
    fields = dict(_fields(Place(0), value))
    content = fields.get("content")
    if message.role == "tool":
        result = message.results[0] if message.results else ToolResult("", "")
        fields["content"] = result_content(content, result, lambda p: _block(p, {}))
    else:
        own = [p for p in message.parts if not isinstance(p, ToolCall | ToolResult)]
        fields["content"] = _patched_content(content, own, message)
        if fields.get("tool_calls"):
            fields["tool_calls"] = _patched_calls(fields, message)
    if "lc" in value:
        return {**value, "kwargs": fields}
    return {**value, "data": fields} if "data" in value else fields


def _patched_content(content: Any, own: Sequence[Part], message: Message) -> Any:
    if not isinstance(content, list):
        texts = [p for p in own if isinstance(p, Text)]
        return content if content_parts(Place(0), content) == list(own) else joined_text(texts)
    ids = {c.id for c in message.calls}

    def read_block(block: Any) -> list[Part]:
        if isinstance(block, Mapping) and block.get("type") in _CALL_BLOCKS:
            return [] if block.get("id", block.get("call_id")) in ids else [Text("")]  # follows its call
        return block_parts(block)

    return patch_blocks(content, own, read=read_block, rewrite=rewrite_text, build=lambda p: _block(p, {}))


def _patched_calls(fields: Mapping[str, Any], message: Message) -> Any:
    """Return `tool_calls` with those of the message; calls that could not be parsed stay in their own field."""
    place = Place(0)
    invalid = {
        _call(place, call).id for call in place.items(fields.get("invalid_tool_calls"), "invalid_tool_calls")
    }
    calls = [call for call in message.calls if call.id not in invalid]

    def rewrite(block: Any, call: ToolCall) -> Any:
        return {**block, "args": call_input(call.arguments)}

    return patch_blocks(
        fields["tool_calls"], calls, read=lambda c: [_call(place, c)], rewrite=rewrite, build=_wire_call
    )


def problems_of(items: Sequence[Any], messages: Sequence[Message], ready: bool) -> list[str]:
    """Return the problems for which providers would refuse the list; LangChain's own rule is only the pairing."""
    problems = adjacent_pairs(messages, merged=False, ready=ready) + has_user_message(messages)
    for n, message in enumerate(messages):
        if not message.parts and message.role in ("user", "system"):
            problems.append(f"message {n}: content is empty; expected text or a block")
        for result in message.results:
            if message.role == "tool" and not result.call_id:
                problems.append(f"message {n}: a tool message needs a tool_call_id")
    return problems


FORMAT = Format(
    "langchain", "messages", recognise, read, write, patch, problems_of,
    results="after_message", shaped=shaped, keeps_reasoning=True,
    has_bound_thoughts=lambda value: has_bound_thoughts(_fields(Place(0), value)), tool_names=None,
)  # fmt: skip

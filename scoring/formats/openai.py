"""OpenAI chat completions: roles system, developer, user, assistant, tool (and the older function).

A call is in `tool_calls` of an assistant message, its arguments as JSON text; each result is a message of role tool
directly after it. The format has no reasoning, no errors and no media inside results.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scoring.formats.base import Format
from scoring.formats.blocks import (
    block_parts,
    content_parts,
    joined_text,
    result_content,
    rewrite_text,
    text_and_media,
    text_or_blocks,
)
from scoring.formats.checks import adjacent_pairs, has_user_message
from scoring.formats.media import Source, data_url, placeholder
from scoring.formats.numbering import made_up_id
from scoring.formats.patching import patch_blocks
from scoring.formats.reading import OBJECT, ROLE_NAMES, Place, first_tool, string, surest
from scoring.messages import FileReference, Media, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult

# Providers have two names for the thoughts.
_THOUGHTS = ("reasoning_content", "reasoning")
_OWN_FIELDS = frozenset({"tool_calls", "tool_call_id", "function_call", "refusal", *_THOUGHTS})
_OWN_BLOCKS = ("image_url", "input_audio", "file", "refusal")
_AUDIO_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}
_NAME = re.compile(r"[^\s<|\\/>]{1,64}")


def recognise(value: Any) -> float:
    """Return the certainty, 0…1, that the list is in this format."""
    items = value
    if isinstance(value, Mapping):
        if any(k in value for k in ("max_completion_tokens", "response_format", "stream_options")):
            return 0.9
        if "function" in first_tool(value):
            return 0.9
        items = value.get("messages")
    if not isinstance(items, list | tuple):
        return 0.0
    return surest(map(_certainty, items), 0.95) if items else 0.1


def _certainty(item: Any) -> float:
    if not isinstance(item, OBJECT) or "type" in item or "parts" in item:
        return 0.0
    if string(item.get("role")) not in ROLE_NAMES:
        return 0.0
    content, own = item.get("content"), _OWN_FIELDS.intersection(item)
    if item["role"] in ("tool", "function") or (own and any(item[k] is not None for k in own)):
        return 0.95
    if isinstance(content, list) and any(
        isinstance(b, Mapping) and b.get("type") in _OWN_BLOCKS for b in content
    ):
        return 0.9
    return 0.6 if item["role"] in ("system", "developer") else 0.5


def flat_text(item: Any) -> tuple[Role, str] | None:
    """Return the role and the text of an object with only these two fields; None for any other object."""
    if type(item) is dict and len(item) == 2 and type(text := item.get("content")) is str:
        name = item.get("role")
        role = ROLE_NAMES.get(name) if type(name) is str else None
        if role is not None and role != "tool":
            return role, text
    return None


def read(place: Place, item: Any) -> Message:
    """Return one message."""
    if (flat := flat_text(item)) is not None:  # the most common case
        return Message(flat[0], (Text(flat[1]),) if flat[1] else (), "", place.wire)
    item = place.object(item, "a message")
    role, content = place.role(item.get("role")), item.get("content")
    name = place.tool_name(item.get("name"), "name")
    if role == "tool":
        name = name or place.tool_name(item.get("tool_name"), "tool_name")  # Ollama's field
        text, media = text_and_media(place, content)
        call_id = place.text(item.get("tool_call_id"), "tool_call_id") or made_up_id(name)
        return Message("tool", (ToolResult(call_id, text, name, False, media),), "", place.wire)
    parts = content_parts(place, content)
    thought = next((item[name] for name in _THOUGHTS if item.get(name)), None)
    if isinstance(thought, str):
        parts.insert(0, Reasoning(thought))
    if item.get("refusal"):
        parts.append(Text(place.text(item["refusal"], "refusal")))
    parts += _spoken(place, item.get("audio"))
    if item.get("tool_calls") is not None:
        for call in place.items(item["tool_calls"], "tool_calls"):
            parts.append(_call(place, call))
    if item.get("function_call") is not None:
        parts.append(_function(place, "", item["function_call"]))
    return Message(role, tuple(parts), name, place.wire)


def _spoken(place: Place, audio: Any) -> list[Part]:
    """Return the parts of a spoken answer: its transcript, which a client that sends the answer back leaves out."""
    if not isinstance(audio, Mapping):
        return []
    transcript = place.text(audio.get("transcript"), "a transcript")
    return [*([Text(transcript)] if transcript else []), Media("audio")]


def _call(place: Place, call: Any) -> ToolCall:
    call = place.object(call, "a tool call")
    call_id = place.text(call.get("id"), "a tool call's id")
    if call.get("custom") is not None:
        custom = place.object(call["custom"], "custom")
        name = place.tool_name(custom.get("name"), "name")
        return ToolCall(call_id or made_up_id(name), name, place.text(custom.get("input"), "input"))
    return _function(place, call_id, call.get("function"))


def _function(place: Place, call_id: str, function: Any) -> ToolCall:
    function = place.object(function, "a tool call's function")
    name = place.tool_name(function.get("name"), "a function's name")
    arguments = function.get("arguments")
    text = "" if arguments is None else place.json(arguments, "arguments")
    return ToolCall(call_id or made_up_id(name), name, text)


def write(turns: Sequence[Message], sources: Mapping[str, Source]) -> list[Any]:
    """Return new wire messages."""
    out: list[Any] = []
    for turn in turns:
        if turn.role == "tool":
            out += [_result(r) for r in turn.results]
            continue
        blocks = [b for p in turn.parts if (b := _block(p, sources, turn.role)) is not None]
        message: dict[str, Any] = {"role": turn.role, "content": text_or_blocks(blocks) or None}
        if turn.name and _NAME.fullmatch(turn.name):
            message["name"] = turn.name
        if turn.calls:
            message["tool_calls"] = [_wire_call(c) for c in turn.calls]
        out.append(message)
    return out


def _result(result: ToolResult) -> dict[str, Any]:
    lines = [result.text, *map(placeholder, result.media)]
    return {"role": "tool", "tool_call_id": result.call_id, "content": "\n".join(x for x in lines if x)}


def _wire_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    return {"id": call.id, "type": "function", "function": function}


def _block(part: Part, sources: Mapping[str, Source], role: str) -> Any | None:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text} if part.text else None
    if isinstance(part, FileReference):
        return {"type": "text", "text": part.block}
    if not isinstance(part, Media):
        return None
    source = sources.get(part.digest)
    if source is not None and role == "user":
        if source.kind == "image" and not source.file_id:
            detail = {"detail": source.detail} if source.detail else {}
            return {"type": "image_url", "image_url": {"url": data_url(source), **detail}}
        if source.data and source.mime in _AUDIO_FORMATS:
            audio = {"data": source.data, "format": _AUDIO_FORMATS[source.mime]}
            return {"type": "input_audio", "input_audio": audio}
        if source.kind == "document" and source.data:
            file = {"filename": source.name or "document", "file_data": data_url(source)}
            return {"type": "file", "file": file}
    return {"type": "text", "text": placeholder(part)}


def patch(value: Any, message: Message) -> Any:
    """Return a copy of a wire message with the content of `message`; everything else in it stays."""
    out = dict(value)
    if message.role == "tool":
        result = message.results[0] if message.results else ToolResult("", "")
        out["content"] = result_content(value.get("content"), result, lambda p: _block(p, {}, "tool"))
        return out
    own = [p for p in message.parts if not isinstance(p, ToolCall | ToolResult | Reasoning)]
    if spoken := _spoken(Place(0), value.get("audio")):
        if own[-len(spoken) :] == spoken:
            del own[-len(spoken) :]
        else:
            del out["audio"]
    refusal = value.get("refusal")
    if refusal and own and own[-1] == Text(refusal):
        own.pop()
    elif refusal:
        out["refusal"] = None
    content = value.get("content")
    if isinstance(content, list):
        out["content"] = patch_blocks(
            content, own, read=block_parts, rewrite=rewrite_text, build=lambda p: _block(p, {}, message.role)
        )
    elif content_parts(Place(0), content) != own:
        out["content"] = joined_text(own) or ("" if isinstance(content, str) else None)
    thoughts = "\n".join(p.text for p in message.reasoning)
    said = [name for name in _THOUGHTS if value.get(name) and isinstance(value[name], str)]
    if said and value[said[0]] != thoughts:
        out |= dict.fromkeys(said, thoughts)
    _patch_calls(out, value, message.calls)
    return out


def _patch_calls(out: dict[str, Any], value: Any, calls: Sequence[ToolCall]) -> None:
    """Replace changed calls and remove missing ones, in both places where a message may have calls."""
    place = Place(0)
    if value.get("function_call") is not None and not calls:
        del out["function_call"]
    old = value.get("tool_calls")
    if not isinstance(old, list):
        if calls and value.get("function_call") is None:
            out["tool_calls"] = [_wire_call(c) for c in calls]
        return
    now = patch_blocks(old, calls, read=lambda c: [_call(place, c)], rewrite=_rewrite_call, build=_wire_call)
    if now:
        out["tool_calls"] = now
    else:
        del out["tool_calls"]


def _rewrite_call(block: Any, call: ToolCall) -> Any:
    if block.get("custom") is not None:
        return {**block, "custom": {**block["custom"], "input": call.arguments}}
    return {**block, "function": {**block["function"], "arguments": call.arguments}}


def problems_of(items: Sequence[Any], messages: Sequence[Message], ready: bool) -> list[str]:
    """Return the problems for which the API would refuse the list."""
    problems = adjacent_pairs(messages, merged=False, ready=ready) + has_user_message(messages)
    for n, item in enumerate(items):
        problems += [f"message {n}: {p}" for p in _item_problems(item)] if isinstance(item, Mapping) else []
    return problems


def _item_problems(item: Mapping[str, Any]) -> list[str]:
    role, content = item.get("role"), item.get("content")
    out: list[str] = []
    if item.get("tool_calls") == []:
        out.append("tool_calls is empty; expected at least one call, or no such field")
    if content == []:
        out.append("content is an empty list; expected at least one block, or a string")
    silent = ("tool_calls", "function_call", "refusal", "audio")
    if (
        content is None
        and role != "function"
        and not (role == "assistant" and any(item.get(k) for k in silent))
    ):
        out.append(f"content is null; a {role} message needs content")
    if role == "tool" and not item.get("tool_call_id"):
        out.append("a tool message needs a tool_call_id")
    calls = item.get("tool_calls")
    out += [
        f"{c.get('type', 'function')} call without an id"
        for c in (calls if isinstance(calls, list) else ())
        if isinstance(c, Mapping) and not c.get("id")
    ]
    return out


FORMAT = Format(
    "openai", "messages", recognise, read, write, patch, problems_of, results="after_message", flat_texts=True
)

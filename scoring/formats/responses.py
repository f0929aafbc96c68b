"""OpenAI responses: a flat list of items; messages, reasoning, calls and their outputs are separate items.

Calls and outputs are tied by `call_id`; an output may come anywhere after its call. A reasoning item has to be
followed by the item it led to. Calls that the provider runs itself have call and result in one item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from scoring.formats.base import Format
from scoring.formats.blocks import (
    block_parts,
    content_parts,
    joined_text,
    result_content,
    result_parts,
    rewrite_text,
    said_and_shown,
    text_and_media,
)
from scoring.formats.checks import free_pairs, has_user_message
from scoring.formats.contents import parts_in
from scoring.formats.media import Source, data_url, media_in, placeholder
from scoring.formats.numbering import made_up_id
from scoring.formats.patching import patch_blocks
from scoring.formats.reading import OBJECT, ROLE_NAMES, Place, string, surest, words_in
from scoring.messages import (
    REMINDER,
    FileReference,
    Media,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

# Items that the provider answers itself -> the field of each that holds the result.
_SERVER_CALLS = {
    "web_search_call": "results",
    "file_search_call": "results",
    "code_interpreter_call": "outputs",
    "image_generation_call": "result",
    "mcp_call": "output",
}
_ARGUMENTS = ("arguments", "input", "revised_prompt", "action", "actions", "operation", "queries", "code")
_OUTPUTS = ("output", "result", "outputs", "results", "tools")
_PAIRED = ("function_call", "custom_tool_call", "custom_tool_call_output")
# Requests of a client to the API: they are sent at their place, and the model reads nothing of them.
_SETTINGS = ("configuration_update", "compaction_trigger")
_TYPES = (
    *_SETTINGS,
    "reasoning",
    "item_reference",
    "compaction",
    "mcp_list_tools",
    "program",
    "additional_tools",
    "agent_message",
)
# A question whether a tool may run, and its answer, are tied like a call and its result.
_APPROVAL, _APPROVED = "mcp_approval_request", "mcp_approval_response"
_ALLOWED, _DENIED = "approved", "denied"
# Calls that have no id if the provider answers them itself: then the order ties them to their outputs.
_WITHOUT_ID = ("tool_search_call", "tool_search_output")
# The provider's own result of its `program`, which makes calls while it runs: no call waits for it.
_PROGRAM_OUTPUT = "program_output"
_PROGRAM = {"program": "code", _PROGRAM_OUTPUT: "result"}  # the field of the text
# Codex answers this call with the output of a function, and the API takes that too.
_ANSWERED_AS_FUNCTION = ("local_shell_call",)
# A transparent pixel in place of a screenshot that was not recorded.
_NO_SCREENSHOT = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
_ENDINGS = ("_call", "_output", "_approval_request", "_approval_response")


def recognise(value: Any) -> float:
    """Return the certainty, 0…1, that the list is in this format."""
    if isinstance(value, Mapping):
        if "input" not in value or "messages" in value or "contents" in value:
            return 0.0
        return 0.95 if isinstance(value["input"], str | list) else 0.0
    if not isinstance(value, list | tuple):
        return 0.0
    return surest(map(_certainty, value), 0.98)


def _certainty(item: Any) -> float:
    if not isinstance(item, OBJECT) or "data" in item or "parts" in item:
        return 0.0
    kind = item.get("type")
    if isinstance(kind, str) and (kind in _TYPES or kind.endswith(_ENDINGS)):
        return 0.98
    if item.get("role") not in ("user", "assistant", "system", "developer"):
        return 0.0
    content = item.get("content")
    types = [b.get("type") for b in content if isinstance(b, Mapping)] if isinstance(content, list) else ()
    if types and any(map(_is_own_block, types)):
        return 0.97
    if kind == "message" and "content" in item:  # an answer of Anthropic's API has this type too
        return 0.2 if "stop_reason" in item or "text" in types else 0.9
    return 0.3 if kind is None else 0.0


def could_be(items: Sequence[Any]) -> bool:
    """Return whether a list can be one of items, also of types that are not known here: the API often gets new ones."""
    return all(isinstance(one, Mapping) and isinstance(one.get("type"), str) for one in items)


def _is_own_block(kind: Any) -> bool:
    """Return whether only this format has a block of such a type."""
    return isinstance(kind, str) and kind.startswith(("input_", "output_")) and kind != "input_audio"


def read(place: Place, item: Any) -> Message:
    """Return one item as one message."""
    item = place.object(item, "an item")
    kind = place.text(item.get("type"), "an item's type") or (
        "message" if "role" in item else "item_reference"
    )
    if kind == "message":
        role = place.role(item.get("role"))
        return Message(role, tuple(content_parts(place, item.get("content"))), wire=place.wire)
    if kind in _SETTINGS:
        return Message("system", (), wire=place.wire)
    if kind == "item_reference":  # it can be to reasoning
        return Message("assistant", (Reasoning(""),), wire=place.wire)
    if kind == "reasoning" or kind.startswith(("compaction", "context_compaction")):
        return Message("assistant", (_reasoning(place, item),), wire=place.wire)
    if kind == "function_call_output" and not item.get("call_id"):  # it answers no call
        said = content_parts(place, item.get("output"))
        return Message("user", tuple(said), REMINDER, place.wire)
    if (kind.endswith("_output") and kind != _PROGRAM_OUTPUT) or kind == _APPROVED:
        return Message("tool", (_output(place, kind, item),), wire=place.wire)
    if kind.endswith("_call") or kind == _APPROVAL:
        return Message("assistant", _call(place, kind, item), wire=place.wire)
    role = ROLE_NAMES.get(string(item.get("role")), "assistant")
    said = parts_in({name: value for name, value in item.items() if name != "role"})
    return Message(role, tuple(said), wire=place.wire)


def _reasoning(place: Place, item: Mapping[str, Any]) -> Reasoning:
    texts = [*place.items(item.get("summary"), "summary"), *place.items(item.get("content"), "content")]
    cipher = place.text(item.get("encrypted_content"), "encrypted_content")
    return Reasoning("\n".join(filter(None, map(words_in, texts))), len(cipher))


def _call_id(place: Place, item: Mapping[str, Any], name: str) -> str:
    own = None if item.get("type") in _WITHOUT_ID else item.get("id")
    found = item.get("approval_request_id") if item.get("type") == _APPROVED else item.get("call_id") or own
    return place.text(found, "call_id") or made_up_id(name)


def _call(place: Place, kind: str, item: Mapping[str, Any]) -> tuple[Part, ...]:
    name = place.tool_name(item.get("name"), "name") or kind.removesuffix("_call")
    call_id = _call_id(place, item, name)
    found = next((item[k] for k in _ARGUMENTS if item.get(k) is not None), "")
    call = ToolCall(call_id, name, place.json(found, "a call's arguments"))
    if kind not in _SERVER_CALLS:
        return (call,)
    failed = bool(item.get("error")) or item.get("status") == "failed"
    medium = media_in(item)
    found = [item.get("error")] if medium is not None else [item.get(_SERVER_CALLS[kind]), item.get("error")]
    text, media = said_and_shown(parts_in(found))
    return call, ToolResult(call_id, text, name, failed, media if medium is None else (medium,))


def _output(place: Place, kind: str, item: Mapping[str, Any]) -> ToolResult:
    name = place.tool_name(item.get("name"), "name")
    call_id = _call_id(place, item, name or kind.removesuffix("_call_output").removesuffix("_output"))
    if kind == _APPROVED:
        said = _ALLOWED if item.get("approve") else _DENIED
        reason = place.text(item.get("reason"), "a reason")
        return ToolResult(call_id, f"{said}: {reason}" if reason else said)
    output = next((item[k] for k in _OUTPUTS if item.get(k) is not None), None)
    failed = item.get("status") in ("failed", "incomplete")
    if isinstance(output, list) and kind in ("function_call_output", "custom_tool_call_output"):
        text, media = text_and_media(place, output)
        return ToolResult(call_id, text, name, failed, media)
    if output is not None and not isinstance(output, str | list | Mapping):
        place.fail("an output to be a string, a list or an object", output)
    text, media = (output, ()) if isinstance(output, str) else said_and_shown(parts_in(output))
    return ToolResult(call_id, text, name, failed, media)


def write(turns: Sequence[Message], sources: Mapping[str, Source]) -> list[Any]:
    """Return new items."""
    out: list[Any] = []
    for turn in turns:
        blocks = [b for p in turn.parts if (b := _block(p, sources, turn.role)) is not None]
        if len(blocks) == 1 and "text" in blocks[0]:
            out.append({"type": "message", "role": turn.role, "content": blocks[0]["text"]})
        elif blocks and turn.role == "assistant":
            # A list of output blocks would need the id of an answer.
            texts = "\n".join(b["text"] for b in blocks)
            out.append({"type": "message", "role": turn.role, "content": texts})
        elif blocks:
            out.append({"type": "message", "role": turn.role, "content": blocks})
        out += [_wire_call(c) for c in turn.calls]
        out += [_wire_output(r, sources) for r in turn.results]
    return out


def _wire_call(call: ToolCall) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments or "{}",
    }


def _wire_output(result: ToolResult, sources: Mapping[str, Source]) -> dict[str, Any]:
    output: Any = result.text
    if result.media:
        output = [b for p in result_parts(result) if (b := _block(p, sources, "user")) is not None]
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}


def _block(part: Part, sources: Mapping[str, Source], role: str) -> Any | None:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text} if part.text else None
    if isinstance(part, FileReference):
        return {"type": "input_text", "text": part.block}
    if not isinstance(part, Media):
        return None
    source = sources.get(part.digest)
    if source is not None and role == "user" and not source.file_id:
        if source.kind == "image":
            return {"type": "input_image", "image_url": data_url(source), "detail": source.detail or "auto"}
        if source.kind == "document" and source.data:
            return {
                "type": "input_file",
                "filename": source.name or "document",
                "file_data": data_url(source),
            }
        if source.kind == "document" and source.url:
            return {"type": "input_file", "file_url": source.url}
    return {"type": "input_text", "text": placeholder(part)}


def matched(item: Any, call: Any, is_new: bool) -> Any:
    """Return an output with the type that its call requires; the same object if it has it.

    One that `is_new` gets the call's own type where the API takes several.
    """
    wanted, kind = _output_type(call), item.get("type")
    is_accepted = kind == "function_call_output" and call.get("type") in _ANSWERED_AS_FUNCTION
    if wanted is None or kind == wanted or (is_accepted and not is_new):
        return item
    result = _output(Place(0), string(kind), item)
    made = {"type": wanted}
    if wanted != _APPROVED:
        made["call_id"] = (
            call.get("call_id") if kind in _WITHOUT_ID else call.get("call_id") or call.get("id")
        )
    return {**made, **_OUTPUT_FIELDS.get(wanted, _text_field)(result)}


def _output_type(call: Any) -> str | None:
    """Return the type of the output that a call requires; None if it is no call or the provider answers it."""
    kind = call.get("type") if isinstance(call, Mapping) else None
    if kind == _APPROVAL:
        return _APPROVED
    if not isinstance(kind, str) or not kind.endswith("_call") or kind in _SERVER_CALLS:
        return None
    return "tool_search_output" if kind == "tool_search_call" else f"{kind}_output"


def _text_field(result: ToolResult) -> dict[str, Any]:
    return {"output": result.text}


# Type of an output -> its fields for a result of which only the text is known.
_OUTPUT_FIELDS: Mapping[str, Callable[[ToolResult], dict[str, Any]]] = {
    "shell_call_output": lambda result: {
        "output": [{"stdout": result.text, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
    },
    "local_shell_call_output": lambda result: {"id": result.call_id, "output": result.text},
    "apply_patch_call_output": lambda result: {"status": "failed", "output": result.text},
    "computer_call_output": lambda _: {
        "output": {"type": "computer_screenshot", "image_url": _NO_SCREENSHOT}
    },
    _APPROVED: lambda result: {
        "approval_request_id": result.call_id,
        "approve": False,
        "reason": result.text,
    },
    "tool_search_output": lambda _: {"execution": "client", "status": "completed", "tools": []},
}


def patch(value: Any, message: Message) -> Any:
    """Return a copy of an item with the content of `message`; everything else in it stays."""
    kind = value.get("type") or "message"
    if kind == "message":
        return {**value, "content": _patched_content(value.get("content"), message)}
    if (kind.endswith("_output") or kind == _APPROVED) and message.results:
        return _patched_output(value, message.results[0])
    if kind == "function_call_output":
        return {**value, "output": _patched_content(value.get("output"), message)}
    out = dict(value)
    if kind in _PROGRAM and message.role == "assistant":
        return {**out, _PROGRAM[kind]: joined_text(message.parts)}
    key = next((k for k in _ARGUMENTS if isinstance(value.get(k), str)), None)
    if key is not None and message.calls:
        out[key] = message.calls[0].arguments
    if kind in _SERVER_CALLS and message.results and message.results != read(Place(0), value).results:
        _patch_server_result(out, kind, message.results[0].text)
    return out


def _patch_server_result(out: dict[str, Any], kind: str, text: str) -> None:
    """Write the result of a built-in tool in the shape of its item; a generated image has no text to change."""
    if kind == "code_interpreter_call":
        out["outputs"] = [{"type": "logs", "logs": text}]
    elif kind == "file_search_call":
        out["results"] = [{"text": text}]
    elif isinstance(out.get(_SERVER_CALLS[kind]), str) and kind != "image_generation_call":
        out[_SERVER_CALLS[kind]] = text


def _patched_content(content: Any, message: Message) -> Any:
    if not isinstance(content, list):
        return joined_text(message.parts)
    kind = "output_text" if message.role == "assistant" else "input_text"

    def build(part: Part) -> Any | None:
        block = _block(part, {}, message.role)
        return None if block is None else {**block, "type": kind}

    return patch_blocks(content, message.parts, read=block_parts, rewrite=rewrite_text, build=build)


def _patched_output(value: Any, result: ToolResult) -> Any:
    if value["type"] == _APPROVED:
        return {**value, "reason": result.text}
    key = next((k for k in _OUTPUTS if value.get(k) is not None), "output")
    output = value.get(key)
    if value["type"] == "shell_call_output":  # chunks of stdout and stderr with their outcome
        first = (
            output[0]
            if isinstance(output, list) and output
            else {"outcome": {"type": "exit", "exit_code": 0}}
        )
        return {**value, key: [{**first, "stdout": result.text, "stderr": ""}]}
    if isinstance(output, list) and value["type"] in ("function_call_output", "custom_tool_call_output"):
        return {**value, key: result_content(output, result, lambda p: _block(p, {}, "user"))}
    return {**value, key: result.text}


def problems_of(items: Sequence[Any], messages: Sequence[Message], ready: bool) -> list[str]:
    """Return the problems for which the API would refuse the list."""
    problems = free_pairs(messages, ready) + has_user_message(messages)
    problems += _reasoning_followed(items, messages)
    problems += _other_types(items, messages)
    for n, item in enumerate(items):
        problems += [f"message {n}: {p}" for p in _item(item)] if isinstance(item, Mapping) else []
    return problems


def _other_types(items: Sequence[Any], messages: Sequence[Message]) -> Iterator[str]:
    """Yield a problem for each output whose type is not the one that its call requires."""
    calls: dict[str, Any] = {}
    for n, (item, message) in enumerate(zip(items, messages, strict=True)):
        calls |= {call.id: item for call in message.calls}
        found = calls.get(message.results[0].call_id) if message.role == "tool" and message.results else None
        if found is not None and isinstance(item, Mapping) and matched(item, found, False) is not item:
            kind, wanted = item.get("type"), _output_type(found)
            yield f"message {n}: a {kind} for a {found['type']}; expected a {wanted}"


def needs_next(item: Any) -> bool:
    """Return whether an item is reasoning, which the API refuses without the item that followed it."""
    return isinstance(item, Mapping) and item.get("type") == "reasoning"


def _reasoning_followed(items: Sequence[Any], messages: Sequence[Message]) -> Iterator[str]:
    for n, item in enumerate(items):
        if needs_next(item) and (n + 1 == len(items) or messages[n + 1].role != "assistant"):
            yield f"message {n}: a reasoning item without its following item"


def _item(item: Mapping[str, Any]) -> Iterator[str]:
    kind = item.get("type") or ("message" if "role" in item else "item_reference")
    if kind == "message" and item.get("role") in ("tool", "function"):
        yield "a result is a message; expected a function_call_output item"
    if kind == "message" and not item.get("content") and item.get("role") != "assistant":
        yield "content is empty; expected text or at least one block"
    if kind in _PAIRED and not item.get("call_id"):
        yield f"a {kind} item needs a call_id"
    if kind == "function_call" and not isinstance(item.get("arguments"), str):
        yield "a function_call's arguments are not JSON text"


FORMAT = Format(
    "responses", "input", recognise, read, write, patch, problems_of,
    system=("instructions",), results="anywhere", needs_next=needs_next, flat_texts=True,
    could_be=could_be, matched=matched,
)  # fmt: skip

"""Gemini contents: roles user and model with parts; the system instruction is beside the list.

Calls and responses are tied by id where there is one, else by name and order. All responses to one turn's calls
are in one content right after it. A `thoughtSignature` stays with its part and is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scoring.formats.base import Format, Joining
from scoring.formats.contents import parts_in
from scoring.formats.gemini_rules import either, problems_of
from scoring.formats.media import Source, media_in, placeholder
from scoring.formats.numbering import is_made_up, made_up_id
from scoring.formats.patching import patch_blocks
from scoring.formats.reading import OBJECT, Place, call_input
from scoring.messages import FileReference, Media, Message, Part, Reasoning, Text, ToolCall, ToolResult

# A response with only one of these fields has its text there; "error" means that the call failed.
_RESPONSE_FIELDS = ("output", "result", "content", "error")
_FAILED = ("OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED")
# Spellings of the field of a part with a call or a result -> its field with the arguments or the text.
_CALLS = {
    ("functionCall", "function_call"): "args",
    ("toolCall", "tool_call"): "args",  # of a tool that the provider runs
    ("executableCode", "executable_code"): "code",
}
_RESULTS = {
    ("functionResponse", "function_response"): "response",
    ("toolResponse", "tool_response"): "response",
    ("codeExecutionResult", "code_execution_result"): "output",
}
# Endings of the fields that say something about a part, which is no content.
_ABOUT = ("signature", "metadata", "resolution", "processing")


def recognise(value: Any) -> float:
    """Return the certainty, 0…1, that the list is in this format."""
    if isinstance(value, Mapping):
        return 1.0 if "contents" in value else 0.0
    if not isinstance(value, list | tuple):
        return 0.0
    return 0.97 if any(isinstance(item, OBJECT) and "parts" in item for item in value) else 0.0


def read(place: Place, item: Any) -> Message:
    """Return one content as a message; a user content with only responses has role tool."""
    item = place.object(item, "a content")
    role = place.role(item.get("role") or "user")
    inner = item.get("parts")
    if isinstance(inner, Mapping):
        inner = [inner]
    parts = tuple(p for part in place.items(inner, "parts") for p in _parts(place, part))
    said = [p for p in parts if not isinstance(p, Reasoning)]
    if role in ("user", "tool"):
        role = "tool" if said and all(isinstance(p, ToolResult) for p in said) else "user"
    return Message(role, parts, wire=place.wire)


def _parts(place: Place, part: Any) -> list[Part]:
    """Return the content of one wire part, followed by its signature if it has one."""
    if isinstance(part, str):
        return [Text(part)] if part else []
    part = place.object(part, "a part")
    signature = either(part, "thoughtSignature", "thought_signature")
    opaque = len(signature) if isinstance(signature, str) else 0
    main = _main(place, part)
    if part.get("thought") is True and all(isinstance(one, Text) for one in main):
        return [Reasoning(place.text(part.get("text"), "a part's text"), opaque)]
    return [*main, *([Reasoning("", opaque)] if opaque else [])]


def _main(place: Place, part: Mapping[str, Any]) -> list[Part]:
    if part.get("text") is not None:
        text = place.text(part["text"], "a part's text")
        return [Text(text)] if text else []
    if (found := _field(part, _CALLS)) is not None:
        return [_call(place, found[0], place.object(part[found[0]], found[0]), found[1])]
    if (found := _field(part, _RESULTS)) is not None:
        return [_result(place, found[0], place.object(part[found[0]], found[0]), found[1])]
    medium = media_in(part)
    if medium is not None:
        return [medium]
    spoken = either(part, "audioTranscription", "audio_transcription")
    if isinstance(spoken, Mapping):  # the rest is when each word was said
        return parts_in(place.text(spoken.get("text"), "a transcription"))
    return parts_in({name: value for name, value in part.items() if not name.lower().endswith(_ABOUT)})


def _field(part: Mapping[str, Any], table: Mapping[tuple[str, str], str]) -> tuple[str, str] | None:
    """Return the name, as the part spells it, of a field in the table, with the name of the field in it."""
    # A part that an SDK has dumped has the other fields with null.
    return next(
        ((name, inner) for names, inner in table.items() for name in names if part.get(name) is not None),
        None,
    )


def _tool_name(place: Place, field: str, value: Mapping[str, Any]) -> str:
    if field.startswith(("executable", "code")):
        return "code_execution"
    return place.tool_name(value.get("name") or either(value, "toolType", "tool_type"), "a tool's name")


def _call(place: Place, field: str, value: Mapping[str, Any], inner: str) -> ToolCall:
    name = _tool_name(place, field, value)
    call_id = place.text(value.get("id"), "a call's id") or made_up_id(name)
    said = value.get(inner)
    return ToolCall(
        call_id,
        name,
        place.text(said, inner) if inner == "code" else place.json(said or {}, inner),
    )


def _result(place: Place, field: str, value: Mapping[str, Any], inner: str) -> ToolResult:
    name = _tool_name(place, field, value)
    call_id = place.text(value.get("id"), "a response's id") or made_up_id(name)
    body = value.get(inner)
    if inner == "output":
        return ToolResult(call_id, place.text(body, inner), name, value.get("outcome") in _FAILED)
    media = tuple(m for p in place.items(value.get("parts"), "parts") if (m := media_in(p)) is not None)
    key = _text_field(body)
    if key is not None and body is not None:
        return ToolResult(call_id, body[key], name, key == "error", media)
    return ToolResult(call_id, "" if not body else place.json(body, "a response"), name, media=media)


def _text_field(body: Any) -> str | None:
    """Return the only field of a response if it holds its text; None if there are more fields, or no text."""
    if isinstance(body, Mapping) and len(body) == 1:
        key = next(iter(body))
        if key in _RESPONSE_FIELDS and isinstance(body[key], str):
            return str(key)
    return None


def write(turns: Sequence[Message], sources: Mapping[str, Source]) -> list[Any]:
    """Return new contents with alternating speakers."""
    out: list[dict[str, Any]] = []
    for turn in turns:
        role = {"assistant": "model", "system": "system"}.get(turn.role, "user")
        parts = [b for p in turn.parts if (b := _block(p, sources)) is not None]
        if out and out[-1]["role"] == role and role != "system":
            out[-1]["parts"] += parts
        elif parts:
            out.append({"role": role, "parts": parts})
    return list(out)


def _block(part: Part, sources: Mapping[str, Source]) -> Any | None:
    """Return a new wire part; None for a part that this format cannot hold."""
    if isinstance(part, Text):
        return {"text": part.text} if part.text else None
    if isinstance(part, FileReference):
        return {"text": part.block}
    if isinstance(part, ToolCall):
        return {"functionCall": {**_id(part.id), "name": part.name, "args": call_input(part.arguments)}}
    if isinstance(part, ToolResult):
        response: dict[str, Any] = {**_id(part.call_id), "name": part.name or "unknown"}
        key = "error" if part.is_error else "output"
        response["response"] = {key: part.text}
        media = [_media(m, sources) or {"text": placeholder(m)} for m in part.media]
        lost = [m["text"] for m in media if "text" in m]
        if lost:
            response["response"] = {key: "\n".join(x for x in (part.text, *lost) if x)}
        if len(lost) < len(media):
            response["parts"] = [m for m in media if "text" not in m]
        return {"functionResponse": response}
    if isinstance(part, Media):
        return _media(part, sources) or {"text": placeholder(part)}
    return None  # the provider cannot use a thought without its own signature


def _id(call_id: str) -> dict[str, str]:
    return {} if is_made_up(call_id) else {"id": call_id}


def _media(part: Media, sources: Mapping[str, Source]) -> Any | None:
    source = sources.get(part.digest)
    if source is None or source.file_id:
        return None
    mime = source.mime or {"image": "image/png", "document": "application/pdf"}.get(source.kind, "")
    if source.data:
        return {"inlineData": {"mimeType": mime or "application/octet-stream", "data": source.data}}
    return {"fileData": {"mimeType": mime, "fileUri": source.url}} if source.url else None


def patch(value: Any, message: Message) -> Any:
    """Return a copy of a content with the parts of `message`; everything else in it stays."""
    place, inner = Place(0), value.get("parts")
    parts = [inner] if isinstance(inner, Mapping) else inner or []
    patched = patch_blocks(
        parts, message.parts, read=lambda b: _parts(place, b), rewrite=_rewrite, build=lambda p: _block(p, {})
    )
    return {**value, "parts": patched}


def _rewrite(block: Any, part: Part) -> Any:
    if isinstance(block, str):
        return part.text if isinstance(part, Text) else block
    if isinstance(part, Text):
        return {**block, "text": part.text} if "text" in block else {"text": part.text}
    if isinstance(part, ToolCall) and (found := _field(block, _CALLS)) is not None:
        said = part.arguments if found[1] == "code" else call_input(part.arguments)
        return {**block, found[0]: {**block[found[0]], found[1]: said}}
    if isinstance(part, ToolResult) and (found := _field(block, _RESULTS)) is not None:
        return {**block, found[0]: _rewrite_result(block[found[0]], part, *found)}
    return block


def _rewrite_result(old: Mapping[str, Any], part: ToolResult, field: str, inner: str) -> Any:
    if inner == "output":
        return {**old, inner: part.text}
    out = dict(old)
    key = "error" if part.is_error else _text_field(out.get(inner))
    if _result(Place(0), field, out, inner).text != part.text or part.is_error:
        out[inner] = {key if key and (key != "error" or part.is_error) else "output": part.text}
    if out.get("parts"):
        out["parts"] = [p for p in out["parts"] if media_in(p) in (None, *part.media)]
    return out


def with_system(prompt: Any, texts: Sequence[str]) -> Any:
    """Return a system instruction with texts added."""
    inner = prompt.get("parts") if isinstance(prompt, Mapping) else prompt
    parts = [] if inner is None else inner if isinstance(inner, list) else [inner]
    old = [{"text": one} if isinstance(one, str) else one for one in parts]
    return {"parts": [*old, *({"text": t} for t in texts)]}


def listed(value: Any) -> Any:
    """Return the list of a body that has a single string or content instead of it."""
    if isinstance(value, str):
        return [{"role": "user", "parts": [{"text": value}]}]
    return [value] if isinstance(value, Mapping) else value


def fits(first: Any, second: Any) -> bool:
    """Return whether two contents are of one speaker and can be one."""
    if not (isinstance(first, Mapping) and isinstance(second, Mapping)):
        return False
    one, other = (c.get("role") or "user" for c in (first, second))
    return one == other != "system" and all(isinstance(c.get("parts"), list) for c in (first, second))


def together(contents: Sequence[Any]) -> Any:
    """Return contents of one speaker as one."""
    return {**contents[0], "parts": [part for content in contents for part in content["parts"]]}


FORMAT = Format(
    "gemini", "contents", recognise, read, write, patch, problems_of,
    system=("systemInstruction", "system_instruction"), with_system=with_system, listed=listed,
    begins_with_user=True, models_elsewhere=("gemini",), joining=Joining(fits, together),
    tool_names=re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}"),
)  # fmt: skip

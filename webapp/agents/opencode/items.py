"""OpenCode's messages and their parts as messages.

A message is a row with its parts. An assistant's row can contain several calls of the model: text after the result of a
tool belongs to the next call. Each call is a separate message: `<id>`, `<id>:results`, `<id>:2`, `<id>:2:results` …
An output that OpenCode has cleared is sent as its short replacement text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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
from scoring.models import name_at
from webapp.agents.opencode.native import messages_of_window, unread_in_window
from webapp.agents.reading.rows import (
    count_of,
    dumps,
    lacking,
    list_of,
    media_from_url,
    object_of,
    text_of,
    uncounted_input,
)
from webapp.agents.records import Usage
from webapp.agents.view import ViewRow

_RUN = "The following tool was executed by the user"
CLEARED = "[Old tool result content cleared]"
_DONE = frozenset({"completed", "success", "error"})
_UNFINISHED = frozenset({"pending", "running", "streaming"})
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",), "reasoning": ("text",), "subtask": ("prompt",), "file": ("url|filename",),
    "tool": ("tool", "state"),
}  # fmt: skip
# Attached files and folders whose content is sent as a text of its own.
_TEXTS = frozenset({"text/plain", "application/x-directory"})
_UNSENT = frozenset({"step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction"})


def messages_of(message: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[tuple[str, Message]]:
    """Yield (name, message) of a record: what was said, and the results of its calls; nothing for an empty one.

    A summary that is being written, or was cut off, is nothing yet.
    """
    message_id = text_of(message.get("id"))
    role = text_of(message.get("role"))
    if "window" in message:
        yield from messages_of_window(message["window"], message_id)
        return
    if role in ("user", "system"):
        said = tuple(p for part in parts for p in _said(part))
        if said and role == "system":
            yield message_id, Message("system", said)
        elif said:
            texts = [p for p in parts if p.get("type") in ("text", "subtask")]
            own = not texts or any(p["type"] == "text" and p.get("synthetic") is not True for p in texts)
            yield message_id, Message("user", said, "" if own else REMINDER)
        return
    if is_unsent(message, parts) or (message.get("summary") is True and not _is_finished(message)):
        return
    for number, step in enumerate(steps(parts), 1):
        name = message_id if number == 1 else f"{message_id}:{number}"
        said = tuple(p for part in step for p in _said(part))
        if said:
            yield name, Message("assistant", said)
        results = tuple(r for part in step if (r := _result(part)) is not None)
        if results:
            yield f"{name}:results", Message("tool", results)


def is_summary(message: dict[str, Any]) -> bool:
    """Return whether a message is the summary of a compaction; one that failed or was cut off is none."""
    return message.get("summary") is True and not message.get("error") and _is_finished(message)


def _is_finished(message: dict[str, Any]) -> bool:
    """Return whether an answer is complete. The first versions wrote only the time of its end."""
    return bool(message.get("finish") or object_of(message.get("time")).get("completed"))


def is_unsent(message: dict[str, Any], parts: list[dict[str, Any]]) -> bool:
    """Return whether an answer ended in an error, so that it is not sent again; one that was aborted is, if it has any.

    OpenCode leaves out the whole message, with the results in it.
    """
    error = object_of(message.get("error"))
    said = any(part.get("type") not in ("step-start", "reasoning") for part in parts)
    return bool(error) and not (error.get("name") == "MessageAbortedError" and said)


def steps(parts: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the parts of each call of the model, in order."""
    step: list[dict[str, Any]] = []
    answered = False
    for part in parts:
        kind = part.get("type")
        if kind == "step-start" or (answered and kind in ("text", "reasoning")):
            if any(map(_says, step)):
                yield step
            step, answered = [], False
        step.append(part)
        answered = answered or _result(part) is not None
    if step:
        yield step


def unknown_in(parts: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the unknown types of parts, and the required fields that a part lacks."""
    for part in parts:
        kind = text_of(part.get("type"))
        if kind in _FIELDS:
            yield from lacking(part, *_FIELDS[kind], kind=f"part {kind}")
        elif kind not in _UNSENT:
            yield f"part {kind or 'without type'}"
        state = object_of(part.get("state"))
        status = text_of(state.get("status"))
        if kind == "tool" and state and status not in _DONE | _UNFINISHED:
            yield f"tool with status {status or 'missing'}"
        if kind == "tool" and status in ("completed", "success"):
            yield from lacking(state, "input", "output", kind="state of a tool")


def unread(message: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what is not read of a message: unknown and missing fields, and an answer that is not sent again."""
    if "window" in message:
        yield from unread_in_window(message["window"])
        return
    yield from unknown_in(parts)
    if tokens := object_of(message.get("tokens")):
        yield from uncounted_input(tokens, "input")
    if not parts and message.get("role") == "user":
        yield "message without parts"
    if parts and message.get("role") == "assistant" and is_unsent(message, parts):
        yield f"answer that ended with {text_of(object_of(message['error']).get('name')) or 'an error'}"


def usages_of(message: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Usage]:
    """Return the usage of each call of an assistant's row, by the name of the call's message.

    A row with several calls, as versions before 1.0 write them, has that of its last ended call; the parts at the ends
    of the calls have that of each.
    """
    name = text_of(message.get("id"))
    of_row, calls = usage_of(message), list(steps(parts))
    if len(calls) > 1:
        ends = {
            name if number == 1 else f"{name}:{number}": usage
            for number, step in enumerate(calls, 1)
            for part in step
            if part.get("type") == "step-finish" and (usage := usage_of(part)) is not None
        }
        if ends:
            return ends
        last = max(number for number, step in enumerate(calls, 1) if number == 1 or any(map(_says, step)))
        name = name if last == 1 else f"{name}:{last}"
    return {} if of_row is None else {name: of_row}


def _says(part: dict[str, Any]) -> bool:
    return any(True for _ in _said(part))


def usage_of(message: dict[str, Any]) -> Usage | None:
    """Return the usage of an assistant's row or step; OpenCode's input excludes cached tokens.

    Older versions count reasoning in the output too (anomalyco/opencode #21047); the total, if there is one, counts it
    once in all versions. Without a total, an output that is larger than the reasoning is taken to include it.
    """
    tokens = object_of(message.get("tokens"))
    cache = object_of(tokens.get("cache"))
    read, written = count_of(cache.get("read")), count_of(cache.get("write"))
    thought, output = count_of(tokens.get("reasoning")), count_of(tokens.get("output"))
    said = count_of(tokens.get("input")) + read + written
    apart = output + thought
    held = output if output > thought else apart
    answer = min(apart, max(output, count_of(tokens.get("total")) - said)) if tokens.get("total") else held
    return Usage(said, answer, read, written, min(thought, answer)) if said else None


def model_of(message: dict[str, Any]) -> str | None:
    """Return the model of a row; a host with prices or windows of its own is named before it."""
    of = message if text_of(message.get("modelID")) else object_of(message.get("model"))
    return name_at(text_of(of.get("providerID")), text_of(of.get("modelID"))) or None


def _said(part: dict[str, Any]) -> Iterator[Part]:
    kind = part.get("type")
    if kind == "text" and part.get("ignored") is not True:
        if text := text_of(part.get("text")):
            yield Text(text)
    elif kind == "reasoning":
        yield Reasoning(text_of(part.get("text")))
    elif kind == "subtask":
        yield Text(_RUN)  # the prompt is in the call of the tool that follows
    elif kind == "file" and part.get("mime") not in _TEXTS:
        yield _file(part)
    elif kind == "tool":
        state = object_of(part.get("state"))
        yield ToolCall(call_id_of(part), text_of(part.get("tool")), dumps(state.get("input", {})))


def _file(part: dict[str, Any]) -> Part:
    url, mime = text_of(part.get("url")), text_of(part.get("mime"))
    if url.startswith("data:"):
        return _media(part)
    return FileReference(text_of(part.get("filename")) or url, "", mime)


def _media(file: dict[str, Any]) -> Media:
    mime = text_of(file.get("mime"))
    return media_from_url(text_of(file.get("url")), "image" if mime.startswith("image") else "document", mime)


def _result(part: dict[str, Any]) -> ToolResult | None:
    state = object_of(part.get("state"))
    status = text_of(state.get("status"))
    if part.get("type") != "tool" or status not in _DONE:
        return None
    if object_of(state.get("time")).get("compacted"):
        return ToolResult(call_id_of(part), CLEARED, text_of(part.get("tool")))
    failed, metadata = status == "error", object_of(state.get("metadata"))
    output = state.get("error") if failed else state.get("output")
    if failed and metadata.get("interrupted") is True and isinstance(metadata.get("output"), str):
        failed, output = False, metadata["output"]  # what a tool had written when the user stopped it is sent
    text = output if isinstance(output, str) else dumps(output)
    media = tuple(_media(object_of(file)) for file in list_of(state.get("attachments")))
    return ToolResult(call_id_of(part), text, text_of(part.get("tool")), failed, media)


def edit_key(row: ViewRow) -> str:
    """Return the id of OpenCode's own message that a row belongs to."""
    return row.id.partition(":")[0].partition("@")[0]


def call_id_of(part: dict[str, Any]) -> str:
    """Return the id that a call and its result share."""
    return text_of(part.get("callID")) or text_of(part.get("id"))

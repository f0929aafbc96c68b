"""Gemini CLI's records as messages.

One record of the agent is a model's message and the results of its calls: two messages, `<id>` and `<id>:results`.
Thoughts are shown to the user and not sent again; notices (info, error, warning) are not sent at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoring.formats import media_in
from scoring.messages import REMINDER, Media, Message, Part, Text, ToolCall, ToolResult
from webapp.agents.reading.rows import (
    count_of,
    dumps,
    lacking,
    list_of,
    object_of,
    text_of,
    uncounted_input,
)
from webapp.agents.records import Usage

_PARTS = frozenset({
    "text", "thought", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
    "codeExecutionResult", "videoMetadata", "thoughtSignature",
})  # fmt: skip
_NOTICES = frozenset({"info", "error", "warning"})
_MODEL = frozenset({"gemini", "model", "assistant"})
_FIRST_WORDS = (
    "<session_context>",
    "<hook_context>",
    "This is the Gemini CLI. We are setting up the context",
)
# The answer to the summary of a compression, which the agent writes in the model's place.
_TO_SUMMARY = "Got it. Thanks for the additional context!"
_LOADED_END = "</loaded_context>"


def match_score(row: dict[str, Any]) -> int:
    """Return how surely a row is this agent's: 2 by a field that only it has or as one of its documents, else 0."""
    own = "$set" in row or "$rewindTo" in row or "projectHash" in row or row.get("type") == "gemini"
    return 2 if own or is_document(row) else 0


def is_document(value: dict[str, Any]) -> bool:
    """Return whether an object is a session in the older layout."""
    if not {"messages", "history"} & value.keys():
        return False
    records = list_of(value.get("messages")) or list_of(value.get("history"))
    typed = any(text_of(object_of(r).get("type")) in ("gemini", "model", "info") for r in records)
    return typed or bool({"projectHash", "sessionId", "startTime", "start_time"} & value.keys())


def begins_document(start: bytes) -> bool:
    """Return whether these are the first bytes of a document in the older layout, too long to be parsed."""
    return b'"sessionId"' in start and (b'"projectHash"' in start or b'"startTime"' in start)


def kind_of(record: dict[str, Any]) -> str:
    """Return the kind of a record: user, model, notice, or its type if that is unknown."""
    kind = text_of(record.get("type")) or text_of(record.get("role"))
    if kind in _NOTICES:
        return "notice"
    return "model" if kind in _MODEL else kind


def messages_of(
    record: dict[str, Any], record_id: str, answered: Mapping[str, str] = {}
) -> Iterator[tuple[str, Message]]:
    """Yield (name, message) of a record: what was said, and the results of calls; nothing for an empty one.

    `answered` names the records that have the results of calls. The agent repeats those in the model's records as
    records of the user, and its lists of messages repeat the calls in the content.
    """
    kind = kind_of(record)
    if kind == "model":
        yield from _of_model(record, record_id)
    elif kind == "user":
        yield from _of_user(record, record_id, answered)
    elif kind == "notice":
        media = tuple(part for part in _parts(_content(record)) if isinstance(part, Media))
        if media:  # files that a tool read are sent in a message that is recorded as a notice
            yield record_id, Message("user", media, REMINDER)


def _content(record: dict[str, Any]) -> Any:
    return record.get("content") if record.get("content") is not None else record.get("parts")


def _of_model(record: dict[str, Any], record_id: str) -> Iterator[tuple[str, Message]]:
    parts = list(_parts(_content(record)))
    calls = [object_of(c) for c in list_of(record.get("toolCalls"))]
    ids = [text_of(c.get("id")) or f"{record_id}:{n}" for n, c in enumerate(calls)]
    if calls:
        parts = [p for p in parts if not isinstance(p, ToolCall) or (p.id and p.id not in ids)]
    for call_id, call in zip(ids, calls, strict=True):
        parts.append(ToolCall(call_id, text_of(call.get("name")), dumps(call.get("args", {}))))
    if parts:
        own = [part.text for part in parts if isinstance(part, Text)] == [_TO_SUMMARY]
        yield record_id, Message("assistant", tuple(parts), REMINDER if own else "")
    results = tuple(_result(i, c) for i, c in zip(ids, calls, strict=True) if _has_result(c))
    if results:
        yield f"{record_id}:results", Message("tool", results)


def _of_user(
    record: dict[str, Any], record_id: str, answered: Mapping[str, str]
) -> Iterator[tuple[str, Message]]:
    content = _content(record)
    said, results = list[Part](), list[ToolResult]()
    for call_id, run in _runs(content if isinstance(content, list) else [content]):
        said += [p for p in _parts(run) if isinstance(p, Text) or call_id is None]
        if call_id and answered.get(call_id, record_id) == record_id:
            answer = run[0]["functionResponse"]
            status = "error" if "error" in object_of(answer.get("response")) else ""
            parts = [p for p in run if isinstance(p, dict) and "text" not in p]
            results.append(_result(call_id, {"name": answer.get("name"), "result": parts, "status": status}))
    if results:  # after a resume they are apart from the record of the model, whose name they have
        yield f"{record_id.removesuffix('_response')}:results", Message("tool", tuple(results))
    if said:
        texts = [p.text for p in said if isinstance(p, Text)]
        own = not (texts and texts[0].lstrip().startswith(_FIRST_WORDS)) and not is_summary(record)
        yield record_id, Message("user", tuple(said), "" if own else REMINDER)


def _runs(parts: list[Any]) -> Iterator[tuple[str | None, list[Any]]]:
    """Yield the parts of each response with the id of its call, and those before the first one with None."""
    call_id, run = None, list[Any]()
    for part in parts:
        if answer := object_of(object_of(part).get("functionResponse")):
            yield call_id, run
            call_id, run = text_of(answer.get("id")), []
        run.append(part)
    yield call_id, run


def is_summary(record: dict[str, Any]) -> bool:
    """Return whether a record of the user is the summary that the agent wrote when it compressed the conversation."""
    if kind_of(record) != "user":
        return False
    content = _content(record)
    parts = content if isinstance(content, list) else [content]
    text = "".join(part if isinstance(part, str) else text_of(object_of(part).get("text")) for part in parts)
    return "<state_snapshot>" in text and "</state_snapshot>" in text


def without_loaded(words: str) -> str:
    """Return the task of a sub-agent without the files and instructions that the agent loads before it."""
    return words.partition(_LOADED_END)[2].strip() or words


def unread(record: dict[str, Any]) -> Iterator[str]:
    """Yield the unknown parts of a record, and the required fields that it lacks."""
    kind = kind_of(record)
    yield from lacking(record, "content|parts", kind=f"{kind} record")
    parts = [part for part in list_of(_content(record)) if isinstance(part, dict)]
    calls = [object_of(call) for call in list_of(record.get("toolCalls"))]
    for call in calls:
        yield from lacking(call, "name", "args", "result|resultDisplay|status", kind="tool call")
        if text_of(call.get("status")) == "success":
            yield from lacking(call, "result|resultDisplay", kind="tool call")
        parts += [part for part in list_of(call.get("result")) if isinstance(part, dict)]
    yield from (f"part with {', '.join(part)[:40]}" for part in parts if _PARTS.isdisjoint(part))
    for answer in (part["functionResponse"] for part in parts if object_of(part.get("functionResponse"))):
        yield from lacking(answer, "response|parts", kind="functionResponse")
    tokens = object_of(record.get("tokens"))
    if kind == "model" and tokens:
        yield from uncounted_input(tokens, "input")


def usage_of(tokens: dict[str, Any]) -> Usage | None:
    """Return the usage that a model's message reports, or None. Its thoughts are not sent again."""
    said = count_of(tokens.get("input")) + count_of(tokens.get("tool"))
    thought = count_of(tokens.get("thoughts"))
    output = count_of(tokens.get("output")) + thought
    cached = count_of(tokens.get("cached"))
    return Usage(said, output, cached, 0, thought, unsent_tokens=thought) if said else None


def _parts(content: Any) -> Iterator[Part]:
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            if part:
                yield Text(part)
            continue
        part = object_of(part)  # noqa: PLW2901
        if part.get("thought") is True:
            continue
        if text := text_of(part.get("text")):
            yield Text(text)
        elif (media := media_in(part)) is not None:
            yield media
        elif call := object_of(part.get("functionCall")):
            yield ToolCall(text_of(call.get("id")), text_of(call.get("name")), dumps(call.get("args", {})))


def _has_result(call: dict[str, Any]) -> bool:
    return bool(call.get("result")) or text_of(call.get("status")) in ("success", "error", "cancelled")


def result_of(call_id: str, call: dict[str, Any]) -> list[Any]:
    """Return the parts of a call's result; the agent can write the results of all parallel calls to each."""
    parts = call.get("result") if isinstance(call.get("result"), list) else [call.get("result")]
    runs = list(_runs(list_of(parts)))
    own = [part for name, run in runs if name == call_id for part in run]
    return own or list_of(parts)


def _result(call_id: str, call: dict[str, Any]) -> ToolResult:
    texts, media = list[str](), list[Media]()
    for part in result_of(call_id, call):
        one = object_of(part)
        if answer := object_of(one.get("functionResponse")):
            response = object_of(answer.get("response"))
            output = response.get("output", response.get("error"))
            texts.append(output if isinstance(output, str) else dumps(response))
            media += [m for p in list_of(answer.get("parts")) if (m := media_in(object_of(p))) is not None]
        elif (found := media_in(one)) is not None:
            media.append(found)
        elif text := (part if isinstance(part, str) else text_of(one.get("text"))):
            texts.append(text)
    failed = text_of(call.get("status")) in ("error", "cancelled")
    text = "\n".join(texts) or text_of(call.get("resultDisplay"))
    return ToolResult(call_id, text, text_of(call.get("name")), failed, tuple(media))

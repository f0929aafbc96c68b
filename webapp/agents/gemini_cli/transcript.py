"""New sessions for Gemini CLI: records made from the messages of a pruned view.

A record of the model contains its calls with their results. The agent also writes each result as a record of the user,
and sends it twice when it resumes; a copy has it once. Token counts belong to other calls and are left out. A copy of a
document is a document: the versions that write these find no others.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from scoring.messages import Text
from webapp.agents.gemini_cli.items import result_of
from webapp.agents.reading.finding import read_json_file
from webapp.agents.reading.rows import list_of, object_of, optional, parse, text_of
from webapp.agents.view import Transcript, View, ViewMessage, ViewSummary, json_lines

Row = dict[str, Any]


def folder(view: View, roots: Sequence[Path]) -> Path:
    """Return the project's folder of chats: that of its own file, else the one the agent has named for its cwd."""
    if view.file is not None:
        return view.file.parent
    projects = object_of(object_of(read_json_file(roots[0].parent / "projects.json")).get("projects"))
    return roots[0] / (optional(projects.get(view.cwd)) or _hash(view.cwd)) / "chats"


def write(view: View) -> Transcript:
    """Return a session."""
    session, stamp = str(uuid.uuid4()), view.now[:16].replace(":", "-")
    facts = {"sessionId": session, "projectHash": _hash(view.cwd), "startTime": view.now, "lastUpdated": view.now,
             "kind": "main", **({"summary": view.title} if view.title else {})}  # fmt: skip
    records = ({"id": str(uuid.uuid4()), **record} for record in _records(view))
    name = f"session-{stamp}-{session[:8]}"
    if view.file is not None and view.file.suffix == ".json":
        return Transcript(session, f"{name}.json", _document(facts, records))
    return Transcript(session, f"{name}.jsonl", json_lines(chain([facts], records)))


def _document(facts: Row, records: Iterable[Row]) -> Iterator[bytes]:
    yield from json_lines([{**facts, "messages": [*records]}])


def _hash(cwd: str) -> str:
    return hashlib.sha256(cwd.encode()).hexdigest()


def _records(view: View) -> Iterator[Row]:
    """Yield the records without their ids; those of the model have the results that follow them."""
    for place, results in view.with_results():
        if isinstance(place, ViewSummary):
            yield {"timestamp": place.at or view.now, "type": "user", "content": [{"text": place.text}]}
        elif place.message.role == "assistant":
            yield _of_model(view, place, results)
        else:
            yield _of_user(view, place)


def _of_user(view: View, message: ViewMessage) -> Row:
    value = message.rows[-1].value or {}
    content = value.get("content") if message.replacement is None else None
    if _has_response(content):
        content = None  # results are in the records of the model
    return {
        "timestamp": message.rows[-1].at or view.now,
        "type": "user",
        "content": content if isinstance(content, list) else [{"text": message.message.text}],
    }


def _has_response(parts: Any) -> bool:
    return any("functionResponse" in object_of(part) for part in list_of(parts))


def _of_model(view: View, message: ViewMessage, results: list[ViewMessage]) -> Row:
    said, at = message.message, message.rows[-1].at or view.now
    record: Row = {
        "timestamp": at,
        "type": "gemini",
        "content": "".join(part.text for part in said.parts if isinstance(part, Text)),
        "thoughts": [],
        "model": text_of((message.rows[-1].value or {}).get("model")),
    }
    if said.calls:
        record["toolCalls"] = [
            {
                "id": call.id,
                "name": call.name,
                "args": object_of(parse(call.arguments.encode())),
                "timestamp": at,
            }
            for call in said.calls
        ]
    calls = {call["id"]: call for call in record.get("toolCalls", [])}
    for place in results:
        value = (place.rows[-1].value or {}) if place.replacement is None else {}
        own = {text_of(c.get("id")): c for c in map(object_of, list_of(value.get("toolCalls")))}
        for result in place.message.results:
            if (call := calls.get(result.call_id)) is not None:
                output = place.results.get(result.call_id, result.text)
                response = {"id": call["id"], "name": call["name"], "response": {"output": output}}
                call["status"] = "error" if result.is_error else "success"
                call["result"] = [{"functionResponse": response}]
                original = result_of(call["id"], own.get(call["id"]) or {"result": value.get("content")})
                if result.media and result.call_id not in place.results and _has_response(original):
                    call["result"] = original
    return record

"""New sessions for pi: the original rows, chained again by id and parentId after a new first row.

Usage is written as zero: it belongs to other calls, and pi would think that the copy is as full as the original. A
summary at the beginning is written in the form of pi's own compactions; a later one as a message of an extension,
because a compaction would remove the rows before it. A compaction by pi itself keeps those rows, behind its summary.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from scoring.messages import Message, Text
from webapp.agents.pi.messages import sent_id
from webapp.agents.reading.finding import open_file
from webapp.agents.reading.rows import list_of, object_of, parse
from webapp.agents.view import Transcript, View, ViewMessage, ViewRow, ViewSummary, json_lines

Row = dict[str, Any]

_CONTENT = frozenset({"message", "custom_message", "branch_summary"})
_NO_USAGE = {
    **dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), 0),
    "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), 0),
}


def folder(view: View, roots: Sequence[Path]) -> Path:
    """Return the folder of the session's working directory: that of its own file, else the one named by its cwd."""
    if view.file is not None:
        return view.file.parent
    name = re.sub(r"[/\\:]", "-", view.cwd.removeprefix("/"))
    return roots[0] / f"--{name}--"


def write(view: View) -> Transcript:
    """Return a session of the view, under a new session id."""
    session, stamp = str(uuid.uuid4()), re.sub(r"[:.]", "-", view.now)
    first = {"type": "session", "version": 3, "id": session, "timestamp": view.now, "cwd": view.cwd}
    rows = (
        {**row, "id": f"{number:08x}", "parentId": f"{number - 1:08x}" if number > 1 else None}
        for number, row in enumerate(_rows(view), 1)
    )
    return Transcript(session, f"{stamp}_{session}.jsonl", json_lines(chain([first], rows)))


def _rows(view: View) -> Iterator[Row]:
    """Yield the rows after the first one, without their ids."""
    choices = list(_last_choices(view.file))
    yield from choices
    first, is_compacted = f"{len(choices) + 1:08x}", False
    for number, place in enumerate(view.items):
        if isinstance(place, ViewSummary):
            yield _summary(view, place, is_first=number == 0)
            is_compacted = number == 0
        elif not is_compacted and (compaction := _compaction(place)):
            yield {**compaction, "firstKeptEntryId": first if number else ""}
            is_compacted = True
        else:
            yield from _message(view, place)
    if view.title:
        yield {"type": "session_info", "timestamp": view.now, "name": view.title}


def _compaction(place: ViewMessage) -> Row | None:
    """Return the row of a compaction by pi without its usage; None for other messages."""
    value = place.rows[-1].value if place.replacement is None else None
    if value is None or value.get("type") != "compaction":
        return None
    return {name: field for name, field in value.items() if name not in ("usage", "retainedTail")}


def _last_choices(file: Path | None) -> Iterator[Row]:
    """Yield the model and the thinking level that were chosen last."""
    found: dict[str, Row] = {}
    if file is not None:
        with open_file(file) as rows:
            for line in rows:
                if b'"model_change"' in line[:80] or b'"thinking_level_change"' in line[:80]:
                    row = object_of(parse(line.rstrip(b"\n")))
                    found[str(row.get("type"))] = row
    yield from found.values()


def _summary(view: View, summary: ViewSummary, *, is_first: bool) -> Row:
    at = summary.at or view.now
    if is_first:
        kept = {"firstKeptEntryId": "", "tokensBefore": summary.replaced_tokens}
        return {"type": "compaction", "timestamp": at, "summary": summary.text, **kept}
    return {
        "type": "custom_message",
        "timestamp": at,
        "customType": "summary",
        "content": summary.text,
        "display": True,
    }


def _message(view: View, message: ViewMessage) -> Iterator[Row]:
    for row in message.rows:
        value = row.value
        if message.replacement is None and value is not None and value.get("type") in _CONTENT:
            yield _with_results(view, row, value, message)
        else:
            yield from _made(view, row, message.replacement or row.message)
            if message.replacement is not None:
                return


def _with_results(view: View, row: ViewRow, value: Row, message: ViewMessage) -> Row:
    """Return a row for the copy: without usage and dropped thoughts, with the replacement of its output."""
    said = object_of(value.get("message"))
    if not said:
        return value
    said = dict(said)
    if said.get("role") == "assistant":
        said["usage"] = _NO_USAGE
        if view.drops_thinking:
            said["content"] = [
                b for b in list_of(said.get("content")) if object_of(b).get("type") != "thinking"
            ]
    output = next((text for one in row.message.results if (text := message.results.get(one.call_id))), None)
    if output is not None:
        said["content"] = [{"type": "text", "text": output}]
        said.pop("details", None)
    return {**value, "message": said}


def _made(view: View, row: ViewRow, message: Message) -> Iterator[Row]:
    """Yield rows made from a message's parts, with the other fields of its original row."""
    frame = object_of((row.value or {}).get("message"))
    base = {"type": "message", "timestamp": row.at or view.now}
    if message.role == "tool":
        for result in message.results:
            own = {
                "role": "toolResult",
                "toolCallId": frame.get("toolCallId") or result.call_id,
                "toolName": result.name,
                "isError": result.is_error,
            }
            yield {**base, "message": {**frame, **own, "content": [{"type": "text", "text": result.text}]}}
        return
    content: list[Row] = [
        {"type": "text", "text": part.text} for part in message.parts if isinstance(part, Text)
    ]
    if message.role == "assistant":
        calls = ((call, parse(call.arguments.encode())) for call in message.calls)
        blocks = map(object_of, list_of(frame.get("content")))
        ids = {sent_id(block.get("id")): block["id"] for block in blocks if block.get("type") == "toolCall"}
        content += [
            {
                "type": "toolCall", "id": ids.get(call.id, call.id), "name": call.name,
                "arguments": object_of(arguments),
            }
            for call, arguments in calls
        ]  # fmt: skip
        yield {**base, "message": {**frame, "role": "assistant", "content": content, "usage": _NO_USAGE}}
    else:
        yield {**base, "message": {"role": "user", "content": content}}

"""New transcripts for Claude Code.

The rows are the original ones with the new session's id, chained again by uuid and parentUuid. If something was
removed, thinking is left out, because the newest models refuse it otherwise, and a resume begins a new turn. Usage is
left out too: it belongs to other calls, and the agent would think that the copy is as full as the original. A summary
is written in the form of the agent's own compactions.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from scoring.messages import Message, Text
from webapp.agents.claude_code.content import RENDERED
from webapp.agents.view import (
    PRUNED_NOTE,
    MessageOrSummary,
    Transcript,
    View,
    ViewMessage,
    ViewRow,
    ViewSummary,
    json_lines,
)

# Fields of attachments and of commands' outputs that rows of the user do not have.
_OTHERS_ONLY = frozenset({"attachment", "content", "level", "subtype"})


def folder(view: View, roots: Sequence[Path]) -> Path:
    """Return the folder of the session's project: that of its own transcript, else the one named by its cwd."""
    if view.file is not None and view.file.parent.is_dir():
        return view.file.parent
    root = next((root for root in roots if root.is_dir()), roots[0])
    return root / re.sub(r"[^A-Za-z0-9-]", "-", view.cwd)


def write(view: View) -> Transcript:
    """Return a transcript of the view, under a new session id."""
    session = str(uuid.uuid4())
    return Transcript(session, f"{session}.jsonl", json_lines(_rows(view, session)))


def _rows(view: View, session: str) -> Iterator[dict[str, Any]]:
    parent: str | None = None
    for place in begun_by_user(view):
        if isinstance(place, ViewSummary):
            rows = _summary_rows(view, place, first=parent is None)
        else:
            rows = _message_rows(view, place, first=parent is None)
        for data in rows:
            own = str(uuid.uuid5(uuid.UUID(session), data["uuid"]))
            yield data | {"uuid": own, "parentUuid": parent, "sessionId": session}
            parent = own
    if view.title:
        yield {"type": "custom-title", "customTitle": view.title, "sessionId": session}


def begun_by_user(view: View) -> Iterator[MessageOrSummary]:
    """Yield the items of the view, after a note if the first is not the user's: a call has to begin with the user."""
    items = iter(view.items)
    first = next(items, None)
    if first is None:
        return
    if isinstance(first, ViewMessage) and first.rows[0].message.role != "user":
        said = {"isMeta": True, "message": {"role": "user", "content": PRUNED_NOTE}, "uuid": "note"}
        facts = {"isSidechain": False, "userType": "external", "cwd": view.cwd, "timestamp": view.now}
        row = {"type": "user", **said, **facts}
        yield ViewMessage(
            [ViewRow("note", Message("user", (Text(PRUNED_NOTE),)), orjson.dumps(row), view.now)]
        )
    yield first
    yield from items


def _message_rows(view: View, message: ViewMessage, first: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows of one message, each with a name for its `uuid`."""
    replaced = message.replacement is not None
    for row in message.rows[:1] if replaced else message.rows:
        data = row.value
        if data is None or "uuid" not in data:
            continue
        content = data.get("message", {}).get("content")
        if replaced:
            data = _with_message(data)
            content = [block for item in message.replaced("anthropic") for block in _blocks(item["content"])]
        elif isinstance(content, list):
            blocks = (b for b in content if not (view.drops_thinking and _thinks(b)))
            content = [_block(block, message.results) for block in blocks]
        if content is not None:
            if not content:
                continue
            said = {key: value for key, value in data["message"].items() if key != "usage"}
            data["message"] = {**said, "content": content}
        if message.results or replaced:
            data.pop("toolUseResult", None)
        if data.get("isCompactSummary") is True and not first:
            _as_reminder(data)
        data.pop("logicalParentUuid", None)
        data.pop("forkedFrom", None)
        data.pop("requestSessionId", None)
        if data.get("isSidechain") is True:
            data["isSidechain"] = False
        yield data | {"uuid": row.id}


def _summary_rows(view: View, summary: ViewSummary, first: bool) -> Iterator[dict[str, Any]]:
    """Yield a summary in the agent's own form, after a boundary if the list begins with it."""
    name = f"summary {summary.number}"
    at = summary.at or view.now
    facts = {"isSidechain": False, "userType": "external", "cwd": view.cwd, "timestamp": at}
    if first:
        about = {"trigger": "manual", "preTokens": summary.replaced_tokens}
        boundary = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
        yield {**facts, **boundary, "isMeta": False, "compactMetadata": about, "uuid": f"{name} boundary"}
    said = {"type": "user", "message": {"role": "user", "content": summary.text}, "uuid": name}
    data = {**facts, **said, "isCompactSummary": True, "isVisibleInTranscriptOnly": True}
    if not first:
        _as_reminder(data)
    yield data


def _with_message(data: dict[str, Any]) -> dict[str, Any]:
    """Return the row; for an attachment or a command's output, a row of the user, whose content can be replaced."""
    if "message" in data:
        return data
    facts = {
        key: value for key, value in data.items() if key not in _OTHERS_ONLY and not key.startswith(RENDERED)
    }
    return {**facts, "type": "user", "isMeta": True, "message": {"role": "user"}}


def _as_reminder(data: dict[str, Any]) -> None:
    """Turn a summary that follows other rows into a reminder, because a summary would remove the rows before it."""
    data.pop("isCompactSummary", None)
    data.pop("isVisibleInTranscriptOnly", None)
    data["isMeta"] = True


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _thinks(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in ("thinking", "redacted_thinking")


def _block(block: Any, results: Mapping[str, str]) -> Any:
    """Return the block, with the text that replaces its output."""
    if isinstance(block, dict) and block.get("type") == "tool_result" and block.get("tool_use_id") in results:
        return {**block, "content": results[block["tool_use_id"]]}
    return block

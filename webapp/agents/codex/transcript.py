"""New rollouts for Codex: the original items in order, after a new session_meta.

The facts that Codex writes once or with each turn are copied from the original rollout, if it is available: the base
instructions, and the context of the last turn, without which Codex sends its instructions and environment again.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scoring.formats import encode
from scoring.messages import Message
from webapp.agents.codex.earlier_rollouts import beginning_of
from webapp.agents.codex.items import SUMMARY_PREFIX
from webapp.agents.reading.finding import open_file
from webapp.agents.reading.rows import object_of, parse
from webapp.agents.view import Transcript, View, ViewMessage, ViewRow, ViewSummary, json_lines

Timed = tuple[str, dict[str, Any]]

# Keys of a session_meta that name the origin or parent of a session, or say which rows of the file are copies, which
# are in other files, or that the file has rows for the screen besides.
_KIN = (
    "forked_from_id", "forked_from_ordinal_exclusive", "parent_thread_id", "agent_nickname", "agent_role", "agent_path",
    "thread_source", "attached_thread", "history_base", "history_mode", "subagent_history_start_ordinal",
)  # fmt: skip


# The beginning of the message in which Codex tells the model about its environment.
_ENVIRONMENT = "<environment_context>"
_KEPT = ("session_meta", "turn_context", "world_state")
_HEAD = 160  # the first bytes of a row, which contain its type


def folder(view: View, roots: Sequence[Path]) -> Path:
    """Return the folder of the day below the agent's sessions."""
    year, month, day = view.now[:10].split("-")
    return roots[0] / year / month / day


def write(view: View) -> Transcript:
    """Return a rollout of the view, under a new session id."""
    session, stamp = str(uuid.uuid4()), view.now[:19].replace(":", "-")
    rows = (
        {"timestamp": at, "ordinal": number, "type": kind, "payload": payload}
        for number, (at, kind, payload) in enumerate(_rows(view, session))
    )
    return Transcript(session, f"rollout-{stamp}-{session}.jsonl", json_lines(rows))


def _rows(view: View, session: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (time, type, payload) of the rows."""
    kept, states = _kept_rows(view.file)
    meta = {"originator": "coppice", "cli_version": "0.0.0", "source": "cli", "instructions": None,
            **{k: v for k, v in kept.get("session_meta", {}).items() if k not in _KIN},
            "id": session, "timestamp": view.now, "cwd": view.cwd}  # fmt: skip
    if not isinstance(meta["source"], str):
        meta["source"] = "cli"  # a sub-agent cannot be resumed without its parent
    if "session_id" in meta:
        meta["session_id"] = session
    yield view.now, "session_meta", meta
    knows_environment = False
    for place in view.items:
        for at, item in _summary(view, place) if isinstance(place, ViewSummary) else _items(view, place):
            knows_environment |= _ENVIRONMENT in str(item.get("content"))
            yield at, "response_item", item
    if not knows_environment and "environment" in kept:
        yield view.now, "response_item", kept["environment"]
    yield from ((view.now, "world_state", state) for state in states)
    if "turn_context" in kept:
        yield view.now, "turn_context", kept["turn_context"]
    if view.title:
        yield (
            view.now,
            "event_msg",
            {"type": "thread_name_updated", "thread_id": session, "thread_name": view.title},
        )


def _kept_rows(file: Path | None) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """Return from a rollout the first session_meta and the last turn_context and environment, and its world states.

    These are the last full world_state and the changes of it that follow.
    """
    found: dict[str, dict[str, Any]] = {}
    states: list[dict[str, Any]] = []
    for line in _lines(file) if file is not None else ():
        kind = next((kind for kind in _KEPT if f'"type":"{kind}"'.encode() in line[:_HEAD]), None)
        if kind is None and _ENVIRONMENT.encode() in line:
            kind = "environment"
        row = object_of(parse(line.rstrip(b"\n"))) if kind is not None else {}
        payload = object_of(row.get("payload"))
        if kind is None or not payload or (kind == "session_meta" and kind in found):
            continue
        if kind == "environment" and (row.get("type"), payload.get("role")) != ("response_item", "user"):
            continue
        if kind == "world_state":
            states = [payload] if payload.get("full") is True else [*states, payload] if states else []
        else:
            found[kind] = payload
    return found, states


def _lines(file: Path) -> Iterator[bytes]:
    """Yield the rows of a rollout, after those of the earlier rollouts that it continues."""
    with open_file(file) as rows:
        first = rows.readline()
        about = object_of(object_of(parse(first.rstrip(b"\n"))).get("payload"))
        for segment in beginning_of(file, about).segments:
            yield from (line.data for line in segment.lines())
        yield first
        yield from rows


def _summary(view: View, summary: ViewSummary) -> Iterator[Timed]:
    """Yield a summary in the form of Codex's own, with its introduction."""
    text = f"{SUMMARY_PREFIX}\n{summary.text}"
    content = [{"type": "input_text", "text": text}]
    yield summary.at or view.now, {"type": "message", "role": "user", "content": content}


def _items(view: View, message: ViewMessage) -> Iterator[Timed]:
    if message.replacement is not None:
        at = message.rows[0].at or view.now
        yield from ((at, item) for item in message.replaced("responses"))
        return
    for row in message.rows:
        for item in _items_of(row):
            output = message.results.get(str(item.get("call_id"))) if "output" in item else None
            yield row.at or view.now, item if output is None else {**item, "output": output}


def _items_of(row: ViewRow) -> list[dict[str, Any]]:
    """Return the items of a row: the original ones, or made from its parts if it came with a new history."""
    data = row.value
    if data is not None and data.get("type") == "response_item" and isinstance(data.get("payload"), dict):
        return [data["payload"]]
    if data is not None and "payload" not in data and ("role" in data or "type" in data):
        return [data]
    made = encode([Message(row.message.role, row.message.parts)], "responses")
    return [item for item in made if isinstance(item, dict)]

"""New rollouts for Codex: the items that arrived, in order, below a session_meta of their own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import orjson

from scoring.formats import encode
from scoring.messages import Message
from webapp.agents.codex.items import SUMMARY_PREFIX
from webapp.agents.view import View, ViewMessage, ViewRow, ViewSummary

Timed = tuple[str, dict[str, Any]]


def write(view: View) -> tuple[str, Iterator[bytes]]:
    """Return the name and the lines of a rollout."""
    session = str(uuid.uuid4())

    def lines() -> Iterator[bytes]:
        meta = {"id": session, "timestamp": view.now, "cwd": view.cwd, "originator": "coppice", "cli_version": "0.0.0",
                "source": "cli", "instructions": None}  # fmt: skip
        yield orjson.dumps({"timestamp": view.now, "type": "session_meta", "payload": meta}) + b"\n"
        for place in view.places:
            for at, item in _summary(view, place) if isinstance(place, ViewSummary) else _items(view, place):
                yield orjson.dumps({"timestamp": at, "type": "response_item", "payload": item}) + b"\n"

    stamp = view.now[:19].replace(":", "-")
    return f"rollout-{stamp}-{session}.jsonl", lines()


def _summary(view: View, summary: ViewSummary) -> Iterator[Timed]:
    """Yield a summary as Codex hands its own to the next model: by the words it puts in front."""
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
    """Return the items of a row: its own, or made from its parts where it came in a new history."""
    data = row.value
    if data is not None and data.get("type") == "response_item" and isinstance(data.get("payload"), dict):
        return [data["payload"]]
    if data is not None and "payload" not in data and ("role" in data or "type" in data):
        return [data]
    made = encode([Message(row.message.role, row.message.parts)], "responses")
    return [item for item in made if isinstance(item, dict)]

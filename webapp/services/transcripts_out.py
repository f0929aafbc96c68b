"""A pruned view as a new transcript, in the agent's own rows, that the agent can resume from.

Rows are those that arrived, in order, with the new session's id; Claude Code's rows are chained anew by uuid and
parentUuid. Texts that stand for tool outputs take their place. Thinking of earlier turns is left out where anything
before it was taken away: newest models refuse it otherwise.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from scoring.formats import encode
from scoring.messages import Message
from webapp.services.clock import iso
from webapp.store import Store
from webapp.store.context import MESSAGE, PRUNED
from webapp.store.log import EntryRow, MessageRow
from webapp.store.sessions import SessionRow

BATCH = 300
Made = tuple[str, Iterator[bytes]]


def claude_rows(store: Store, row: SessionRow, now: int) -> Made:
    """A transcript for Claude Code: (file name, lines)."""
    session = str(uuid.uuid4())

    def lines() -> Iterator[bytes]:
        parent: str | None = None
        pruned = row.operations > 0
        last_turn = row.turns
        for message, entries, standing in _standing(store, row):
            for entry in entries:
                data = _object(entry.raw)
                content = data.get("message", {}).get("content") if data else None
                if data is None or "uuid" not in data:
                    continue
                if isinstance(content, list):
                    kept = [
                        _block(b, standing)
                        for b in content
                        if not (pruned and message.turn < last_turn and _thinks(b))
                    ]
                    if not kept:
                        continue
                    data["message"] = {**data["message"], "content": kept}
                if standing:
                    data.pop("toolUseResult", None)
                own = str(uuid.uuid5(uuid.UUID(session), entry.source_id or str(entry.seq)))
                data |= {"uuid": own, "parentUuid": parent, "sessionId": session}
                data.pop("logicalParentUuid", None)
                if data.get("isSidechain") is True:
                    data["isSidechain"] = False
                parent = own
                yield orjson.dumps(data) + b"\n"

    return f"{session}.jsonl", lines()


def _thinks(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in ("thinking", "redacted_thinking")


def _block(block: Any, standing: Mapping[str, str]) -> Any:
    if (
        isinstance(block, dict)
        and block.get("type") == "tool_result"
        and block.get("tool_use_id") in standing
    ):
        return {**block, "content": standing[block["tool_use_id"]]}
    return block


def codex_rows(store: Store, row: SessionRow, now: int) -> Made:
    """A rollout for Codex: (file name, lines)."""
    session = str(uuid.uuid4())
    at = iso(now) or ""

    def lines() -> Iterator[bytes]:
        meta = {"id": session, "timestamp": at, "cwd": row.cwd or "", "originator": "coppice", "cli_version": "0.0.0",
                "source": "cli", "instructions": None}  # fmt: skip
        yield orjson.dumps({"timestamp": at, "type": "session_meta", "payload": meta}) + b"\n"
        for _, entries, standing in _standing(store, row):
            for entry in entries:
                for item in _items(entry):
                    out = (
                        {**item, "output": standing[item["call_id"]]}
                        if item.get("call_id") in standing
                        else item
                    )
                    payload = out if "output" in item else item
                    line = {"timestamp": iso(entry.at) or at, "type": "response_item", "payload": payload}
                    yield orjson.dumps(line) + b"\n"

    stamp = at[:19].replace(":", "-")
    return f"rollout-{stamp}-{session}.jsonl", lines()


def _items(entry: EntryRow) -> list[dict[str, Any]]:
    """The items of an entry: the row's own, or made from its parts where it came in a new history."""
    data = _object(entry.raw)
    if data is not None and data.get("type") == "response_item" and isinstance(data.get("payload"), dict):
        return [data["payload"]]
    if data is not None and "payload" not in data and ("role" in data or "type" in data):
        return [data]
    message = entry.message
    made = encode([Message(message.role, message.parts)], "responses")
    return [item for item in made if isinstance(item, dict)]


def _object(raw: bytes | None) -> dict[str, Any] | None:
    try:
        value = orjson.loads(raw) if raw else None
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _standing(store: Store, row: SessionRow) -> Iterator[tuple[MessageRow, list[EntryRow], dict[str, str]]]:
    """The messages of the pruned view in order: (message, its entries, call id -> text that stands for its output)."""
    items = [item for item in store.contexts.items(row.key, PRUNED) if item.kind == MESSAGE]
    for start in range(0, len(items), BATCH):
        some = items[start : start + BATCH]
        messages = store.log.messages(row.key, [item.ref for item in some])
        for item in some:
            message = messages[item.ref]
            standing = orjson.loads(item.stand_in)["results"] if item.stand_in is not None else {}
            yield message, store.log.entries_of(row.key, message), standing

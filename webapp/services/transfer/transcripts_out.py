"""A pruned view as a new transcript, in the agent's own rows, that the agent can resume from.

Rows are those that arrived, in order, with the new session's id; Claude Code's rows are chained anew by uuid and
parentUuid. Texts that stand for tool outputs take their place, and what was cut in an emergency stands as it was cut.
A summary is written as the agent writes the summary of its own compaction. Thinking of earlier turns is left out where
anything before it was taken away: newest models refuse it otherwise.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from scoring.formats import FORMATS, encode
from scoring.formats.base import gathered_sources, turns_of
from scoring.messages import Message, Part, part_from_dict
from webapp.agents.codex.items import SUMMARY_PREFIX
from webapp.services.context.pruned_view import message_of, summary_value
from webapp.services.session.times import iso
from webapp.store import Store
from webapp.store.context import MESSAGE, PRUNED, Item
from webapp.store.log import EntryRow, MessageRow
from webapp.store.sessions import SessionRow
from webapp.store.summaries import SummaryRow

BATCH = 300
SessionPlan = tuple[str, Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class _Said:
    """One message of the view. `results` stand for outputs by call id, `parts` for all it says."""

    row: MessageRow
    entries: list[EntryRow]
    results: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[Part, ...] | None = None

    def written(self, name: str) -> list[Any]:
        """What stands for the whole message, as objects of a wire format."""
        message = replace(message_of(self.entries), parts=self.parts or ())
        return FORMATS[name].write(turns_of([message]), gathered_sources([message]))


def claude_rows(store: Store, row: SessionRow, now: int) -> SessionPlan:
    """A transcript for Claude Code: (file name, lines)."""
    session = str(uuid.uuid4())

    def lines() -> Iterator[bytes]:
        parent: str | None = None
        for place in _places(store, row):
            if isinstance(place, SummaryRow):
                rows = _claude_summary(row, place, now, first=parent is None)
            else:
                rows = _claude_message(row, place, first=parent is None)
            for data in rows:
                own = str(uuid.uuid5(uuid.UUID(session), data["uuid"]))
                data |= {"uuid": own, "parentUuid": parent, "sessionId": session}
                parent = own
                yield orjson.dumps(data) + b"\n"

    return f"{session}.jsonl", lines()


def _claude_message(row: SessionRow, said: _Said, first: bool) -> Iterator[dict[str, Any]]:
    """The rows of one message, each with what names it as its `uuid`."""
    entries = said.entries if said.parts is None else said.entries[:1]
    forgets = row.operations > 0 and said.row.turn < row.turns
    for entry in entries:
        data = _object(entry.raw)
        if data is None or "uuid" not in data:
            continue
        content = data.get("message", {}).get("content")
        if said.parts is not None:
            content = [block for item in said.written("anthropic") for block in _blocks(item["content"])]
        elif isinstance(content, list):
            content = [_block(b, said.results) for b in content if not (forgets and _thinks(b))]
        if content is not None:
            if not content:
                continue
            data["message"] = {**data["message"], "content": content}
        if said.results or said.parts is not None:
            data.pop("toolUseResult", None)
        if data.get("isCompactSummary") is True and not first:
            _in_the_middle(data)
        data.pop("logicalParentUuid", None)
        if data.get("isSidechain") is True:
            data["isSidechain"] = False
        yield data | {"uuid": entry.source_id or str(entry.seq)}


def _claude_summary(row: SessionRow, summary: SummaryRow, now: int, first: bool) -> Iterator[dict[str, Any]]:
    """A summary as Claude Code writes its own: behind a boundary, where the list begins with it."""
    name, at = f"summary {summary.n}", iso(summary.last_at or now)
    facts = {"isSidechain": False, "userType": "external", "cwd": row.cwd or "", "timestamp": at}
    if first:
        about = {"trigger": "manual", "preTokens": summary.replaced_tokens}
        boundary = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
        yield {**facts, **boundary, "isMeta": False, "compactMetadata": about, "uuid": f"{name} boundary"}
    text = summary_value(summary).as_message().text
    said = {"type": "user", "message": {"role": "user", "content": text}, "uuid": name}
    data = {**facts, **said, "isCompactSummary": True, "isVisibleInTranscriptOnly": True}
    if not first:
        _in_the_middle(data)
    yield data


def _in_the_middle(data: dict[str, Any]) -> None:
    """Lets a summary behind other rows be a reminder: as a summary it would take those before it away."""
    data.pop("isCompactSummary", None)
    data.pop("isVisibleInTranscriptOnly", None)
    data["isMeta"] = True


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _thinks(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in ("thinking", "redacted_thinking")


def _block(block: Any, results: Mapping[str, str]) -> Any:
    """The block with the text that stands for its output."""
    if isinstance(block, dict) and block.get("type") == "tool_result" and block.get("tool_use_id") in results:
        return {**block, "content": results[block["tool_use_id"]]}
    return block


def codex_rows(store: Store, row: SessionRow, now: int) -> SessionPlan:
    """A rollout for Codex: (file name, lines)."""
    session = str(uuid.uuid4())
    at = iso(now) or ""

    def lines() -> Iterator[bytes]:
        meta = {"id": session, "timestamp": at, "cwd": row.cwd or "", "originator": "coppice", "cli_version": "0.0.0",
                "source": "cli", "instructions": None}  # fmt: skip
        yield orjson.dumps({"timestamp": at, "type": "session_meta", "payload": meta}) + b"\n"
        for place in _places(store, row):
            if isinstance(place, SummaryRow):
                items, times = [_codex_summary(place)], [iso(place.last_at) or at]
            elif place.parts is not None:
                items = place.written("responses")
                times = [iso(place.entries[0].at) or at] * len(items)
            else:
                found = [(i, iso(e.at) or at) for e in place.entries for i in _items(e)]
                items, times = [_with_output(i, place.results) for i, _ in found], [t for _, t in found]
            for item, time in zip(items, times, strict=True):
                line = {"timestamp": time, "type": "response_item", "payload": item}
                yield orjson.dumps(line) + b"\n"

    stamp = at[:19].replace(":", "-")
    return f"rollout-{stamp}-{session}.jsonl", lines()


def _codex_summary(summary: SummaryRow) -> dict[str, Any]:
    """A summary as Codex hands its own to the next model: by the words it puts in front."""
    text = f"{SUMMARY_PREFIX}\n{summary_value(summary).as_message().text}"
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def _with_output(item: dict[str, Any], results: Mapping[str, str]) -> dict[str, Any]:
    """The item with the text that stands for its output."""
    stands = "output" in item and item.get("call_id") in results
    return {**item, "output": results[item["call_id"]]} if stands else item


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


def _places(store: Store, row: SessionRow) -> Iterator[_Said | SummaryRow]:
    """The pruned view in order."""
    items = store.contexts.items(row.key, PRUNED)
    summaries = {s.n: s for s in store.summaries.standing(row.key)}
    for start in range(0, len(items), BATCH):
        some = items[start : start + BATCH]
        messages = store.log.messages(row.key, [item.ref for item in some if item.kind == MESSAGE])
        for item in some:
            if item.kind == MESSAGE:
                yield _said(messages[item.ref], store.log.entries_of(row.key, messages[item.ref]), item)
            else:
                yield summaries[item.ref]


def _said(message: MessageRow, entries: list[EntryRow], item: Item) -> _Said:
    stands: dict[str, Any] = orjson.loads(item.stand_in) if item.stand_in is not None else {}
    parts = tuple(map(part_from_dict, stands["parts"])) if "parts" in stands else None
    return _Said(message, entries, stands.get("results", {}), parts)

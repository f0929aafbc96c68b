"""What an imported file is, by its content; its name only helps.

The answer is the name of a source with a decoder here (`claude-code`, `codex`, `gemini-cli`, `opencode`), `coppice`
for our own export, `wire` for a list of messages or a request body as providers take them, and None for anything
else. The first rows decide: a few may be broken or strange.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import orjson

from webapp.agents.claude_code import decoder as claude_code
from webapp.agents.codex import decoder as codex
from webapp.agents.gemini_cli import decoder as gemini_cli
from webapp.agents.reading.rows import list_of, object_of, parse, text_of

Source = Literal["claude-code", "codex", "gemini-cli", "coppice", "wire"]
COPPICE: Literal["coppice"] = "coppice"  # the first row of our own export has this key

_LOOKED_AT = 50  # rows
_CODEX_TYPES = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"}
)
_CODEX_ITEMS = frozenset(
    {
        "function_call",
        "function_call_output",
        "function_result",
        "reasoning",
        "local_shell_call",
        "custom_tool_call",
    }
)
_GEMINI_TYPES = frozenset({"gemini", "model", "info"})


def recognise(head: bytes, name: str = "") -> Source | None:
    """The source of a file whose first bytes (a whole document, for a small one) are `head`; None if unknown."""
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    first = head.partition(b"\n")[0]
    if head[:1] == b"{" and not isinstance(parse(first), str):
        return _by_rows(head, name)
    document = _document(head)
    if isinstance(document, dict):
        return _by_document(document)
    if isinstance(document, list) and document and isinstance(document[0], dict):
        return "wire"
    return _by_rows(head, name) or _by_first_words(head)


def is_document(head: bytes) -> bool:
    """Whether the file is one JSON value over several lines, or a list: no rows."""
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return head[:1] == b"[" or (head[:1] == b"{" and isinstance(parse(head.partition(b"\n")[0]), str))


def _document(head: bytes) -> Any:
    try:
        return orjson.loads(head)
    except orjson.JSONDecodeError:
        return None


def _by_document(document: dict[str, Any]) -> Source | None:
    if "messages" in document or "history" in document:
        records = list_of(document.get("messages")) or list_of(document.get("history"))
        typed = any(text_of(object_of(r).get("type")) in _GEMINI_TYPES for r in records)
        if typed or {"projectHash", "sessionId", "startTime", "start_time"} & document.keys():
            return "gemini-cli"
    if {"messages", "contents", "input"} & document.keys():
        return "wire"
    return None


def _by_rows(head: bytes, name: str) -> Source | None:
    votes: Counter[Source] = Counter()
    for line in head.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]:
        row = parse(line) if line.strip() else ""
        if isinstance(row, dict) and (vote := _vote(row)) is not None:
            votes[vote] += 1
    if votes["coppice"]:
        return "coppice"
    if name.startswith("rollout-") and votes["codex"]:
        return "codex"
    return votes.most_common(1)[0][0] if votes else None


def _vote(row: dict[str, Any]) -> Source | None:
    if COPPICE in row:
        return "coppice"
    kind = text_of(row.get("type"))
    if isinstance(row.get("payload"), dict) or kind in _CODEX_TYPES or "record_type" in row:
        return "codex"
    if "$set" in row or "$rewindTo" in row or "projectHash" in row or kind == "gemini":
        return "gemini-cli"
    if {"uuid", "parentUuid", "sessionId", "leafUuid", "isSidechain", "snapshot"} & row.keys():
        return "claude-code"
    if kind in _CODEX_ITEMS or (kind == "message" and "role" in row):
        return "codex"
    if {"id", "timestamp", "instructions"} <= row.keys() or {"created_at", "role"} <= row.keys():
        return "codex"
    document = _by_document(row)
    return document or ("wire" if "role" in row else None)


def _by_first_words(head: bytes) -> Source | None:
    """A document too long for its head to be whole JSON."""
    start = head[:2048]
    if start[:1] == b"[" and (b'"role"' in start or b'"type"' in start):
        return "wire"
    if b'"sessionId"' in start and (b'"projectHash"' in start or b'"startTime"' in start):
        return "gemini-cli"
    if start[:1] == b"{" and (b'"messages"' in start or b'"contents"' in start or b'"input"' in start):
        return "wire"
    return None


def decoder_of(source: str) -> Any:
    """A new decoder of lines for a source.

    Raises:
        KeyError: the source has no lines.
    """
    modules = {m.SOURCE: m for m in (claude_code, codex, gemini_cli)}
    return modules[source].Decoder()

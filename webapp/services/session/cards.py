"""Cards, by which a list shows a message without opening the log: its beginning, calls, tool and media.

A card is made once, at ingest, and stored as JSON with the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from scoring.messages import Message, Reasoning, Text, ToolCall
from scoring.tokens import DEFINITION

PREVIEW_CHARS = 400
SUMMARY_CHARS = 160
# The argument that says what a call is about, in the order we prefer them.
TELLING = (
    "file_path",
    "path",
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
    "notebook_path",
)


def card_of(message: Message, tool_names: Mapping[str, str]) -> str:
    """Return the card as JSON text. `tool_names` maps call ids to names, for results that do not repeat theirs."""
    results = message.results
    tool = next(
        (r.name or tool_names.get(r.call_id) for r in results if r.name or r.call_id in tool_names), None
    )
    card: dict[str, Any] = {"text": _utf8(_preview(message))}
    if message.calls:
        card["calls"] = [
            {"id": _utf8(c.id), "name": _utf8(c.name), "summary": _utf8(_about(c))} for c in message.calls
        ]
    if tool:
        card["tool"] = _utf8(tool)
    if media := [m for m in message.media if m.kind != DEFINITION]:
        card["media"] = len(media)
    return orjson.dumps(card).decode()


def is_error(message: Message) -> bool:
    """Return True if a tool reported a failure."""
    return any(r.is_error for r in message.results)


def _preview(message: Message) -> str:
    text = "\n".join(p.text[: PREVIEW_CHARS + 1] for p in message.parts[:8] if isinstance(p, Text)).strip()
    if not text:
        text = "\n".join(r.text[: PREVIEW_CHARS * 2] for r in message.results[:4]).strip()
    if not text and not message.calls:
        text = next((p.text for p in message.parts if isinstance(p, Reasoning) and p.text), "").strip()
    return text if len(text) <= PREVIEW_CHARS else text[: PREVIEW_CHARS - 1] + "…"


def _about(call: ToolCall) -> str:
    """Return the most telling argument of a call, or all arguments as they are."""
    raw = call.arguments
    if len(raw) < 100_000 and raw.startswith("{"):
        try:
            data = orjson.loads(raw)
            found = next((data[name] for name in TELLING if name in data), None)
            if isinstance(found, list):
                found = " ".join(str(one) for one in found)
            if isinstance(found, str):
                raw = found
        except (orjson.JSONDecodeError, RecursionError):
            pass
    line = " ".join(raw[: SUMMARY_CHARS * 3].split())
    return line if len(line) <= SUMMARY_CHARS else line[: SUMMARY_CHARS - 1] + "…"


def _utf8(text: str) -> str:
    """Return the text with lone surrogates replaced: they cannot be stored or sent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text

"""Cards, by which a list shows a message without opening the log: its beginning, calls, tool and media.

A card is made once, at ingest, and stored as JSON with the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict

import orjson

from scoring.messages import Message, Reasoning, Text, ToolCall
from scoring.tokens import DEFINITION, ENCRYPTED

PREVIEW_CHARS = 400
SUMMARY_CHARS = 160
# The arguments that can describe a call, the best first.
DESCRIPTIVE = (
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


class CardCall(TypedDict):
    """A call in a card; `summary` is its most descriptive argument."""

    id: str
    name: str
    summary: str


class Card(TypedDict):
    """A card. `tool` is the tool whose result the message is, `media` the number of its media."""

    text: str
    calls: NotRequired[list[CardCall]]
    tool: NotRequired[str]
    media: NotRequired[int]


def read_card(text: str) -> Card:
    """Return a card from its stored text."""
    card: Card = orjson.loads(text)
    return card


def card_of(message: Message, tool_names: Mapping[str, str]) -> str:
    """Return the card as JSON text. `tool_names` maps call ids to names, for results that do not repeat theirs."""
    results = message.results
    tool = next(
        (r.name or tool_names.get(r.call_id) for r in results if r.name or r.call_id in tool_names), None
    )
    card: Card = {"text": _utf8(_preview(message))}
    if message.calls:
        card["calls"] = [
            {"id": _utf8(c.id), "name": _utf8(c.name), "summary": _utf8(_description(c))}
            for c in message.calls
        ]
    if tool:
        card["tool"] = _utf8(tool)
    if media := [m for m in message.media if m.kind not in (DEFINITION, ENCRYPTED)]:
        card["media"] = len(media)
    return orjson.dumps(card).decode()


def _preview(message: Message) -> str:
    text = "\n".join(p.text[: PREVIEW_CHARS + 1] for p in message.parts[:8] if isinstance(p, Text)).strip()
    if not text:
        text = "\n".join(r.text[: PREVIEW_CHARS * 2] for r in message.results[:4]).strip()
    if not text and not message.calls:
        text = next((p.text for p in message.parts if isinstance(p, Reasoning) and p.text), "").strip()
    return text if len(text) <= PREVIEW_CHARS else text[: PREVIEW_CHARS - 1] + "…"


def _description(call: ToolCall) -> str:
    """Return the most descriptive argument of a call, or all arguments as they are."""
    raw = call.arguments
    if len(raw) < 100_000 and raw.startswith("{"):
        try:
            data = orjson.loads(raw)
            found = next((data[name] for name in DESCRIPTIVE if name in data), None)
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

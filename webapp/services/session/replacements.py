"""Stand-ins: what stands in the view for a message's tool outputs, or for all its parts, as a text that is stored.

It is JSON: `tokens` is what the message costs as it stands, `results` are texts by call id, and `parts`, where there
are any, stand for everything. None means that the message stands as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from scoring.history import Features, content_of, with_content
from scoring.messages import Message, part_from_dict
from webapp.store.log import MessageRow


def stand_in(
    tokens: int, results: Mapping[str, str], parts: Sequence[Mapping[str, Any]] | None = None
) -> str:
    """What is to stand for a message's results, or for all its parts, as it is stored."""
    stored: dict[str, Any] = {"tokens": tokens, "results": dict(results)}
    return orjson.dumps(stored if parts is None else {**stored, "parts": list(parts)}).decode()


def cost(message: MessageRow, text: str | None) -> int:
    """What a message costs in the view."""
    return int(orjson.loads(text)["tokens"]) if text is not None else message.tokens


def with_stand_in(message: Message, text: str | None) -> Message:
    """A message as it stands in the view: as it is, with other results, or with other parts."""
    if text is None:
        return message
    stored = orjson.loads(text)
    if "parts" in stored:
        return replace(message, parts=tuple(map(part_from_dict, stored["parts"])))
    for call_id, result in stored["results"].items():
        message = message.with_result_text(call_id, result)
    return message


def features_with(features: Features, text: str) -> Features:
    """The features of what stands for a message: its own tokens, and what it says; no output of it is whole."""
    stored = orjson.loads(text)
    features = features._replace(tokens=int(stored["tokens"]), traces="")
    if "parts" in stored:
        parts = tuple(map(part_from_dict, stored["parts"]))
        return with_content(features, Message(features.role, parts))._replace(traces="")  # type: ignore[arg-type]
    outputs = list(stored["results"].values())
    said = "\n".join(outputs)
    return features._replace(chars=len(said), content=content_of(said, outputs))

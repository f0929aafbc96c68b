"""Replacements: stored texts that replace a message's tool outputs, or all its parts, in the pruned view.

A replacement is JSON: `tokens` is the size of the message with it, `results` are texts by call id; `parts`,
if any, replace everything; `by` is "agent" if the agent itself sends them. None means that the message is
sent unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from scoring.history import Features, content_of, with_content
from scoring.messages import Message, part_from_dict
from webapp.store.log import MessageRow


def replacement(
    tokens: int, results: Mapping[str, str], parts: Sequence[Mapping[str, Any]] | None = None
) -> str:
    """Return the stored text that replaces a message's results, or all its parts."""
    stored: dict[str, Any] = {"tokens": tokens, "results": dict(results)}
    return orjson.dumps(stored if parts is None else {**stored, "parts": list(parts)}).decode()


def agents_replacement(tokens: int, results: Mapping[str, str]) -> str:
    """Return the stored text of results that the agent probably replaced itself."""
    return orjson.dumps({"tokens": tokens, "results": dict(results), "by": "agent"}).decode()


def is_agents(text: str) -> bool:
    """Return whether a stored replacement is the agent's own."""
    return bool(orjson.loads(text).get("by") == "agent")


def cost(message: MessageRow, text: str | None) -> int:
    """Return the tokens of a message in the view, with its replacement if it has one."""
    return int(orjson.loads(text)["tokens"]) if text is not None else message.tokens


def with_replacement(message: Message, text: str | None) -> Message:
    """Return a message as it is sent: unchanged, with other results, or with other parts."""
    if text is None:
        return message
    stored = orjson.loads(text)
    if "parts" in stored:
        return replace(message, parts=tuple(map(part_from_dict, stored["parts"])))
    for call_id, result in stored["results"].items():
        message = message.with_result_text(call_id, result)
    return message


def features_with(features: Features, text: str) -> Features:
    """Return the features of a replaced message: its tokens and content; its outputs all count as shortened."""
    stored = orjson.loads(text)
    features = features._replace(tokens=int(stored["tokens"]), traces="")
    if "parts" in stored:
        parts = tuple(map(part_from_dict, stored["parts"]))
        return with_content(features, Message(features.role, parts))._replace(traces="")  # type: ignore[arg-type]
    outputs = list(stored["results"].values())
    said = "\n".join(outputs)
    return features._replace(chars=len(said), content=content_of(said, outputs))

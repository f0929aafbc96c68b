"""Replacements: stored texts that replace a message's tool outputs, or all its parts, in the pruned view.

A message without one is sent unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from scoring.history import Features, content_of, with_content
from scoring.messages import Message, Part, part_from_dict, part_to_dict
from webapp.store.log import MessageRow


@dataclass(frozen=True, slots=True)
class Replacement:
    """A replacement: the `tokens` of the message with it, and texts by call id (`results`).

    `parts`, if there are any, replace the whole message. `by_agent`: the agent itself sends it. `recorded` says so in
    words if the agent recorded that; it is empty if only its real input shows it.
    """

    tokens: int
    results: Mapping[str, str]
    parts: tuple[Part, ...] | None = None
    by_agent: bool = False
    recorded: str = ""

    @classmethod
    def of_text(cls, text: str) -> Replacement:
        """Return a replacement from its stored text."""
        stored = orjson.loads(text)
        parts = stored.get("parts")
        return cls(
            int(stored["tokens"]),
            stored.get("results") or {},
            tuple(map(part_from_dict, parts)) if parts is not None else None,
            stored.get("by") == "agent",
            stored.get("recorded", ""),
        )

    @property
    def text(self) -> str:
        """Return it as it is stored."""
        stored: dict[str, Any] = {"tokens": self.tokens, "results": dict(self.results)}
        if self.parts is not None:
            stored["parts"] = [part_to_dict(part) for part in self.parts]
        if self.by_agent:
            stored["by"] = "agent"
        if self.recorded:
            stored["recorded"] = self.recorded
        return orjson.dumps(stored).decode()


def sent_tokens(message: MessageRow, text: str | None) -> int:
    """Return the tokens of a message in the view, with its replacement if it has one."""
    return int(orjson.loads(text)["tokens"]) if text is not None else message.tokens


def with_replacement(message: Message, text: str | None) -> Message:
    """Return a message as it is sent: unchanged, with other results, or with other parts."""
    if text is None:
        return message
    stored = Replacement.of_text(text)
    if stored.parts is not None:
        return replace(message, parts=stored.parts)
    for call_id, result in stored.results.items():
        message = message.with_result_text(call_id, result)
    return message


def features_with(features: Features, text: str) -> Features:
    """Return the features of a replaced message: its tokens and content; its outputs all count as shortened."""
    stored = Replacement.of_text(text)
    features = features._replace(tokens=stored.tokens, traces="")
    if stored.parts is not None:
        message = Message(features.role, stored.parts)  # type: ignore[arg-type]
        return with_content(features, message)._replace(traces="")
    outputs = list(stored.results.values())
    joined = "\n".join(outputs)
    return features._replace(chars=len(joined), content=content_of(joined, outputs))

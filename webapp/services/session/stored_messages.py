"""Messages as the store keeps them: their features, read in bulk because a view has thousands, and their text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import orjson

from scoring.history import Content, Cues, Features
from scoring.messages import Message
from webapp.store.log import EntryRow

# The usual fields of a stored message; anything else takes the slow path.
_KNOWN = frozenset(
    {"role", "tokens", "chars", "keywords", "lexicon", "own_words", "reasoning_only"}
    | {"calls", "results", "content", "tool", "traces", "cues", "names_file", "ties"}
)


def read_features(texts: list[str]) -> Iterable[Features]:
    """Return features from their stored texts, all parsed together."""
    for data in orjson.loads("[" + ",".join(texts) + "]"):
        if not data.keys() <= _KNOWN:
            yield Features.from_dict(data)
            continue
        for name in ("calls", "results", "ties"):
            if name in data:
                data[name] = tuple(data[name])
        if "content" in data:
            data["content"] = Content.from_dict(data["content"])
        if "cues" in data:
            data["cues"] = Cues.from_list(data["cues"])
        yield Features(**data)


def features_text(features: Features) -> str:
    """Return features as they are stored."""
    return orjson.dumps(features.to_dict()).decode()


def whole(role: str, entries: Sequence[EntryRow]) -> Message:
    """Return the message that entries form: all their parts, in the order of arrival, without a wire object."""
    return Message(role, tuple(part for entry in entries for part in entry.message.parts))  # type: ignore[arg-type]

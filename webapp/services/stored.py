"""Features of messages as the store keeps them: read in bulk, because a view has thousands."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from scoring.content import Content
from scoring.features import Features

# What a stored message mostly has; anything else goes the long way.
_KNOWN = frozenset(
    {"role", "tokens", "chars", "keywords", "lexicon", "own_words", "reasoning_only"}
    | {"calls", "results", "content", "tool", "traces"}
)


def read_features(texts: list[str]) -> Iterable[Features]:
    """Features from their stored texts, all parsed in one go."""
    for data in orjson.loads("[" + ",".join(texts) + "]"):
        if not data.keys() <= _KNOWN:
            yield Features.from_dict(data)
            continue
        for name in ("calls", "results"):
            if name in data:
                data[name] = tuple(data[name])
        if "content" in data:
            data["content"] = Content.from_dict(data["content"])
        yield Features(**data)

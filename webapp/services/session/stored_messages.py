"""Messages as the store keeps them: their features, read in bulk because a view has thousands, and their text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import orjson

from scoring.history import Features
from scoring.messages import Message
from webapp.store.log import EntryRow


def read_features(texts: list[str]) -> Iterable[Features]:
    """Return features from their stored texts, all parsed together."""
    return map(Features.from_dict, orjson.loads("[" + ",".join(texts) + "]"))


def features_text(features: Features) -> str:
    """Return features as they are stored."""
    return orjson.dumps(features.to_dict()).decode()


def whole(role: str, entries: Sequence[EntryRow]) -> Message:
    """Return the message that entries form: all their parts, in the order of arrival, without a wire object."""
    return Message(role, tuple(part for entry in entries for part in entry.message.parts))  # type: ignore[arg-type]

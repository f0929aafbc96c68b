"""Messages as the store keeps them: their features, read in bulk because a view has thousands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sys import intern
from typing import Any

import orjson

from scoring.history import Features
from scoring.history.content import VERSION
from scoring.messages import Message
from webapp.errors import NotFound
from webapp.services.session.times import iso
from webapp.store import Store
from webapp.store.log import EntryRow, MessageRow, parse_message_id

# Part of the stored features of every message whose content was analysed by this version.
HAS_CONTENT = f'"content":{{"version":{VERSION},'


def read_features(texts: list[str]) -> Iterable[Features]:
    """Return features from their stored texts, all parsed together."""
    return map(_features_of, orjson.loads("[" + ",".join(texts) + "]"))


def _features_of(data: dict[str, Any]) -> Features:
    """Return the features that `Features.to_dict` wrote; what is equal in many messages is one string for all."""
    for name in ("role", "lexicon", "tool"):
        if name in data:
            data[name] = intern(data[name])
    return Features.from_dict(data)


def features_text(features: Features) -> str:
    """Return features as they are stored."""
    return orjson.dumps(features.to_dict()).decode()


def whole(role: str, entries: Sequence[EntryRow]) -> Message:
    """Return the message that entries form: all their parts, in the order of arrival, without a wire object."""
    parts = tuple(part for entry in entries for part in entry.message.parts)
    return Message(role, parts, at=time_of(entries))  # type: ignore[arg-type]


def time_of(entries: Sequence[EntryRow]) -> str:
    """Return the time of a message, that of its first entry, as ISO 8601; "" if it is unknown."""
    return iso(entries[0].at) or "" if entries else ""


def message_with_id(store: Store, session: int, mid: str) -> MessageRow:
    """Return the message of a session with this id.

    Raises:
        NotFound: the id is unknown.
    """
    no = parse_message_id(mid)
    found = store.log.message(session, no) if no is not None else None
    if found is None or found.mid != mid:
        raise NotFound("message", mid)
    return found

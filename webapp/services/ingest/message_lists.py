"""Message lists as entries.

A message of a list has no id; the hash of the list up to it serves as one. So the same list adds nothing, a longer
one adds its rest, and the session of a list can be found: the list begins with the session's messages, or the other
way round.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from scoring.errors import MalformedMessage, UnknownFormat
from scoring.formats import (
    FORMATS,
    SYSTEM_KEYS,
    Decoded,
    could_be,
    decode,
    decode_readable,
    is_sure,
    native_format,
    recognise,
    system_text,
)
from scoring.messages import Message, Text, Wire
from webapp.agents.records import Entry, Record, Usage, UsageReport
from webapp.services.session.codec import storable
from webapp.store import Store
from webapp.store.sessions import SessionRow


def read_list(value: Any, wire_format: str | None = None, model: str | None = None) -> Decoded:
    """Return the messages of a list or request body; `wire_format` is the format of the session's other messages.

    Raises:
        UnknownFormat: it is not a known kind of message list. MalformedMessage: one of its messages cannot be read.
    """
    if isinstance(value, list) and not value:
        return Decoded((), wire_format or "openai", {})
    return _with_prompt(decode(value, _format_of(value, wire_format, model)))


def read_readable(value: Any, wire_format: str | None) -> tuple[Decoded, list[MalformedMessage]]:
    """Read like `read_list`, but leave out messages that cannot be read, and return their faults.

    Raises:
        UnknownFormat: it is not a known kind of message list. MalformedMessage: there is no list of messages at all.
    """
    decoded, faults = decode_readable(value, _format_of(value, wire_format))
    return _with_prompt(decoded), faults


def _format_of(value: Any, wire_format: str | None, model: str | None = None) -> str:
    """Return the format of a list: its own if that is unambiguous, else the session's, else that of its model.

    Raises:
        UnknownFormat: it is in no known format, and cannot be in the session's.
    """
    try:
        found = recognise(value).name
    except UnknownFormat:
        if wire_format is not None and could_be(value, wire_format):
            return wire_format
        raise
    if is_sure(value, found):
        return found
    if wire_format is None and not _has_system_message(value):
        wire_format = native_format(model)
    return wire_format if wire_format in FORMATS and FORMATS[wire_format].recognise(value) > 0 else found


def _has_system_message(value: Any) -> bool:
    return isinstance(value, list) and any(
        isinstance(one, Mapping) and one.get("role") in ("system", "developer") for one in value
    )


def _with_prompt(decoded: Decoded) -> Decoded:
    """Return the list with the system prompt of its envelope as its first message."""
    prompt = system_text(decoded.envelope)
    if not prompt:
        return decoded
    system = Message("system", (Text(prompt),), wire=Wire("envelope", None))
    envelope = {k: v for k, v in decoded.envelope.items() if k not in SYSTEM_KEYS}
    return Decoded((system, *decoded.messages), decoded.format, envelope)


OWN_PROMPT = "prompt"  # the source id of the system prompt that a session was created with


def next_id(before: str | None, message: Message) -> str:
    """Return the source id of a message behind the one with source id `before` (None: the first)."""
    _, parts = storable(message)
    digest = hashlib.blake2b((before or "").encode(), digest_size=16)
    digest.update(f"\0{message.role}\0{message.name}\0{parts}".encode("utf-8", "replace"))
    return f"list:{digest.hexdigest()}"


def ids_of(messages: Sequence[Message], before: str | None = None) -> list[str]:
    """Return the source ids of a list's messages, behind `before`."""
    ids: list[str] = []
    for message in messages:
        before = next_id(before, message)
        ids.append(before)
    return ids


def entries_of(
    messages: Sequence[Message],
    ids: Sequence[str],
    usage: Usage | None,
    model: str | None = None,
    at: datetime | None = None,
) -> list[Record]:
    """Return the list as records.

    `usage` is that of the last assistant message, or of a message not in the list; `at` is the time of arrival, for a
    list that arrives during the conversation.
    """
    before = [None, *ids][: len(ids)]
    entries = [
        Entry(_own(message), source_id, parent, at=at, model=model)
        for message, source_id, parent in zip(messages, ids, before, strict=True)
    ]
    if usage is None:
        return [*entries]
    if entries and messages[-1].role == "assistant":
        return [*entries[:-1], replace(entries[-1], usage=usage, call_key=ids[-1])]
    return [*entries, UsageReport(usage, at, f"report:{ids[-1] if ids else usage}", model)]


def _own(message: Message) -> Message:
    """Return the message; a system prompt from the envelope loses its wire object, because it is not in the list."""
    if message.wire is not None and message.wire.format == "envelope":
        return Message(message.role, message.parts, message.name)
    return message


def session_of(store: Store, ids: Sequence[str]) -> SessionRow | None:
    """Return the session that a list belongs to: it has all of the list, or the list begins with all of it."""
    if not ids:
        return None
    best: SessionRow | None = None
    places = {source_id: i for i, source_id in enumerate(ids)}
    for row in store.sessions.with_entry(ids[0]):
        if store.log.known(row.key, [ids[-1]]):
            return row
        at = places.get(row.tail_hash or "")
        if at is not None and (best is None or at > places[best.tail_hash or ""]):
            best = row
    return best

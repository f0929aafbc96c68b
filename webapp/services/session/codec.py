"""Messages and their wire objects as plain bytes that can be stored: no half surrogates, no NaN."""

from __future__ import annotations

import json
from typing import Any

import orjson

from scoring.messages import Message, message_from_dict, message_to_dict
from webapp.agents.reading.rows import mend_halves
from webapp.store.log import parts_text


def storable(message: Message) -> tuple[Message, str]:
    """Return the message and its parts as they are stored; half surrogate pairs, which cannot be, are replaced."""
    try:
        return message, parts_text(message)
    except orjson.JSONEncodeError:
        text = json.dumps(message_to_dict(message), ensure_ascii=False).encode("utf-8", "replace").decode()
        clean = message_from_dict(json.loads(text))
        return clean, parts_text(clean)


def wire_bytes(message: Message) -> tuple[bytes | None, str | None]:
    """Return the wire object of a message as JSON, and its format; (None, None) for a message without one."""
    if message.wire is None:
        return None, None
    return json_bytes(message.wire.value), message.wire.format


def json_bytes(value: Any) -> bytes:
    """Return any JSON value as compact bytes; integers beyond 64 bits and half surrogates are preserved."""
    try:
        return orjson.dumps(value)
    except (orjson.JSONEncodeError, TypeError):
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def read_json(text: bytes) -> Any:
    """Return the value of a JSON text in UTF-8. Half of a surrogate pair (a character that was cut) becomes U+FFFD.

    Raises:
        orjson.JSONDecodeError: it is not JSON.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        mended = mend_halves(text)
        if mended == text:
            raise
        return orjson.loads(mended)


def json_value(data: bytes) -> Any:
    """Return the value that `json_bytes` wrote."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)

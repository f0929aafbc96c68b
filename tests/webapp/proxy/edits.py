"""Requests and their edits, as several test modules write them."""

from __future__ import annotations

import json
from typing import Any

from webapp.proxy.editing import Body, edited
from webapp.services.proxied.keys import PROTOCOLS, keys_of

ANTHROPIC, CHAT, RESPONSES, _ = PROTOCOLS


def user(text: str, **more: Any) -> Any:
    """Return a message of the user."""
    return {"role": "user", "content": [{"type": "text", "text": text, **more}]}


def body(messages: list[Any], protocol: Any = ANTHROPIC, **fields: Any) -> Body:
    """Return the bytes of a request."""
    text = json.dumps({"model": "m", protocol.list_name: messages, **fields}, indent=1)
    return Body.read(text.encode(), protocol)


def sent(
    messages: list[Any], edits: dict[int, Any], protocol: Any = ANTHROPIC, ended: int | None = None
) -> Any:
    """Return the sent list, with edits by number; reasoning before message `ended` is removed."""
    keys = keys_of(messages)
    one = body(messages, protocol)
    text = edited(one, {keys[i]: edit for i, edit in edits.items()}, "" if ended is None else keys[ended])
    return json.loads(text)[protocol.list_name]


DROP = {"drop": True}

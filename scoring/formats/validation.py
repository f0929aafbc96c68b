"""Checks message lists by the documented rules of their format (X6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scoring.formats.checks import readable
from scoring.formats.encoding import encode
from scoring.formats.table import format_named
from scoring.messages import Message


def validate(
    messages: Sequence[Any],
    format: str,
    *,
    ready: bool = True,
    decoded: Sequence[Message] | None = None,
) -> list[str]:
    """Return the problems of a list by the documented rules of its format; empty if it is valid (X6).

    `messages` are Messages, which are encoded first, or wire objects. With `ready` false the list is
    not about to be sent: its last message may be the assistant's, and calls at its very end may still be open.
    `decoded` has the message of each wire object, so that they are not read again; `matches_wire` must hold for each.

    Raises:
        UnknownFormat: no such format exists.
    """
    target = format_named(format)
    if messages and all(isinstance(m, Message) for m in messages):
        messages = encode(messages, format, {})
    items = list(messages)
    read, problems = readable(items, target.read, decoded)
    return problems + target.problems(items, read, ready)

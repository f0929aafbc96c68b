"""Thoughts that a provider accepts only after the history that they were thought over.

Newer Claude models check this. After a change of the history the thoughts behind it have to be left out; those that the
model has later belong to the changed history and can stay.
"""

from __future__ import annotations

from dataclasses import replace

from scoring.formats.table import FORMATS
from scoring.messages import Message, Reasoning


def has_bound_thoughts(format: str) -> bool:
    """Return whether messages of a format, "" for any, can have thoughts that hold only for the history before them."""
    return not format or FORMATS[format].has_bound_thoughts is not None


def is_bound_to_history(message: Message) -> bool:
    """Return whether a message has thoughts that hold only for the history before it."""
    if message.wire is None or message.wire.format not in FORMATS or not message.reasoning:
        return False
    has_bound_thoughts = FORMATS[message.wire.format].has_bound_thoughts
    return has_bound_thoughts is not None and has_bound_thoughts(message.wire.value)


def without_bound_thoughts(message: Message) -> Message:
    """Return the message without thoughts that hold only for the history before it; the same object if it has none."""
    if not is_bound_to_history(message):
        return message
    return replace(message, parts=tuple(p for p in message.parts if not isinstance(p, Reasoning)))

"""The functions for units, tokens and budget that the package exports: each accepts messages or wire objects.

Inside `scoring` the originals are used, which accept only messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scoring import units
from scoring.budget import budget
from scoring.formats import decode
from scoring.messages import Message
from scoring.tokens import TokenCounter
from scoring.tokens import counting as tokens

AnyMessage = Message | Mapping[str, Any]


def as_messages(messages: Sequence[AnyMessage]) -> Sequence[Message]:
    """Return the messages of a list that holds messages or wire objects.

    Raises:
        UnknownFormat, MalformedMessage: the wire objects cannot be read.
    """
    typed = [m for m in messages if isinstance(m, Message)]
    return typed if len(typed) == len(messages) else decode(list(messages)).messages


def turn_starts(messages: Sequence[AnyMessage]) -> list[int]:
    """Return the positions at which a turn begins: those of the user messages. The list is empty without any."""
    return units.turn_starts(as_messages(messages))


def safe_boundary(messages: Sequence[AnyMessage], target: int) -> int:
    """Return the position near `target` at which a list can be cut in two, so that everything before it can be dropped.

    This is the last turn start above 0 at or before the target, else the next one after it, else 0. Without any user
    message it is the last unit boundary at or before the target.
    """
    return units.safe_boundary(as_messages(messages), target)


def units_of(messages: Sequence[AnyMessage]) -> list[tuple[int, ...]]:
    """Return the units of a list, each a tuple of positions, in the order of their first messages."""
    return units.units_of(as_messages(messages))


def estimate_message_tokens(message: AnyMessage, counter: TokenCounter | None = None) -> int:
    """Return the tokens a message takes in a context: its parts and the overhead of a message."""
    return tokens.estimate_message_tokens(as_messages([message])[0], counter)


def is_over_budget(
    messages: int | Sequence[AnyMessage],
    tools: int | Sequence[Mapping[str, Any]],
    output_reserve: int,
    window: int,
    counter: TokenCounter | None = None,
) -> bool:
    """Return whether messages + tool definitions + output reserve exceed the window; both may be given as tokens."""
    typed = messages if isinstance(messages, int) else as_messages(messages)
    return budget.is_over_budget(typed, tools, output_reserve, window, counter)

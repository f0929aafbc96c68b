"""The functions for turns, units, tokens and budget that the package exports: each accepts messages or wire objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scoring.formats import decode
from scoring.messages import Message, has_own_words, units
from scoring.tokens import TokenCounter, counting, estimate_tool_tokens

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
    return [i for i, message in enumerate(as_messages(messages)) if has_own_words(message)]


def safe_boundary(messages: Sequence[AnyMessage], target: int) -> int:
    """Return the position near `target` at which a list can be cut in two, so that everything before it can be dropped.

    This is the last turn start above 0 at or before the target, else the next one after it, else 0. Without any user
    message it is the last position at or before the target. No unit reaches across it.
    """
    typed = as_messages(messages)
    target = max(0, min(target, len(typed)))
    within = {i for unit in units.units_of(typed) for i in range(unit[0] + 1, unit[-1] + 1)}
    turns = turn_starts(typed)
    if not turns:
        return next(i for i in range(target, -1, -1) if i not in within)
    starts = [s for s in turns if s > 0 and s not in within]
    return max((s for s in starts if s <= target), default=min(starts, default=0))


def units_of(messages: Sequence[AnyMessage]) -> list[tuple[int, ...]]:
    """Return the units of a list, each a tuple of positions, in the order of their first messages."""
    return units.units_of(as_messages(messages))


def estimate_message_tokens(message: AnyMessage, counter: TokenCounter | None = None) -> int:
    """Return the tokens a message takes in a context: its parts and the overhead of a message."""
    return counting.estimate_message_tokens(as_messages([message])[0], counter)


def is_over_budget(
    messages: int | Sequence[AnyMessage],
    tools: int | Sequence[Mapping[str, Any]],
    output_reserve: int,
    window: int,
    counter: TokenCounter | None = None,
) -> bool:
    """Return whether messages + tool definitions + output reserve exceed the window; both may be given as tokens."""
    if not isinstance(messages, int):
        messages = sum(estimate_message_tokens(message, counter) for message in messages)
    if not isinstance(tools, int):
        tools = estimate_tool_tokens(tools, counter)
    return messages + tools + output_reserve > window

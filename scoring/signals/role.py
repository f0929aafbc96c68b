"""Role: who speaks."""

from __future__ import annotations

from scoring.signals.contract import (
    AGENT,
    FLAG_VALUES,
    HAS_DIGIT,
    TASK,
    USER,
    Mentions,
    Messages,
    Options,
    Ratings,
    Signal,
)

BY_USER, BY_TOOL = 0.5, 0.25


def rate(history: Messages, settings: Options) -> list[float]:
    """Rate each message by its role, as the settings say."""
    return list(map(settings.roles.__getitem__, history.roles))


def rate_mentions(mentions: Mentions, messages: int) -> Ratings:
    """Rate mentions by who named them.

    What the agent or the task named is named again most often; then what a user named, and codes and numbers; what
    only tool outputs named, least.
    """
    return Ratings(mentions.flags, [_of_flags(flags) for flags in range(FLAG_VALUES)])


def _of_flags(flags: int) -> float:
    if flags & (AGENT | TASK):
        return 1.0
    return BY_USER if flags & (USER | HAS_DIGIT) else BY_TOOL


SIGNAL = Signal(
    "role",
    "Role",
    "who speaks, by the table below",
    rate,
    in_foresight="who named it: agent, user or tool",
    weights={"Foresight": 25, "Blueprint": 30},
    rate_mentions=rate_mentions,
)

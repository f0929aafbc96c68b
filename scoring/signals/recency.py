"""Recency: the later a message, the higher its rating."""

from __future__ import annotations

from scoring.signals.contract import Mentions, Messages, Options, Ratings, Signal

AGE_POWER = 0.4


def rate(history: Messages, settings: Options) -> list[float]:
    """Rate system messages and the last message 1, and the j-th of the m messages that are not system messages j/m."""
    count, systems = len(history), history.systems
    others = count - len(systems)
    rising = [j / others for j in range(others)]
    ratings = _with_ones_at(systems, rising) if systems else rising
    if ratings:
        ratings[-1] = 1.0
    return ratings


def _with_ones_at(positions: list[int], ratings: list[float]) -> list[float]:
    """Return the ratings with a 1 inserted at each of the positions, which are in rising order."""
    out: list[float] = []
    taken = 0
    for already, position in enumerate(positions):
        upto = position - already
        out += ratings[taken:upto]
        out.append(1.0)
        taken = upto
    out += ratings[taken:]
    return out


def rate_mentions(mentions: Mentions, messages: int) -> Ratings:
    """Rate mentions by the last message that contains them: (1 + messages since) to a negative power.

    The rating falls more slowly with age, so that two old mentions still differ.
    """
    return Ratings(mentions.last, [(messages - position) ** -AGE_POWER for position in range(messages)])


SIGNAL = Signal(
    "recency",
    "Recency",
    "how late in the conversation",
    rate,
    in_foresight="how late it was last named",
    weights={"Foresight": 35, "Blueprint": 40},
    rate_mentions=rate_mentions,
)

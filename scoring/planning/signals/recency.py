"""Recency: the later a message, the higher."""

from __future__ import annotations

from scoring.history import History
from scoring.settings import Settings


def rate(history: History, settings: Settings) -> list[float]:
    """The j-th of m messages that are not system messages rates j/m; the last message and system messages 1."""
    count, systems = len(history), history.systems
    others = count - len(systems)
    plain = [j / others for j in range(others)]
    ratings = _with_ones_at(systems, plain) if systems else plain
    if ratings:
        ratings[-1] = 1.0
    return ratings


def _with_ones_at(positions: list[int], ratings: list[float]) -> list[float]:
    """The ratings with a 1 put in so that it stands at each of the positions (rising)."""
    out: list[float] = []
    taken = 0
    for already, position in enumerate(positions):
        upto = position - already
        out += ratings[taken:upto]
        out.append(1.0)
        taken = upto
    out += ratings[taken:]
    return out


AGE_POWER = 0.4


def of_marks(count: int) -> list[float]:
    """For *Foresight*: the rating of a mark by the position of its last mention among `count` messages.

    (1 + messages since) to a negative power: what was named long ago fades, but ever more slowly, so that two old
    mentions still differ.
    """
    return [(count - position) ** -AGE_POWER for position in range(count)]

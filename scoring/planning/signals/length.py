"""Length: long messages hold more."""

from __future__ import annotations

from bisect import bisect_right
from functools import partial

from scoring.history import History
from scoring.settings import Settings


def rate(history: History, settings: Settings) -> list[float]:
    """The rating of the last step of the settings' table that a message's characters reach, 0 below the first."""
    bounds = [characters for characters, _ in settings.length_steps]
    ratings = [0.0, *(rating for _, rating in settings.length_steps)]
    return [ratings[step] for step in map(partial(bisect_right, bounds), history.chars)]


HALF_WEIGHT = 1.25
SHORT = 8


def power(weight: float) -> float:
    """For *Foresight*: the power of its tokens that a unit's worth is divided by, 0...1; 0.8 at a weight of 5.

    At 0 a long message costs no more than a short one; towards 1 worth counts per token.
    """
    return weight / (weight + HALF_WEIGHT)


def of_unit(tokens: int, weight: float) -> float:
    """For *Foresight*: the rating of a unit by its tokens: 1 up to `SHORT`, less the longer it is."""
    return float((SHORT / max(SHORT, tokens)) ** power(weight))

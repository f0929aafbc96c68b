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

"""The score: the weighted sum of the signals, 0...100, with the contribution of each signal.

Weights are points: a rating of 1 with a weight of 40 adds 40. A signal without weight adds nothing, but is still
rated, so that it can be shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scoring.history import History
from scoring.settings import Settings
from scoring.signals import SIGNALS

HIGHEST = 100.0


@dataclass(frozen=True, slots=True)
class Scores:
    """The score (0...100) of every message, and the rating (0...1) by every signal, as columns."""

    scores: list[float]
    parts: Mapping[str, Sequence[float]]


def score(history: History, settings: Settings) -> Scores:
    """Score every message of a history."""
    parts = {name: signal.rate(history, settings) for name, signal in SIGNALS.items()}
    return Scores(weighted_sum(parts, settings.weights, len(history)), parts)


def weighted_sum(parts: Mapping[str, list[float]], weights: Mapping[str, float], count: int) -> list[float]:
    """Return the sum of weight x rating over the signals for each of `count` messages, clamped to 0...100."""
    weighed = [(weights[name], ratings) for name, ratings in parts.items() if weights.get(name)]
    if not weighed:
        return [0.0] * count
    weight, ratings = weighed[0]
    total = [weight * rating for rating in ratings]
    for weight, ratings in weighed[1:]:
        total = [before + weight * rating for before, rating in zip(total, ratings, strict=True)]
    if sum(weight for weight, _ in weighed) > HIGHEST:
        total = [min(HIGHEST, one) for one in total]
    return total


def unit_scores(scores: list[float], members: Mapping[int, list[int]]) -> list[float]:
    """Return the score of every unit, at the position of its head: the best of its messages.

    The best is used, not the mean, because one message worth keeping is reason enough to keep what cannot be separated
    from it.
    """
    out = scores[:]
    for head, positions in members.items():
        out[head] = max(map(scores.__getitem__, positions))
    return out

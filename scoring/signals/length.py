"""Length: long messages hold more information."""

from __future__ import annotations

from bisect import bisect_right
from functools import partial

from scoring.signals.contract import Messages, Options, Signal

HALF_WEIGHT = 1.25
SHORT = 8
# If less than AMPLE of the tokens can stay, length counts more, and most from LEAST down: one large unit in little
# room is a bet on few names, and many small ones have more of those that may come up.
AMPLE, LEAST, SCARCITY_POWER = 0.5, 0.1, 2 / 3


def rate(history: Messages, settings: Options) -> list[float]:
    """Rate each message by the last of the settings' steps that its characters reach, 0 below the first."""
    bounds = [characters for characters, _ in settings.length_steps]
    ratings = [0.0, *(rating for _, rating in settings.length_steps)]
    return [ratings[step] for step in map(partial(bisect_right, bounds), history.chars)]


def power(weight: float, share: float = 1.0) -> float:
    """Return the exponent p (0...1) of *Foresight*, which divides a unit's worth by tokens^p.

    At 0 length does not count; near 1 the worth is a worth per token. `share` is the share of the tokens that can stay:
    at a weight of 5, p is 0.8 for half of them and more, 0.86 for a quarter, and 0.92 for a tenth and less.
    """
    scarcity = max(LEAST, min(AMPLE, share)) / AMPLE
    return weight / (weight + HALF_WEIGHT * float(scarcity**SCARCITY_POWER))


def of_unit(tokens: int, power: float) -> float:
    """Return the rating of a unit in *Foresight*: 1 up to `SHORT` tokens, falling with its length."""
    return float((SHORT / max(SHORT, tokens)) ** power)


SIGNAL = Signal(
    "length",
    "Length",
    "long messages, by the steps below",
    rate,
    in_foresight="how much its size counts against it",
    weights={"Foresight": 5, "Blueprint": 5},
    weighs_mentions=False,
)

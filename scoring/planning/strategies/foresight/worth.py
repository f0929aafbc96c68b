"""The worth of every mention of a history, and the worth that remains while units are taken.

The worth of a mention is the weighted mean of its ratings by the signals that rate mentions, raised to a power, so
that a few important mentions outweigh many unimportant ones. A text line is worth less than a name, and a mention that
occurs only in lines that differ just in codes and numbers, as in a log, is worth less again. A mention adds its worth
until a kept unit has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from scoring.history import History
from scoring.settings import Settings
from scoring.signals import ALIKE, FLAG_VALUES, IS_LINE, SIGNALS, Ratings

SHARPNESS = 2.5
LINE_WORTH = 0.4  # relative to a name
ALIKE_WORTH = 0.3  # relative to a mention in a line that is unlike the others


class Coverage:
    """The mentions of a history, by number, and which of them the kept messages cover.

    `worth` is the worth of each, `left` the remaining worth, `holder` the kept message that has it (-1: none).
    `weight` is the total weight of the signals that rate mentions, `steady_weight` that of those that rate every one
    above 0.
    """

    __slots__ = (
        "_ratings",
        "count",
        "flags",
        "held",
        "holder",
        "last",
        "left",
        "size",
        "steady_weight",
        "weight",
        "worth",
    )

    def __init__(self, history: History, settings: Settings) -> None:
        mentions = history.mentions
        self.size = len(history)
        self.last, self.count, self.flags = mentions.last, mentions.count, mentions.flags
        self.held = mentions.held
        self._ratings: dict[str, Ratings] = {
            name: signal.ratings(history, mentions, settings)
            for name, signal in SIGNALS.items()
            if signal.weighs_mentions and settings.weights.get(name)
        }
        weights = [settings.weights[name] for name in self._ratings]
        self.weight = sum(weights)
        self.steady_weight = sum(
            weight
            for (column, table), weight in zip(self._ratings.values(), weights, strict=True)
            if 0.0 not in table or {n for n, rating in enumerate(table) if not rating}.isdisjoint(column)
        )
        self.worth = self._weigh(weights)
        self.left = self.worth[:]
        self.holder = [-1] * len(self.worth)

    def ratings(self, number: int) -> dict[str, float]:
        """Return a mention's ratings (0...1) by the signals that rate mentions and have a weight."""
        return {name: table[column[number]] for name, (column, table) in self._ratings.items()}

    def gain(self, held: Iterable[int]) -> float:
        """Return the worth that mentions add to the kept units."""
        return sum(map(self.left.__getitem__, held))

    def cover(self, held: Iterable[int], by: int) -> None:
        """Note that message `by` is kept and has these mentions."""
        left, holder = self.left, self.holder
        for number in held:
            if holder[number] < 0:
                holder[number] = by
                left[number] = 0.0

    def end_choice(self) -> None:
        """Forget the remaining worth, which only a choice reads: its plan is kept, with the rest for its reasons."""
        self.left = []

    def _weigh(self, weights: Sequence[float]) -> list[float]:
        """Return the worth of every mention; most share their numbers with others."""
        if not weights:
            return [0.0] * len(self.flags)
        ratings = self._ratings.values()
        tables = [
            [weight / self.weight * rating for rating in table]
            for weight, (_, table) in zip(weights, ratings, strict=True)
        ]
        kinds = [_of_kind(flags) for flags in range(FLAG_VALUES)]

        @cache
        def worth(flags: int, *numbers: int) -> float:
            weighed = 0.0
            for table, number in zip(tables, numbers, strict=True):
                weighed += table[number]
            sharpened: float = weighed**SHARPNESS
            return kinds[flags] * sharpened

        return list(map(worth, self.flags, *[column for column, _ in ratings]))


def _of_kind(flags: int) -> float:
    """Return the worth of a mention, relative to a name on its own."""
    return (LINE_WORTH if flags & IS_LINE else 1.0) * (ALIKE_WORTH if flags & ALIKE else 1.0)

"""The worth of every mention of a history, and what is left of it while units are taken.

A mention weighs the weighted mean of its ratings by the signals that rate mentions, sharpened, so that few mentions
that matter outweigh many that hardly do. A text line is worth part of that beside a name, and a mention that occurs
only in lines that differ in nothing but codes, as those of a log do, part of that again. Worth is what a mention adds
while nothing that stays has it; taking one takes that away.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import partial, reduce
from itertools import repeat
from operator import add, mul

from scoring.history import History
from scoring.settings import Settings
from scoring.signals import ALIKE, FLAG_VALUES, IS_LINE, SIGNALS, Ratings

SHARPNESS = 2.5
LINE_WORTH = 0.4
ALIKE_WORTH = 0.3  # beside a mention of a line that is like no other


class Ledger:
    """The mentions of one plan, by number.

    `worth` is what each is worth, `left` what is left of that, `holder` the message that stays with it (-1: none).
    `weight` is that of the signals that rate mentions together. `last`, `count` and `flags` stay as they were when the
    plan was made; a history may grow afterwards.
    """

    __slots__ = ("_ratings", "count", "flags", "held", "holder", "last", "left", "size", "weight", "worth")

    def __init__(self, history: History, settings: Settings) -> None:
        mentions = history.mentions.snapshot()
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
        self.worth = self._weigh(weights)
        self.left = self.worth.tolist()  # a list: it is read ten times as often as all else here
        self.holder = array("i", b"\xff\xff\xff\xff") * len(self.worth)

    def ratings(self, number: int) -> dict[str, float]:
        """Return a mention's ratings (0...1) by the signals that rate mentions and have a weight."""
        return {name: table[column[number]] for name, (column, table) in self._ratings.items()}

    def gain(self, held: Iterable[int]) -> float:
        """Return what mentions add to what stays."""
        return sum(map(self.left.__getitem__, held))

    def cover(self, held: Iterable[int], by: int) -> None:
        """Note that message `by` stays and has these mentions."""
        left, holder = self.left, self.holder
        for number in held:
            if holder[number] < 0:
                holder[number] = by
                left[number] = 0.0

    def _weigh(self, weights: Sequence[float]) -> array[float]:
        """Return the worth of every mention; in columns, because a long history has millions of them."""
        if not weights:
            return array("d", bytes(8 * len(self.flags)))
        weighed = [
            map([weight / self.weight * rating for rating in table].__getitem__, column)
            for weight, (column, table) in zip(weights, self._ratings.values(), strict=True)
        ]
        kinds = map([_of_kind(flags) for flags in range(FLAG_VALUES)].__getitem__, self.flags)
        return array("d", map(mul, kinds, map(pow, reduce(partial(map, add), weighed), repeat(SHARPNESS))))


def _of_kind(flags: int) -> float:
    """Return the worth of a mention, relative to a name on its own."""
    return (LINE_WORTH if flags & IS_LINE else 1.0) * (ALIKE_WORTH if flags & ALIKE else 1.0)

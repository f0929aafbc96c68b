"""What every mark of a history is worth, and what is left of it while units are taken.

A mark weighs the weighted mean of its three ratings (recency, role, keywords), sharpened, so that few marks that
matter outweigh many that hardly do; a text line is worth part of that beside a name, and what stands only in lines
that are alike but for their codes, as those of a log are, part of that again. Worth is what a mark adds while
nothing that stays has it; taking one takes that away.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping

from scoring.history import ALIKE, IS_LINE, KINDS, History
from scoring.planning.signals import keywords, recency, role

SHARPNESS = 2.5
LINE_WORTH = 0.4
ALIKE_WORTH = 0.3  # beside a mark of a line that is like no other


class Ledger:
    """The marks of one plan, by number.

    `worth` is what each is worth, `left` what is left of that, `holder` the message that stays with it (-1: none).
    `last`, `count` and `said` are as they were when the plan was made; a history may grow afterwards.
    """

    __slots__ = ("count", "held", "holder", "last", "left", "said", "size", "worth")

    def __init__(self, history: History, weights: Mapping[str, float]) -> None:
        marks = history.marks
        self.size = len(history)
        self.last, self.count, self.said = marks.last[:], marks.count[:], bytes(marks.said)
        self.held = marks.held
        self.worth = self._weigh(weights)
        self.left = self.worth[:]
        self.holder = array("i", b"\xff\xff\xff\xff") * len(self.worth)

    def ratings(self, number: int) -> tuple[float, float, float]:
        """A mark's ratings (0...1) by recency, role and keywords."""
        count = min(self.count[number], keywords.MOST_COUNTED)
        ago = self.size - self.last[number]
        return ago**-recency.AGE_POWER, _ROLES[self.said[number]], _KEYWORDS[count]

    def gain(self, held: Iterable[int]) -> float:
        """What marks add to what stays."""
        return sum(map(self.left.__getitem__, held))

    def cover(self, held: Iterable[int], by: int) -> None:
        """Note that message `by` stays and has these marks."""
        left, holder = self.left, self.holder
        for number in held:
            if holder[number] < 0:
                holder[number] = by
                left[number] = 0.0

    def _weigh(self, weights: Mapping[str, float]) -> array[float]:
        total = (weights["recency"] + weights["role"] + weights["keywords"]) or 1.0
        a, b, c = (weights[name] / total for name in ("recency", "role", "keywords"))
        recent = [a * rating for rating in recency.of_marks(self.size)]
        spoken = [b * rating for rating in _ROLES]
        named = [c * rating for rating in _KEYWORDS]
        kind = [_of_kind(said) for said in range(KINDS)]
        most = keywords.MOST_COUNTED
        return array(
            "d",
            [
                kind[said] * (recent[last] + spoken[said] + named[min(most, count)]) ** SHARPNESS
                for last, count, said in zip(self.last, self.count, self.said, strict=True)
            ],
        )


def _of_kind(said: int) -> float:
    """What a mark is worth beside a name that stands by itself."""
    return (LINE_WORTH if said & IS_LINE else 1.0) * (ALIKE_WORTH if said & ALIKE else 1.0)


_ROLES, _KEYWORDS = role.of_marks(), keywords.of_marks()

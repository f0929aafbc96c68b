"""One tool output as a plan sees it: its rows, what they cost and which mentions they carry.

Made once a plan for an output that is looked at, because the same rows are weighed again whenever others were taken.
Rows are taken in blocks: one that stands alone brings the better of its neighbours, because a line without any of its
surroundings says little to whoever reads it, and a mark for what is missing costs about as much.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from itertools import accumulate
from operator import itemgetter, sub, truediv

from scoring.history import MARK_CHARS, Row, Rows

FRAME_TOKENS = 5  # what is counted for the frame of an output
NOTHING = 1e-12  # sums of worth differ by less than this from rounding alone

Adding = tuple[float, int, int]  # minus the worth of a row by token, its message, its number


class Output:
    """The rows of one output.

    `frame` is what it costs without any row, `prices` what each row adds to that, `mark` what a gap before a row does.
    `telling` are the rows that stay whatever is cut.
    """

    __slots__ = ("_at", "_bounds", "_lines", "_mentions", "_pieces", "frame", "mark", "prices", "telling")

    def __init__(self, rows: Rows, held: array[int], per_char: float) -> None:
        self._lines, self._pieces = rows.lines, rows.pieces
        self._bounds = [0, *rows.ends]
        self._at = itemgetter(*self._bounds)
        self._mentions = array("I", map(held.__getitem__, rows.mentions))
        self.mark = MARK_CHARS * per_char
        self.frame = FRAME_TOKENS + self.mark
        self.prices = array("d", [(chars + 1) * per_char for chars in rows.chars])
        self.telling = rows.telling

    def adding(self, position: int, left: Sequence[float]) -> list[Adding]:
        """Return the rows that add something, by what is left of their mentions."""
        upto = self._at([0.0, *accumulate(map(left.__getitem__, self._mentions))])
        rates = map(truediv, map(sub, upto[1:], upto), self.prices)
        return [(-rate, position, row) for row, rate in enumerate(rates) if rate > NOTHING]

    def block(self, row: int, taken: Collection[int], left: Sequence[float]) -> tuple[tuple[int, ...], float]:
        """Return the rows that a row brings beside those taken, itself first, and what they add to the cost."""
        before, after = self._beside(row, -1), self._beside(row, 1)
        joined = (before in taken) + (after in taken)
        if joined:
            return (row,), self.prices[row] - (self.mark if joined == 2 else 0.0)
        around = [one for one in (after, before) if one is not None and not self._pieces[one]]
        if not around or self._pieces[row]:  # a part of a long line says enough by itself
            return (row,), self.prices[row] + self.mark
        other = max(around, key=lambda one: sum([left[n] for n in self.mentions_of(one)]) / self.prices[one])
        return (row, other), self.prices[row] + self.prices[other] + self.mark

    def priced(self, rows: Collection[int]) -> float:
        """Return what rows cost together, with the marks between them."""
        total, last = 0.0, None
        for row in sorted(rows):
            total += self.prices[row] + (
                0.0 if last is not None and self._beside(row, -1) == last else self.mark
            )
            last = row
        return total

    def _beside(self, row: int, step: int) -> int | None:
        """Return the row before or after one, where no more than a blank line stands between them."""
        other = row + step
        if 0 <= other < len(self._lines) and abs(self._lines[other] - self._lines[row]) <= 2:
            return other
        return None

    def mentions_of(self, row: int) -> array[int]:
        """Return the mentions of a row, by number."""
        return self._mentions[self._bounds[row] : self._bounds[row + 1]]

    def row(self, row: int) -> Row:
        """Return where a row stands in the text."""
        return Row(self._lines[row], self._pieces[row])

"""One tool output as a plan sees it: its rows, what they cost and which mentions they carry.

Made once a plan for an output that is looked at, because the same rows are weighed again whenever others were taken.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from operator import itemgetter, sub, truediv

from scoring.history import HEADER_CHARS, Row, Rows

# What is reckoned in tokens for the frame of an output, and in characters for each row's break and gap.
HEADER_TOKENS, ROW_CHARS = 5, 5
NOTHING = 1e-12  # sums of worth differ by less than this from rounding alone

Adding = tuple[float, int, int]  # minus the worth of a row by token, its message, its number


class Output:
    """The rows of one output. `frame` is what it costs without any row, `prices` what each row adds to that."""

    __slots__ = ("_at", "_bounds", "_lines", "_mentions", "_pieces", "frame", "prices")

    def __init__(self, rows: Rows, held: array[int], per_char: float) -> None:
        self._lines, self._pieces = rows.lines, rows.pieces
        self._bounds = [0, *rows.ends]
        self._at = itemgetter(*self._bounds)
        self._mentions = array("I", map(held.__getitem__, rows.mentions))
        self.frame = HEADER_TOKENS + HEADER_CHARS * per_char
        self.prices = array("d", [(chars + ROW_CHARS) * per_char for chars in rows.chars])

    def adding(self, position: int, left: Sequence[float]) -> list[Adding]:
        """Return the rows that add something, by what is left of their mentions."""
        upto = self._at([0.0, *accumulate(map(left.__getitem__, self._mentions))])
        rates = map(truediv, map(sub, upto[1:], upto), self.prices)
        return [(-rate, position, row) for row, rate in enumerate(rates) if rate > NOTHING]

    def mentions_of(self, row: int) -> array[int]:
        """Return the mentions of a row, by number."""
        return self._mentions[self._bounds[row] : self._bounds[row + 1]]

    def row(self, row: int) -> Row:
        """Return where a row stands in the text."""
        return Row(self._lines[row], self._pieces[row])

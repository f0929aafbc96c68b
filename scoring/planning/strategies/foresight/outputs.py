"""One tool output in a plan: its rows, their costs and their mentions.

It is created once for a plan, because the same rows are rated again whenever others were taken. Rows are taken in
blocks: a row without a kept neighbour brings the better of its neighbours, because a line without its surroundings says
little to a reader, and the mark for missing lines costs about as much.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate, chain, repeat
from operator import itemgetter, sub, truediv

from scoring.history import MARK_CHARS, TAIL, Row, Rows

FRAME_TOKENS = 5  # for the frame of an output
NOTHING = 1e-12  # rounding alone can make sums of worth differ by this much


class Output:
    """The rows of one output.

    `frame` is its cost without any row, `prices` the cost of each row, `mark` the cost of a gap before a row.
    `key_rows` are the rows that are never cut, such as errors and the outcome of a run.
    """

    __slots__ = (
        "_at",
        "_bounds",
        "_headings",
        "_lines",
        "_mentions",
        "_pieces",
        "frame",
        "key_rows",
        "mark",
        "prices",
    )

    def __init__(self, rows: Rows, held: array[int], per_char: float) -> None:
        self._lines, self._pieces, self._headings = rows.lines, rows.pieces, rows.headings
        self._bounds = [0, *rows.ends]
        self._at = itemgetter(*self._bounds)
        self._mentions = array("I", map(held.__getitem__, rows.mentions))
        self.mark = MARK_CHARS * per_char
        self.frame = FRAME_TOKENS + self.mark
        self.prices = [(chars + 1) * per_char for chars in rows.chars]
        self.key_rows = rows.key_rows

    def rates(self, left: Sequence[float]) -> list[float]:
        """Return the remaining worth of each row per token, given that of each mention."""
        upto = self._at(list(accumulate(map(left.__getitem__, self._mentions), initial=0.0)))
        return list(map(truediv, map(sub, upto[1:], upto), self.prices))

    def rate(self, left: Sequence[float], row: int) -> float:
        """Return the remaining worth of one row per token."""
        return sum(map(left.__getitem__, self.mentions_of(row))) / self.prices[row]

    def least(self, row: int) -> float:
        """Return the least that a row can cost: as if it closed a gap."""
        return self.prices[row] - self.mark

    def block(
        self, row: int, taken: Collection[int], rate: Callable[[int], float]
    ) -> tuple[tuple[int, ...], float]:
        """Return the rows that are added with a row to those taken, and their cost.

        They are its block after the headings without which it could belong to something else. `rate` returns the rate
        of a row.
        """
        rows, price = self._block(row, taken, rate)
        if not self._headings:
            return rows, price
        there = {*taken, *rows}
        missing: list[int] = []
        for one in rows:
            head = self._headings[one] - 1
            while head >= 0 and head not in there:
                there.add(head)
                missing.append(head)
                head = self._headings[head] - 1
        return (*missing, *rows), price + sum([self.prices[head] + self.mark for head in missing])

    def _block(
        self, row: int, taken: Collection[int], rate: Callable[[int], float]
    ) -> tuple[tuple[int, ...], float]:
        """Return a row with the neighbour or the parts of its line that it needs, and their cost."""
        lines, pieces, price = self._lines, self._pieces, self.prices[row]
        # A neighbour is the row before or after it, with at most one blank line between them.
        before = row > 0 and lines[row] - lines[row - 1] <= 2
        after = row + 1 < len(lines) and lines[row + 1] - lines[row] <= 2
        joined = (before and row - 1 in taken) + (after and row + 1 in taken)
        if joined and pieces[row] <= TAIL:
            return (row,), price - (self.mark if joined == 2 else 0.0)
        if pieces[row]:
            return self._parts(row, taken)
        before, after = before and not pieces[row - 1], after and not pieces[row + 1]
        if not before and not after:
            return (row,), price + self.mark
        other = row + 1 if after else row - 1
        if before and after and rate(row - 1) > rate(other) + NOTHING:
            other = row - 1
        return (row, other), price + self.prices[other] + self.mark

    def _parts(self, row: int, taken: Collection[int]) -> tuple[tuple[int, ...], float]:
        """Return a part of a long line with the parts between it and its end of the line, and their cost.

        The outermost is first. A part is readable only with those outside it.
        """
        pieces = self._pieces
        step, parts, at = (-1 if pieces[row] % 2 else 1), [row], row
        while pieces[at] > TAIL and at + step not in taken:
            at += step
            parts.append(at)
        price = sum([self.prices[part] for part in parts])
        return tuple(reversed(parts)), price + (self.mark if pieces[at] <= TAIL else 0.0)

    def priced(self, rows: Collection[int]) -> float:
        """Return the cost of rows with the marks between them."""
        lines, total, last = self._lines, 0.0, -1
        for row in sorted(rows):
            joined = last == row - 1 >= 0 and lines[row] - lines[last] <= 2
            total += self.prices[row] + (0.0 if joined else self.mark)
            last = row
        return total

    def mentions_of(self, row: int) -> array[int]:
        """Return the numbers of the mentions of a row."""
        return self._mentions[self._bounds[row] : self._bounds[row + 1]]

    def is_heading(self, row: int) -> bool:
        """Return whether a row is a heading of others, which depend on it."""
        return row + 1 in self._headings

    def is_part(self, row: int) -> bool:
        """Return whether a row is a part of a long line between its ends, on which others may depend."""
        return self._pieces[row] > TAIL

    def row(self, row: int) -> Row:
        """Return the place of a row in the text."""
        return Row(self._lines[row], self._pieces[row])


def densest_first(rates: Mapping[int, Sequence[float]]) -> Iterator[tuple[int, int]]:
    """Yield message and number of each row that adds something, the highest rate per token first.

    Among equal rates the order is that of the rows. `rates` are those of the rows of each message's output.
    """
    every = list(chain.from_iterable(rates.values()))
    sizes = list(map(len, rates.values()))
    positions = list(chain.from_iterable(map(repeat, rates, sizes)))
    rows = list(chain.from_iterable(map(range, sizes)))
    for place in sorted(range(len(every)), key=every.__getitem__, reverse=True):
        if every[place] <= NOTHING:
            break
        yield positions[place], rows[place]

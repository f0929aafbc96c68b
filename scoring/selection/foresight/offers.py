"""The forms in which a unit may stay: whole, or with its tool outputs cut to the rows that carry most.

An offer is what a unit adds, by what it costs, as it stood when it was last looked at. Its rate is its gain per token
to the power that the length signal sets, plus its relevance. What a unit adds only falls while others are taken, so
an offer that was looked at once is never too low but in its form.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import Protocol

from scoring.content import EMPTY, Content
from scoring.content.rows import MARK_CHARS, Row
from scoring.history import History
from scoring.selection.foresight.worth import Ledger

STUB_FROM = 60  # an output of fewer tokens is never shortened
LEAST_SAVING = 0.9  # a shortened unit costs at most this share of the whole one
MARK_TOKENS, ROW_CHARS = 5, 5  # what is reckoned for the frame of an output, and for each row's break and gap
REFORM = 0.6  # an offer's form is chosen anew once it has lost more than the rest of its gain
# In longer histories a shortened offer that lost much is thinned out before it is cut anew.
EXACT_UNITS = 4_000

NOTHING = 1e-12  # sums of worth differ by less than this from rounding alone

_Row = tuple[
    float, int, int, float, int
]  # minus its worth per token, message, row, tokens, where its marks begin
Cut = tuple[int, int]  # a message and the number of one of its rows


@dataclass(slots=True)
class Offer:
    """A unit in one form: `rate`, what it adds (`gain`), what it costs, its marks, and the rows that its outputs are
    cut to (None: it stays whole).
    """

    rate: float
    gain: float
    cost: int
    rows: list[Cut] | None
    held: Iterable[int]


class _Room(Protocol):
    left: int


class Offers:
    """Makes the offers of units, named by their heads."""

    def __init__(
        self, history: History, ledger: Ledger, relevant: Sequence[float] | None, power: float
    ) -> None:
        self._history, self._ledger, self._power = history, ledger, power
        self._tokens, self._costs = history.tokens, history.unit_tokens
        self._members = history.units.members
        self._rough = len(history) > 2 * EXACT_UNITS
        self._marks: dict[int, Iterable[int]] = {}
        self._prices: dict[int, tuple[list[float], list[int]]] = {}
        self._bonus = self._bonuses(relevant)

    def _bonuses(self, relevant: Sequence[float] | None) -> list[float]:
        if relevant is None:
            return [0.0] * len(self._tokens)
        bonus = list(relevant)
        for head, members in self._members.items():
            bonus[head] = max([relevant[p] for p in members])
        return bonus

    def bonus(self, head: int) -> float:
        """What relevance adds to a unit's rate: that of its most relevant message."""
        return self._bonus[head]

    def cost(self, head: int) -> int:
        """The tokens of a whole unit."""
        return self._costs[head]

    def is_cuttable(self, head: int) -> bool:
        """Whether a unit may have outputs to shorten."""
        return head in self._members

    def held(self, head: int) -> Iterable[int]:
        """The marks of a unit, each once."""
        members = self._members.get(head)
        if members is None:
            return self._ledger.held[head]
        known = self._marks.get(head)
        if known is None:
            held = self._ledger.held
            known = self._marks[head] = set().union(*[held[p] for p in members])
        return known

    def whole(self, head: int) -> Offer:
        """A unit as it is."""
        held, cost = self.held(head), self._costs[head]
        gain = self._ledger.gain(held)
        return Offer(gain / max(1, cost) ** self._power + self._bonus[head], gain, cost, None, held)

    def best(self, head: int, room: float) -> Offer:
        """The best form of a unit that fits into the room; the whole one if none does."""
        whole = self.whole(head)
        if whole.cost <= STUB_FROM or whole.gain <= 0.0 or head not in self._members:
            return whole
        cut = self._shortened(head)
        if (
            cut is not None
            and cut.cost < LEAST_SAVING * whole.cost
            and (cut.rate > whole.rate or whole.cost > room)
        ):
            return cut
        return whole

    def again(self, head: int, offer: Offer, room: float) -> Offer:
        """The offer as it stands by now: in its form while most of its gain is left, else in the best one."""
        gain = self._ledger.gain(offer.held)
        if gain < REFORM * offer.gain:
            if self._rough and offer.rows is not None:
                return self._thinned(head, offer)
            return self.best(head, room)
        offer.rate = gain / max(1, offer.cost) ** self._power + self._bonus[head]
        return offer

    def final(self, head: int, offer: Offer, room: float) -> Offer:
        """The offer to take: one that was only thinned out on the way is cut anew."""
        if self._rough and offer.rows is not None:
            fresh = self.best(head, room)
            return fresh if fresh.cost <= room else offer
        return offer

    def shortable(self, position: int) -> Content | None:
        """The content of a message that may be shortened, or None."""
        content = self._history.features[position].content
        if content is None or not content.row_ends or self._tokens[position] < STUB_FROM:
            return None
        return content

    def _shortened(self, head: int) -> Offer | None:
        """A unit with its larger outputs cut to the rows that raise its rate, densest first."""
        ledger, left = self._ledger, self._ledger.left
        cost, outputs = 0.0, 0
        seen: set[int] = set()
        rows: list[_Row] = []
        for position in self._members[head]:
            content, held = self.shortable(position), ledger.held[position]
            if content is None:
                cost += self._tokens[position]
                seen.update(held)
                continue
            outputs += 1
            per_char = self._per_char(position)
            cost += MARK_TOKENS + MARK_CHARS * per_char
            rows += self._rows(position, content, [left[number] for number in held])
        if not rows:
            return None
        rows.sort()
        return self._densest(head, rows, seen, cost, outputs)

    def _rows(self, position: int, content: Content, worth: list[float]) -> list[_Row]:
        """The rows of an output that add something, by what their marks are worth by now."""
        known = self._prices.get(position)
        if known is None:
            per_char = self._per_char(position)
            prices = [(chars + ROW_CHARS) * per_char for chars in content.row_chars]
            known = self._prices[position] = (prices, [0, *content.row_ends[:-1]])
        prices, starts = known
        upto = list(accumulate([worth[m] for m in content.row_marks], initial=0.0))
        gains = [upto[end] - upto[start] for start, end in zip(starts, content.row_ends, strict=True)]
        return [
            (-gain / price, position, row, price, start)
            for row, (gain, price, start) in enumerate(zip(gains, prices, starts, strict=True))
            if gain > NOTHING
        ]

    def _densest(
        self,
        head: int,
        rows: list[_Row],
        seen: set[int],
        cost: float,
        outputs: int,
    ) -> Offer:
        """Take rows while they raise the rate; `seen` is what stays of the unit anyway."""
        ledger, left, power = self._ledger, self._ledger.left, self._power
        features = self._history.features
        gain = sum([left[number] for number in seen])
        rate = gain / max(1.0, cost) ** power
        chosen: list[Cut] = []
        for _, position, row, price, start in rows:
            content, held = features[position].content or EMPTY, ledger.held[position]
            new = {held[m] for m in content.row_marks[start : content.row_ends[row]]} - seen
            add = sum([left[number] for number in new])
            if add <= 0.0:
                continue
            raised = (gain + add) / (cost + price) ** power
            if chosen and raised < rate:
                break
            rate, gain, cost = raised, gain + add, cost + price
            seen |= new
            chosen.append((position, row))
        whole = ceil(cost) + outputs  # each output is rounded up by itself
        return Offer(gain / whole**power + self._bonus[head], gain, whole, chosen, array("I", sorted(seen)))

    def _thinned(self, head: int, offer: Offer) -> Offer:
        """A shortened offer without the rows that have nothing left to add."""
        left, rows, saved = self._ledger.left, [], 0.0
        for position, row in offer.rows or ():
            if any(left[number] for number in self.row_marks(position, row)):
                rows.append((position, row))
            else:
                saved += self._price(position, row)
        held = array("I", [number for number in offer.held if left[number]])
        gain, cost = self._ledger.gain(held), max(1, offer.cost - int(saved))
        return Offer(gain / cost**self._power + self._bonus[head], gain, cost, rows, held)

    def row_marks(self, position: int, row: int) -> list[int]:
        """The marks of one row, by number."""
        content, held = self._history.features[position].content or EMPTY, self._ledger.held[position]
        start = content.row_ends[row - 1] if row else 0
        return [held[m] for m in content.row_marks[start : content.row_ends[row]]]

    def _price(self, position: int, row: int) -> float:
        content = self._history.features[position].content or EMPTY
        return (content.row_chars[row] + ROW_CHARS) * self._per_char(position)

    def _per_char(self, position: int) -> float:
        return self._tokens[position] / (self._history.chars[position] + 1)

    def restore(self, shortened: dict[int, tuple[int, tuple[Row, ...]]], room: _Room) -> None:
        """Give shortened messages rows back that still add something, the densest first, while there is room."""
        rows: list[_Row] = []
        for position in shortened:
            content = self.shortable(position) or EMPTY
            left = self._ledger.left
            rows += self._rows(position, content, [left[n] for n in self._ledger.held[position]])
        for _, position, row, price, _ in sorted(rows):
            marks, cost = self.row_marks(position, row), ceil(price)
            tokens, kept = shortened[position]
            if (
                cost <= room.left
                and tokens + cost < self._tokens[position]
                and self._ledger.gain(marks) > NOTHING
            ):
                content = self.shortable(position) or EMPTY
                more = Row(content.row_lines[row], content.row_pieces[row])
                shortened[position] = tokens + cost, (*kept, more)
                room.left -= cost
                self._ledger.cover(marks, position)

    def grow(self, position: int) -> None:
        """Note that a shortened message stays whole after all."""
        self._ledger.cover(self._ledger.held[position], position)

    def take(self, head: int, offer: Offer) -> dict[int, tuple[int, tuple[Row, ...]]]:
        """Cover what a unit says in this form; answers what its shortened messages cost, and their rows, those that
        carry most first.
        """
        cut: dict[int, list[int]] = {}
        for position, row in offer.rows or ():
            cut.setdefault(position, []).append(row)
        short: dict[int, tuple[int, tuple[Row, ...]]] = {}
        for position in self._members.get(head, (head,)):
            content = self.shortable(position) if offer.rows is not None else None
            if content is None:
                self._ledger.cover(self._ledger.held[position], position)
                continue
            rows = cut.get(position, [])
            cost = MARK_TOKENS + MARK_CHARS * self._per_char(position)
            cost += sum([self._price(position, row) for row in rows])
            if ceil(cost) >= self._tokens[position]:
                self._ledger.cover(self._ledger.held[position], position)
                continue
            for row in rows:
                self._ledger.cover(self.row_marks(position, row), position)
            kept = tuple(Row(content.row_lines[row], content.row_pieces[row]) for row in rows)
            short[position] = ceil(cost), kept
        return short

"""The forms in which a unit can be kept: whole, or with its tool outputs cut to the most valuable rows.

An offer has the gain and the cost of a unit at the time it was last rated. Its rate is the gain divided by the tokens
to the power set by the length signal, plus its relevance. The gain of a unit only falls while others are taken, so an
offer is never too low, except that another form may have become better.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import ceil
from typing import NamedTuple

from scoring.history import History, Row
from scoring.planning.strategies.foresight.outputs import NOTHING, Output, densest_first
from scoring.planning.strategies.foresight.worth import Coverage

LEAST_TO_SHORTEN = 80  # an output of fewer tokens is never shortened: it is kept whole or dropped
LEAST_SAVING = 0.8  # a shortened unit costs at most this share of the whole one
STALE_BELOW = 0.6  # with less than this share of its gain left, an offer's form is chosen again
# With more than twice as many messages, a shortened offer that lost much of its gain is not cut again; it loses rows.
EXACT_UNITS = 4_000

MessageRow = tuple[int, int]  # the position of a message and the number of one of its rows


class ShortenedMessage(NamedTuple):
    """The tokens of a shortened message, and the numbers of the rows that stay."""

    tokens: int
    rows: tuple[int, ...]


@dataclass(slots=True)
class Offer:
    """A unit in one form: its rate, gain, cost, mentions, and the rows that its outputs are cut to (None: whole).

    If it is stale, another form may be better now.
    """

    rate: float
    gain: float
    cost: int
    rows: list[MessageRow] | None
    held: Iterable[int]
    stale: bool = False


class Offers:
    """Makes the offers of units, identified by their heads; `power` is the exponent of their tokens."""

    def __init__(
        self, history: History, coverage: Coverage, relevant: Sequence[float] | None, power: float
    ) -> None:
        self._history, self.coverage, self.power = history, coverage, power
        self._tokens, self._costs = history.tokens, history.unit_tokens
        self._members: Mapping[int, Sequence[int]] = history.units.members
        self._rough = len(history) > 2 * EXACT_UNITS
        self._mentions: dict[int, Iterable[int]] = {}
        self._outputs: dict[int, Output] = {}
        self._uncuttable: set[int] = set()  # messages known to have no output that can be shortened
        self._bonus = self._bonuses(relevant)

    def join(self, questions: Mapping[int, int]) -> None:
        """Take each question with the short answer to it, and offer both under the question; named by the answer."""
        if not questions:
            return
        self._members, self._costs = dict(self._members), list(self._costs)
        for answer, question in questions.items():
            self._members[question] = (*self._members.get(question, (question,)), answer)
            self._costs[question] += self._costs[answer]
            self._bonus[question] = max(self._bonus[question], self._bonus[answer])

    def _bonuses(self, relevant: Sequence[float] | None) -> list[float]:
        if relevant is None:
            return [0.0] * len(self._tokens)
        bonus = list(relevant)
        for head, members in self._members.items():
            bonus[head] = max(map(relevant.__getitem__, members))
        return bonus

    def bonus(self, head: int) -> float:
        """Return the addition to a unit's rate for the relevance of its most relevant message."""
        return self._bonus[head]

    def cost(self, head: int) -> int:
        """Return the tokens of a whole unit."""
        return self._costs[head]

    def is_cuttable(self, head: int) -> bool:
        """Return whether a unit can have outputs to shorten."""
        return head in self._members

    def held(self, head: int) -> Iterable[int]:
        """Return the mentions of a unit, each once."""
        members = self._members.get(head)
        if members is None:
            return self.coverage.held[head]
        known = self._mentions.get(head)
        if known is None:
            held = self.coverage.held
            known = self._mentions[head] = array("I", list(set().union(*[held[p] for p in members])))
        return known

    def whole(self, head: int) -> Offer:
        """Return the offer of a whole unit."""
        held, cost = self.held(head), self._costs[head]
        gain = self.coverage.gain(held)
        return Offer(gain / max(1, cost) ** self.power + self._bonus[head], gain, cost, None, held)

    def best(self, head: int, room: float) -> Offer:
        """Return the best form of a unit that fits into the room; the whole one if none does."""
        whole = self.whole(head)
        if whole.cost <= LEAST_TO_SHORTEN or whole.gain <= 0.0 or head not in self._members:
            return whole
        fits = whole.cost <= room
        cut = self._shortened(head, float("inf") if fits else room)
        if cut is None or (cut.cost > room if not fits else not _saves(cut, whole)):
            return whole
        cut.held = array("I", sorted(cut.held))
        return cut

    def again(self, head: int, offer: Offer, room: float) -> Offer:
        """Return the offer rated again: in its form while most of its gain is left, otherwise in the best form.

        In long histories the form of a whole unit is chosen again only when the unit is taken (`final`).
        """
        gain = self.coverage.gain(offer.held)
        if gain < STALE_BELOW * offer.gain:
            if not self._rough:
                return self.best(head, room)
            if offer.rows is not None:
                return self._thinned(head, offer)
            offer.stale = True
        offer.rate = gain / max(1, offer.cost) ** self.power + self._bonus[head]
        return offer

    def final(self, head: int, offer: Offer, room: float) -> Offer:
        """Return the offer to take."""
        return self.best(head, room) if offer.stale else offer

    def _shortened(self, head: int, room: float) -> Offer | None:
        """Return a unit with its larger outputs cut to the rows that fit and raise its rate, densest first."""
        cost, held = 0.0, self.coverage.held
        outputs: dict[int, Output] = {}
        seen: set[int] = set()
        for position in self._members[head]:
            output = self.output(position)
            if output is None:
                cost += self._tokens[position]
                seen.update(held[position])
            else:
                outputs[position] = output
                cost += output.frame
        rates = {position: output.rates(self.coverage.left) for position, output in outputs.items()}
        if max(map(max, rates.values()), default=0.0) <= NOTHING:
            return None
        return self._cut(head, rates, seen, cost, outputs, room)

    def _cut(
        self,
        head: int,
        rates: Mapping[int, Sequence[float]],
        seen: set[int],
        cost: float,
        outputs: dict[int, Output],
        room: float,
    ) -> Offer:
        """Return the unit with rows added while they raise the rate.

        `rates` are those of the rows of each output. `seen` are the mentions that stay in any case; those of the rows
        that always stay are added to it.
        """
        worth, power = self.coverage.left.__getitem__, self.power
        chosen = [(position, row) for position, output in outputs.items() for row in output.key_rows]
        taken = {position: set(output.key_rows) for position, output in outputs.items()}
        for position, row in chosen:
            seen.update(outputs[position].mentions_of(row))
        cost += sum([outputs[position].priced(own) for position, own in taken.items()])
        gain = sum(map(worth, seen))
        rate = gain / max(1.0, cost) ** power
        first = True
        for position, row in densest_first(rates):
            own, output = taken[position], outputs[position]
            if row in own or cost + output.least(row) + len(outputs) > room:
                continue
            if seen.issuperset(own_mentions := output.mentions_of(row)):
                continue
            new = {n for n in own_mentions if n not in seen}
            add = sum(map(worth, new))
            if add <= 0.0:
                continue
            block, price = output.block(row, own, rates[position].__getitem__)
            if cost + price + len(outputs) > room:
                continue
            if len(block) > 1:
                new = {n for one in block for n in output.mentions_of(one) if n not in seen}
                add = sum(map(worth, new))
            raised = (gain + add) / (cost + price) ** power
            if not first and raised < rate:
                if len(block) > 2:  # other parts of its line lower its rate; later rows can still raise it
                    continue
                break
            first = False
            rate, gain, cost = raised, gain + add, cost + price
            seen |= new
            own.update(block)
            chosen += [(position, one) for one in block]
        whole = ceil(cost) + len(outputs)  # each output is rounded up separately
        return Offer(gain / whole**power + self._bonus[head], gain, whole, chosen, seen)

    def _thinned(self, head: int, offer: Offer) -> Offer:
        """Return a shortened offer without the rows that no longer add anything."""
        left, rows, saved = self.coverage.left, [], 0.0
        for position, row in offer.rows or ():
            output = self._outputs[position]
            if (
                row in output.key_rows
                or output.is_part(row)
                or output.is_heading(row)
                or any(left[number] for number in output.mentions_of(row))
            ):
                rows.append((position, row))
            else:
                saved += output.prices[row]
        held = array("I", [number for number in offer.held if left[number]])
        gain, cost = self.coverage.gain(held), max(1, offer.cost - int(saved))
        return Offer(gain / cost**self.power + self._bonus[head], gain, cost, rows, held)

    def restore(self, shortened: dict[int, ShortenedMessage], room: int) -> int:
        """Restore rows that still add something, densest first, then whole outputs, newest first.

        Changes `shortened`; returns the room left.
        """
        outputs = {position: self._outputs[position] for position in sorted(shortened)}
        left = self.coverage.left
        rates = {position: output.rates(left) for position, output in outputs.items()}
        for position, row in densest_first(rates):
            output, (tokens, kept) = outputs[position], shortened[position]
            if row in kept or output.least(row) > room:
                continue
            if self.coverage.gain(output.mentions_of(row)) <= NOTHING:
                continue
            block, price = output.block(row, kept, partial(output.rate, left))
            cost = ceil(price)
            if cost > room or tokens + cost >= self._tokens[position]:
                continue
            shortened[position] = ShortenedMessage(tokens + cost, (*kept, *block))
            room -= cost
            self.coverage.cover([n for one in block for n in output.mentions_of(one)], position)
        for position in sorted(shortened, reverse=True):
            more = self._tokens[position] - shortened[position].tokens
            if more <= room:
                room -= more
                del shortened[position]
                self.coverage.cover(self.coverage.held[position], position)
        return room

    def take(self, head: int, offer: Offer) -> dict[int, ShortenedMessage]:
        """Cover the mentions of a unit in this form; return its shortened messages by position.

        The most valuable rows are first.
        """
        members = self._members.get(head, (head,))
        if offer.rows is None:
            for position in members:
                self.coverage.cover(self.coverage.held[position], position)
            return {}
        cut: dict[int, list[int]] = {}
        for position, row in offer.rows:
            cut.setdefault(position, []).append(row)
        short: dict[int, ShortenedMessage] = {}
        for position in members:
            output = self.output(position)
            rows = cut.get(position, [])
            cost = ceil(output.frame + output.priced(rows)) if output is not None else 0
            if output is None or cost >= self._tokens[position]:
                self.coverage.cover(self.coverage.held[position], position)
                continue
            self.coverage.cover(chain.from_iterable(map(output.mentions_of, rows)), position)
            short[position] = ShortenedMessage(cost, tuple(rows))
        return short

    def rows(self, position: int, numbers: Iterable[int]) -> tuple[Row, ...]:
        """Return the places of a message's rows in its text, by their numbers."""
        return tuple(map(self._outputs[position].row, numbers))

    def output(self, position: int) -> Output | None:
        """Return the output of a message if it can be shortened, else None."""
        known = self._outputs.get(position)
        if known is None and position not in self._uncuttable:
            content, tokens = self._history.features[position].content, self._tokens[position]
            if content is None or not content.rows.ends or tokens < LEAST_TO_SHORTEN:
                self._uncuttable.add(position)
                return None
            per_char = tokens / (self._history.chars[position] + 1)
            known = self._outputs[position] = Output(content.rows, self.coverage.held[position], per_char)
        return known


def _saves(cut: Offer, whole: Offer) -> bool:
    """Return whether the shortened form is better, given that both fit."""
    return cut.cost < LEAST_SAVING * whole.cost and cut.rate > whole.rate

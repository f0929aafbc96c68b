"""Takes units by their rate until the room is used up; a unit that does not fit is skipped.

Lazy evaluation: the gain of a unit only falls as others are taken, so the heap holds earlier rates, and only the unit
on top is rated again. Among equal rates the newer unit is taken first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from types import MappingProxyType

from scoring.planning.strategies.foresight.offers import Offer, Offers, ShortenedMessage
from scoring.planning.strategies.foresight.outputs import NOTHING

# An offer is still taken if its rate is below the next by at most this share; this only saves time.
SLACK = 0.02
# Less room than this share, or than these tokens, is not worth a search.
LEAST_ROOM_SHARE, LEAST_ROOM = 0.0005, 4.0

NO_UNITS: Mapping[int, Collection[int]] = MappingProxyType({})


class GreedyChoice:
    """The units taken by a greedy choice.

    `order` are heads in the order in which they were taken, `shortened` the messages that keep only some of their rows,
    by position. `rates` has the last known rate of each unit by head, `left` is the unused room,
    `passed_over` the units that did not fit.
    """

    __slots__ = ("left", "order", "passed_over", "rates", "shortened")

    def __init__(self, room: int) -> None:
        self.left = room
        self.order: list[int] = []
        self.shortened: dict[int, ShortenedMessage] = {}
        self.rates: dict[int, float] = {}
        self.passed_over: set[int] = set()


def take_first(taken: GreedyChoice, offers: Offers, heads: Sequence[int], room: int) -> None:
    """Take units in this order, each in the best form that fits into `room`, which is only for them."""
    for head in heads:
        offer = offers.best(head, min(room, taken.left))
        if offer.cost <= min(room, taken.left):
            take(taken, offers, head, offer)
            room -= offer.cost


def take_best(
    taken: GreedyChoice,
    offers: Offers,
    heads: Sequence[int],
    outdated: Mapping[int, Collection[int]] = NO_UNITS,
) -> None:
    """Choose among units, given by their heads, within the room left; `outdated` ones only after those they map to."""
    offered: dict[int, Offer] = {head: offers.best(head, taken.left) for head in heads}
    heap = [(-offered[head].rate, -head) for head in heads]
    heapify(heap)
    known = dict.fromkeys(heads, 0)
    enough = max(LEAST_ROOM, taken.left * LEAST_ROOM_SHARE)
    waiting = sum([offers.cost(head) for head in heads])
    held = _Held(taken, outdated)
    while heap and taken.left > enough:
        if waiting <= taken.left:
            _take_whole(taken, offers, held.in_order(heap))
            break
        rate, negative = heappop(heap)
        head = -negative
        if held.back(rate, head):
            continue
        offer = offered[head]
        if rate < 0.0 and known[head] != len(taken.order):
            known[head] = len(taken.order)
            offer = offered[head] = offers.again(head, offer, taken.left)
            if heap and offer.rate < -heap[0][0] * (1 - SLACK):
                heappush(heap, (-offer.rate, negative))
                continue
            offer = offered[head] = offers.final(head, offer, taken.left)
        if offer.cost > taken.left:
            cuttable = offer.rows is None and offers.is_cuttable(head)
            smaller = offers.best(head, taken.left) if cuttable else offer
            if smaller.cost > taken.left:
                taken.passed_over.add(head)
                waiting -= offers.cost(head)
                continue
            offered[head] = smaller
            heappush(heap, (-smaller.rate, negative))
            continue
        take(taken, offers, head, offer)
        waiting -= offers.cost(head)
        held.release(head, heap)
    for head in heads:
        taken.rates.setdefault(head, offered[head].rate)
    if taken.left > enough:
        _cut_further(taken, offers)
        taken.left = offers.restore(taken.shortened, taken.left)


class _Held:
    """Holds units of the heap back until all those that they map to are taken."""

    def __init__(self, taken: GreedyChoice, newer: Mapping[int, Collection[int]]) -> None:
        there = frozenset(taken.order)
        self._newer = {head: rest for head, some in newer.items() if (rest := set(some) - there)}
        self._older: dict[int, list[int]] = {}
        for head, rest in self._newer.items():
            for one in rest:
                self._older.setdefault(one, []).append(head)
        self._waiting: dict[int, float] = {}

    def back(self, rate: float, head: int) -> bool:
        """Return whether a unit is held back."""
        if head not in self._newer:
            return False
        self._waiting[head] = rate
        return True

    def release(self, newer: int, heap: list[tuple[float, int]]) -> None:
        """Put back those that were held back until this unit was taken, as the last of theirs."""
        for head in self._older.pop(newer, ()):
            self._newer[head].discard(newer)
            if not self._newer[head]:
                del self._newer[head]
                if head in self._waiting:
                    heappush(heap, (self._waiting.pop(head), -head))

    def in_order(self, heap: Sequence[tuple[float, int]]) -> list[int]:
        """Return the units of the heap in order, then those held back that can be taken beside them, newest first."""
        heads = [-negative for _rate, negative in sorted(heap)]
        free = [head for head in heads if head not in self._newer]
        there = {*free}
        late = {*heads, *self._waiting} - there
        for head in sorted(late, reverse=True):
            if self._newer[head] <= there:
                there.add(head)
                free.append(head)
        return free


def _take_whole(taken: GreedyChoice, offers: Offers, heads: Iterable[int]) -> None:
    for head in heads:
        take(taken, offers, head, offers.whole(head))


def _cut_further(taken: GreedyChoice, offers: Offers) -> None:
    """Take units that were passed over in the forms that fit into the room left, the best rate first."""
    over = [head for head in taken.passed_over if offers.is_cuttable(head)]
    for head in sorted(over, key=lambda head: (-taken.rates[head], -head)):
        offer = offers.best(head, taken.left)
        if offer.cost <= taken.left and offer.gain > NOTHING:
            take(taken, offers, head, offer)
            taken.passed_over.discard(head)


def take(taken: GreedyChoice, offers: Offers, head: int, offer: Offer) -> None:
    """Take a unit in the form of an offer."""
    taken.left -= offer.cost
    taken.rates[head] = offer.rate
    taken.order.append(head)
    taken.shortened.update(offers.take(head, offer))

"""Scores and parts of *Foresight*: how high a unit stood when it was decided on, and what each signal gave.

The score of a unit rises with its rate beside the best rate of the session, so that what has the higher score was
looked at first. Its points are shared out among the signals as their weights and ratings say, where a rating is the
mean over the marks that the unit adds, by their worth. A part is points by weight, 0...1, so that weights times parts
add up to the score, and a signal without weight gives nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scoring.planning.score import HIGHEST, Scores
from scoring.planning.signals import length
from scoring.planning.strategies.foresight.offers import Offers
from scoring.planning.strategies.foresight.worth import SHARPNESS, Ledger

NAMES = ("recency", "role", "keywords", "length", "relevance")


class Points:
    """Works out parts when they are looked at; `rates` are by head."""

    __slots__ = ("_costs", "_head", "_known", "_ledger", "_offers", "_scores", "_top_bonus", "_weights")

    def __init__(
        self, ledger: Ledger, offers: Offers, head: list[int], rates: Mapping[int, float],
        weights: Mapping[str, float], costs: list[int],
    ) -> None:  # fmt: skip
        self._ledger, self._offers, self._head, self._weights, self._costs = (
            ledger,
            offers,
            head,
            weights,
            costs,
        )
        self._top_bonus = max(map(offers.bonus, rates), default=0.0)
        self._scores = self._scored(rates)
        self._known: dict[int, dict[str, float]] = {}

    def scores(self) -> Scores:
        """The columns over all positions."""
        column = [self._scores[head] for head in self._head]
        return Scores(column, {name: _Column(self, name, len(column)) for name in NAMES})

    def part(self, name: str, position: int) -> float:
        """What a signal gave of its weight, 0...1."""
        head = self._head[position]
        parts = self._known.get(head)
        if parts is None:
            parts = self._known[head] = self._parts(head)
        return parts[name]

    def _scored(self, rates: Mapping[int, float]) -> dict[int, float]:
        """100 x (rate beside the best) to the power that takes the sharpening of worth back."""
        top, weights = max(rates.values(), default=0.0), self._weights
        if top <= 0.0:
            return dict.fromkeys(rates, 0.0)
        by_marks = weights["recency"] + weights["role"] + weights["keywords"]
        by_relevance = weights["relevance"] if self._top_bonus else 0.0
        most = min(HIGHEST, by_marks + weights["length"] + by_relevance)
        scores = {head: most * (rate / top) ** (1 / SHARPNESS) for head, rate in rates.items()}
        for (
            head,
            score,
        ) in scores.items():  # a signal that has nothing to rate in a unit gives no points for it
            within = weights["length"] + (by_relevance if self._offers.bonus(head) else 0.0)
            if score > within and not any(True for _ in self._offers.held(head)):
                scores[head] = within
        return scores

    def _parts(self, head: int) -> dict[str, float]:
        """Parts that add up, with their weights, to the score."""
        weights, score = self._weights, self._scores[head]
        ratings = self.ratings(head)
        wanted = {
            name: weights[name] * rating for name, rating in ratings.items() if weights[name] * rating > 0
        }
        parts = dict.fromkeys(NAMES, 0.0)
        while (
            wanted and score > 1e-12
        ):  # who would get more than its weight gets its weight, the others the rest
            share = score / sum(wanted.values())
            full = [name for name in wanted if wanted[name] * share >= weights[name]]
            for name in full or list(wanted):
                parts[name] = 1.0 if full else wanted[name] * share / weights[name]
                score -= weights[name] * parts[name]
                del wanted[name]
        return parts

    def ratings(self, head: int) -> dict[str, float]:
        """The ratings (0...1) of what a unit adds: its marks that nothing else that stays has."""
        ledger, total, sums = self._ledger, 0.0, [0.0, 0.0, 0.0]
        for number in self.own(head) or self._offers.held(head):
            worth = ledger.worth[number]
            total += worth
            for i, rating in enumerate(ledger.ratings(number)):
                sums[i] += worth * rating
        recent, spoken, named = (one / total if total else 0.0 for one in sums)
        bonus = self._offers.bonus(head)
        return {
            "recency": recent, "role": spoken, "keywords": named,
            "length": length.of_unit(self._costs[head], self._weights["length"]),
            "relevance": bonus / self._top_bonus if self._top_bonus else 0.0,
        }  # fmt: skip

    def own(self, head: int) -> list[int]:
        """The marks of a unit that it brought, or that nothing that stays has."""
        holder, of = self._ledger.holder, self._head
        return [n for n in self._offers.held(head) if holder[n] < 0 or of[holder[n]] == head]


class _Column(Sequence[float]):
    """One signal's parts over all positions."""

    __slots__ = ("_name", "_points", "_size")

    def __init__(self, points: Points, name: str, size: int) -> None:
        self._points, self._name, self._size = points, name, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, position: int) -> float:  # type: ignore[override]
        return self._points.part(self._name, range(self._size)[position])

    def __iter__(self) -> Iterator[float]:
        return (self[position] for position in range(self._size))

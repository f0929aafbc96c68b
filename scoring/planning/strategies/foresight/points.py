"""The scores of *Foresight*, and the part of each signal in them.

The score of a unit rises with its rate relative to the best rate of the session, so units with higher scores were
considered first. Its points are divided among the signals by their weights and ratings; a rating is the mean over the
mentions that the unit adds, weighted by their worth. A part is points divided by weight, 0...1, so that the sum of
weights times parts is the score, and a signal without weight gives nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scoring.history import History
from scoring.planning.score import HIGHEST, Scores
from scoring.planning.strategies.foresight.offers import Offers
from scoring.planning.strategies.foresight.worth import SHARPNESS
from scoring.signals import SIGNALS, length, relevance

LENGTH, RELEVANCE = length.SIGNAL.name, relevance.SIGNAL.name


class Points:
    """Computes parts on access; `rates` are by head."""

    def __init__(
        self,
        history: History,
        offers: Offers,
        weights: Mapping[str, float],
        rates: Mapping[int, float],
    ) -> None:
        self._coverage, self._offers, self._weights = offers.coverage, offers, weights
        self._head, self._costs = history.units.head, history.unit_tokens
        self._top_bonus = max(map(offers.bonus, rates), default=0.0)
        self._scores = self._scored(rates)
        self._known: dict[int, dict[str, float]] = {}

    def scores(self) -> Scores:
        """Return the columns over all positions."""
        column = [self._scores[head] for head in self._head]
        return Scores(column, {name: _Column(self, name, len(column)) for name in SIGNALS})

    def part(self, name: str, position: int) -> float:
        """Return a signal's share of its weight, 0...1."""
        head = self._head[position]
        parts = self._known.get(head)
        if parts is None:
            parts = self._known[head] = self._parts(head)
        return parts[name]

    def _scored(self, rates: Mapping[int, float]) -> dict[int, float]:
        """Return 100 x (rate / best rate)^(1 / SHARPNESS), which reverses the sharpening of worth.

        A score is at most the weight of the signals that rate its unit above 0.
        """
        top = max(rates.values(), default=0.0)
        if top <= 0.0:
            return dict.fromkeys(rates, 0.0)
        coverage, by_length = self._coverage, self._weights.get(LENGTH, 0.0)
        by_relevance = self._weights.get(RELEVANCE, 0.0) if self._top_bonus else 0.0
        most = min(HIGHEST, coverage.weight + by_length + by_relevance)
        scores = {head: most * (rate / top) ** (1 / SHARPNESS) for head, rate in rates.items()}
        sure = by_length + coverage.steady_weight
        for head, score in scores.items():
            if score > by_length and (score > sure or not any(True for _ in self._offers.held(head))):
                scores[head] = min(score, sum(self._weights[name] for name in self._wanted(head)))
        return scores

    def _wanted(self, head: int) -> dict[str, float]:
        """Return the weighted rating of a unit by each signal that rates it above 0; no other gives it points."""
        return {
            name: self._weights[name] * rating
            for name, rating in self.ratings(head).items()
            if rating > 0 and self._weights.get(name)
        }

    def _parts(self, head: int) -> dict[str, float]:
        """Return the parts of a unit; their sum, weighted, is its score."""
        weights, score, wanted = self._weights, self._scores[head], self._wanted(head)
        parts = dict.fromkeys(SIGNALS, 0.0)
        # A signal whose share exceeds its weight gets its weight; the others divide the rest.
        while wanted and score > 1e-12:
            share = score / sum(wanted.values())
            full = [name for name in wanted if wanted[name] * share >= weights[name]]
            for name in full or list(wanted):
                parts[name] = 1.0 if full else wanted[name] * share / weights[name]
                score -= weights[name] * parts[name]
                del wanted[name]
        return parts

    def ratings(self, head: int) -> dict[str, float]:
        """Return the ratings (0...1) of what a unit adds: its mentions that no other kept unit has."""
        coverage, total = self._coverage, 0.0
        sums: dict[str, float] = {}
        for number in self.own(head) or self._offers.held(head):
            worth = coverage.worth[number]
            total += worth
            for name, rating in coverage.ratings(number).items():
                sums[name] = sums.get(name, 0.0) + worth * rating
        bonus = self._offers.bonus(head)
        return {
            **{name: one / total if total else 0.0 for name, one in sums.items()},
            LENGTH: length.of_unit(self._costs[head], self._offers.power),
            RELEVANCE: bonus / self._top_bonus if self._top_bonus else 0.0,
        }

    def own(self, head: int) -> list[int]:
        """Return the mentions of a unit that it was taken for, or that no kept unit has."""
        holder, of = self._coverage.holder, self._head
        return [n for n in self._offers.held(head) if holder[n] < 0 or of[holder[n]] == head]


class _Column(Sequence[float]):
    """One signal's parts over all positions."""

    def __init__(self, points: Points, name: str, size: int) -> None:
        self._points, self._name, self._size = points, name, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, position: int) -> float:  # type: ignore[override]
        return self._points.part(self._name, range(self._size)[position])

    def __iter__(self) -> Iterator[float]:
        return (self[position] for position in range(self._size))

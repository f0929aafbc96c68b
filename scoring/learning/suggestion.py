"""Search for weights with a higher retention, and suggest them only if held-out sessions confirm it.

The search is small on purpose: one slider at a time, half or double, then finer, with a price on every move. Its work
is bounded by a count instead of a clock, so that the same sessions always give the same answer. Half of the sessions
are held out of the search and decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import zip_longest
from math import inf, log2, sqrt
from statistics import fmean, stdev

from scoring.learning.labels import Case
from scoring.learning.retention import BUDGETS, by_session, kept_share, mean, retention
from scoring.settings import LIMITS, STRATEGIES, Settings, Table
from scoring.signals import SIGNALS

LEAST_SESSIONS = 3  # in each half: with fewer, chance cannot be ruled out
LEAST_GAIN = 0.5  # points of retention
PRICE = 0.2  # points of retention that doubling or halving one slider has to gain
FACTORS = (2.0, 1.4)  # one round each
# Sets of weights tried: two for each slider and round, and the current weights.
TRIALS = 1 + 2 * len(FACTORS) * len(SIGNALS)
# Messages planned over in all trials, and then in the final comparison: at most 10-20 seconds on a small machine.
SEARCHING, JUDGING = 150_000, 50_000
LEAST_STEP = 1e-9  # points that a trial has to gain; rounding alone changes less
FROM_ZERO = 8.0  # the value tried for a slider at 0

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The outcome of a search for weights. `weights` is None if none are better; `reason` explains the outcome.

    `before` and `after` are the retention of the held-out sessions in percent, with the current weights and with the
    best that were found; None if it was not measured. `held_out_sessions` and `sessions` count the sessions that
    were used, `cases` their contexts.
    """

    weights: dict[str, float] | None
    before: float | None
    after: float | None
    held_out_sessions: int
    sessions: int
    cases: int
    reason: str


def suggest(cases: Sequence[Case], settings: Settings, progress: Progress | None = None) -> Suggestion:
    """Return the suggested weights, if these cases support any. `progress` gets (trials done, most trials)."""
    training, held_out = split(cases)
    training = within(training, SEARCHING // (TRIALS * len(BUDGETS)))
    held_out = within(held_out, JUDGING // (2 * len(BUDGETS)))
    seen = len({case.session for case in training}), len({case.session for case in held_out})
    counts = seen[1], sum(seen), len(training) + len(held_out)
    if not STRATEGIES[settings.strategy].uses_weights:
        why = f"the strategy {settings.strategy.replace('_', ' ')} does not look at weights"
        return Suggestion(None, None, None, *counts, why)
    if min(seen) < LEAST_SESSIONS:
        why = (
            f"too few sessions refer back to what was said before: {sum(seen)}; it takes {2 * LEAST_SESSIONS}"
        )
        return Suggestion(None, None, None, *counts, why)
    found = search(training, settings, progress)
    now = retention(settings, held_out)
    if all(settings.weights.get(name) == weight for name, weight in found.items()):
        why = f"no weights near the present ones keep more in the {seen[0]} sessions that were searched"
        return Suggestion(None, mean(now), None, *counts, why)
    then = retention(replace(settings, weights=Table(**found)), held_out)
    gains = [then[session] - now[session] for session in now]
    gain, error = fmean(gains), stdev(gains) / sqrt(len(gains))
    figures = mean(now), mean(then)
    if gain < LEAST_GAIN or gain <= error:
        why = (
            f"the best weights found change held-out retention by {gain:+.1f} points (standard error {error:.1f}); "
            f"at least {max(LEAST_GAIN, error):.1f} would count"
        )
        return Suggestion(None, *figures, *counts, why)
    why = f"they keep {gain:.1f} points more (standard error {error:.1f}) in {seen[1]} sessions not used to find them"
    return Suggestion(found, *figures, *counts, why)


def split(cases: Sequence[Case]) -> tuple[list[Case], list[Case]]:
    """Return the cases to search in and the held-out ones: sessions alternate, in the order of their hashes."""
    order = sorted({case.session for case in cases}, key=_hash)
    searched = frozenset(order[0::2])
    return [c for c in cases if c.session in searched], [c for c in cases if c.session not in searched]


def within(cases: Sequence[Case], messages: int) -> list[Case]:
    """Return cases with up to `messages` messages in all, at least one: the first of every session, then the second."""
    by_session: dict[str, list[Case]] = {}
    for case in cases:
        by_session.setdefault(case.session, []).append(case)
    rounds = zip_longest(*(by_session[session] for session in sorted(by_session, key=_hash)))
    taken: list[Case] = []
    for case in (one for some in rounds for one in some if one is not None):
        messages -= len(case.history)
        if messages < 0 and taken:
            break
        taken.append(case)
    return taken


def search(cases: Sequence[Case], settings: Settings, progress: Progress | None) -> dict[str, float]:
    """Return the weights with the highest retention in these cases, less the price of the moves to them."""
    trials = _Trials(cases, settings, progress)
    for factor in FACTORS:
        for name in SIGNALS:
            for value in _steps(trials.best[name], factor):
                weights = {**trials.best, name: value}
                if trials.count < TRIALS and sum(weights.values()) > 0 and trials.is_better(weights):
                    break
    return trials.best


class _Trials:
    """Sets of weights tried on the same cases. `best` is the best so far.

    A trial ends as soon as it can no longer become the best, and begins with the cases that cost it most: those of
    which plans with the best weights lose most for their length.
    """

    def __init__(self, cases: Sequence[Case], settings: Settings, progress: Progress | None) -> None:
        """Try the weights of the settings."""
        self._cases, self._settings, self._progress = cases, settings, progress
        counts = Counter(case.session for case in cases)
        # The points of retention that each case is worth.
        self._points = [100.0 / len(counts) / counts[case.session] for case in cases]
        self._order: Sequence[int] = range(len(cases))
        self._known: set[tuple[float, ...]] = set()
        self._start = self.best = {name: settings.weights.get(name, 0.0) for name in SIGNALS}
        self._most = -inf
        self.is_better(self._start)

    @property
    def count(self) -> int:
        """Return the number of sets tried."""
        return len(self._known)

    def is_better(self, weights: dict[str, float]) -> bool:
        """Try weights that were not tried before, and take them as the best if they are."""
        name = tuple(weights.values())
        if name in self._known:
            return False
        worth, shares = self._worth(weights)
        self._known.add(name)
        if self._progress is not None:
            self._progress(self.count, TRIALS)
        if worth <= self._most + LEAST_STEP:
            return False
        self.best, self._most = weights, worth
        self._order = sorted(
            shares, key=lambda n: self._lost(n, shares[n]) / len(self._cases[n].history), reverse=True
        )
        return True

    def _worth(self, weights: Mapping[str, float]) -> tuple[float, dict[int, float]]:
        """Return the retention less the price, and the share of each case that is kept, by its number.

        If the cases planned so far show that it is not above the best, the rest count as kept.
        """
        settings = replace(self._settings, weights=Table(**weights))
        price = PRICE * _distance(self._start, weights)
        shares: dict[int, float] = {}
        most = 100.0 - price
        for n in self._order:
            shares[n] = kept_share(self._cases[n], settings)
            most -= self._lost(n, shares[n])
            if most <= self._most:
                return most, shares
        figures = by_session(self._cases, [shares[n] for n in range(len(self._cases))])
        return mean(figures) - price, shares

    def _lost(self, n: int, share: float) -> float:
        """Return the points of retention that are lost if only this share of a case is kept."""
        return self._points[n] * (1.0 - share)


def _steps(value: float, factor: float) -> Iterator[float]:
    """Yield the two neighbours of a slider's value, as whole points; from 0 the only way is up."""
    limit = LIMITS["weights"]
    if value == 0:
        yield FROM_ZERO
        return
    for other in (float(round(value * factor)), float(round(value / factor))):
        if other != value and limit.minimum <= other <= limit.maximum:
            yield other


def _distance(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the distance between two sets of weights, in doublings of single sliders."""
    return sum(abs(log2((1 + other[name]) / (1 + value))) for name, value in one.items())


def _hash(session: str) -> bytes:
    return blake2b(session.encode("utf-8", "replace"), digest_size=8).digest()

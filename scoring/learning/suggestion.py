"""Search for weights with a higher retention, and suggest them only if held-out sessions confirm it.

The search is small on purpose: one slider at a time, half or double, then finer, with a price on every move. Its work
is bounded by a count instead of a clock, so that the same sessions always give the same answer. Half of the sessions
are held out of the search and decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import zip_longest
from math import log2, sqrt
from statistics import fmean, stdev

from scoring.learning.labels import Case
from scoring.learning.retention import BUDGETS, mean, retention
from scoring.settings import LIMITS, STRATEGIES, Settings, Table
from scoring.signals import SIGNALS

LEAST_SESSIONS = 3  # in each half: with fewer, chance cannot be ruled out
LEAST_GAIN = 0.5  # points of retention
PRICE = 0.2  # points of retention that doubling or halving one slider has to gain
FACTORS = (2.0, 1.4)  # one round each
# Sets of weights tried: two for each slider and round, and the current weights.
TRIALS = 1 + 2 * len(FACTORS) * len(SIGNALS)
# Messages planned over in all trials, and then in the final comparison: 10-20 seconds on a small machine.
SEARCHING, JUDGING = 150_000, 50_000
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
    start = {name: settings.weights.get(name, 0.0) for name in SIGNALS}
    known: dict[tuple[float, ...], float] = {}

    def worth(weights: Mapping[str, float]) -> float:
        name = tuple(weights.values())
        if name not in known:
            figures = retention(replace(settings, weights=Table(**weights)), cases)
            known[name] = mean(figures) - PRICE * _distance(start, weights)
            if progress is not None:
                progress(len(known), TRIALS)
        return known[name]

    best, most = start, worth(start)
    for factor in FACTORS:
        for weights_name in start:
            for value in _steps(best[weights_name], factor):
                weights = {**best, weights_name: value}
                if (
                    len(known) < TRIALS
                    and sum(weights.values()) > 0
                    and (found := worth(weights)) > most + 1e-9
                ):
                    best, most = weights, found
                    break
    return best


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

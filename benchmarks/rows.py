"""The rows that a benchmark prints: each a figure with its unit and, where one was set, its goal."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One measured figure. `goal` is in the same unit; `higher_is_better` is its direction."""

    name: str
    value: float
    unit: str
    goal: float | None = None
    higher_is_better: bool = False

    @property
    def met(self) -> bool | None:
        """Return whether the goal is met, or None if there is no goal."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.higher_is_better else self.value <= self.goal


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value with at least `percent` of all values at or below it."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def elapsed_ms(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes, in milliseconds."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def best_of(runs: int, work: Callable[[], object]) -> float:
    """Return the shortest of `runs` runs in milliseconds, garbage collected before each: the least disturbed one."""
    times = []
    for _ in range(runs):
        gc.collect()
        times.append(elapsed_ms(work))
    return min(times)


def deciding(first: Row, second: Row) -> Row:
    """Return the run of two that is compared with the goal: the better one, because machines are noisy.

    If the goal is 0 faults it is the worse one, because noise causes no faults.
    """
    pick = max if first.higher_is_better or first.goal == 0 else min
    return pick(first, second, key=lambda row: row.value)

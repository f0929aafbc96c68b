"""The rows that a benchmark prints: each a figure with its unit and, where one was set, its goal."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One measured figure. `goal` is in the same unit; `higher_is_better` tells its direction."""

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


def best_of(runs: int, work: Callable[[], object]) -> float:
    """Return the shortest of `runs` runs in milliseconds, garbage collected before each: the least disturbed one."""
    times = []
    for _ in range(runs):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1000)
    return min(times)


def held(first: Row, second: Row) -> Row:
    """Return the one of two runs of a figure that is held against its goal: the better, as the machine is noisy.

    With a goal of 0 faults it is the worse of the two: noise makes no result wrong.
    """
    pick = max if first.higher_is_better or first.goal == 0 else min
    return pick(first, second, key=lambda row: row.value)

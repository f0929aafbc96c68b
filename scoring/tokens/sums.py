"""Sums: reports of usage that add up all calls of a run, where the size of its last call is wanted.

A context is its messages and what is in none of them, such as tools: the same tokens in every call. If reports are
taken for sums, these come out alike for all runs; if they are taken for the size of the last call, they differ by more
than a whole context, because the runs have different numbers of calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

RUNS = 6  # the last ones are looked at
# The tokens outside messages may differ, if reports are sums, by this share of what they differ by otherwise, and must
# then differ by this many contexts. Of 6,570 divisions of real sessions into runs none with true reports passes.
ALIKE, APART = 0.1, 1.0
LESS_THAN_TEXT = 0.1  # a context: the error of an estimate


class Run(NamedTuple):
    """The calls between two reports: the estimated tokens sent in all of them and in the last, and the report."""

    calls: int
    sent: int
    last: int
    reported: int


def unseen_of_sums(runs: Sequence[Run]) -> int | None:
    """Return the tokens of each call that are in no message, if the reports are sums of their runs; None if not."""
    if len(runs) < 2 or max(run.calls for run in runs) < 2:
        return None
    summed = [(run.reported - run.sent) / run.calls for run in runs]
    single = [run.reported - run.last for run in runs]
    context = max(run.last for run in runs) + max(0.0, median(summed))
    apart = max(single) - min(single)
    if apart <= APART * context or max(summed) - min(summed) >= ALIKE * apart:
        return None
    return max(0, round(median(summed))) if min(summed) >= -LESS_THAN_TEXT * context else None


def is_sum(run: Run, unseen: int) -> bool:
    """Return whether a report is nearer to the sum of its run than to its last call; true of a single call."""
    as_sum = abs(run.reported - run.calls * unseen - run.sent)
    return as_sum <= abs(run.reported - unseen - run.last)

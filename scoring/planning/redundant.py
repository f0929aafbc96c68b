"""Outputs that a later message makes redundant: reads that a later read or write of the file supersedes, and repeats.

The stages of a plan clear exactly these first, if the settings enable them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from scoring.history import History
from scoring.planning.protection import protect
from scoring.planning.stages import Staged, run
from scoring.planning.stages.contract import StageInput
from scoring.settings import Settings


@dataclass(frozen=True, slots=True)
class Redundant:
    """The redundant outputs of a context: numbers of superseded reads by file, and of repeats.

    Clearing all of them frees `tokens`.
    """

    tokens: int
    superseded: Mapping[str, int]
    repeated: int


def redundant_outputs(history: History, settings: Settings) -> Redundant:
    """Return the redundant outputs that a plan with these settings may clear; protected messages have none."""
    staged = _staged(history, settings)
    if staged is None:
        return Redundant(0, {}, 0)
    superseded = Counter(staged.files.values())
    repeated = superseded.pop("", 0)
    freed = sum(history.tokens[position] - one.tokens for position, one in staged.shortened.items())
    return Redundant(freed, superseded, repeated)


def superseded_reads(history: History, settings: Settings) -> Collection[tuple[int, int]]:
    """Return the superseded reads that a plan may clear, each by its message and its number among the results there."""
    staged = _staged(history, replace(settings, stage_duplicates=False, stage_superseded=True))
    return staged.files.keys() if staged else ()


def repeated_outputs(history: History, settings: Settings) -> Collection[int]:
    """Return the messages with outputs that come again later, as far as a plan may clear those."""
    staged = _staged(history, replace(settings, stage_duplicates=True, stage_superseded=False))
    return staged.shortened.keys() if staged else ()


def _staged(history: History, settings: Settings) -> Staged | None:
    """Return the outcome of the stages for redundant outputs, as if the plan had to free everything."""
    rules = replace(settings, stage_outputs="off")
    everything = sum(history.tokens)
    kept = protect(history, rules, everything).causes
    free = frozenset(history.units.heads()) - kept.keys()
    return run(StageInput(history, rules, free, kept), everything, lambda _: "whole")

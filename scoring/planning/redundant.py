"""Outputs that a later message makes redundant: reads that a later read or write of the file supersedes, and repeats.

The stages of a plan clear exactly these first, if the settings enable them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from scoring.history import History
from scoring.planning.protection import protect
from scoring.planning.stages import run
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
    rules = replace(settings, stage_outputs="off")
    everything = sum(history.tokens)
    kept = protect(history, rules, everything).causes
    free = frozenset(history.units.heads()) - kept.keys()
    staged = run(history, rules, free, kept, everything, lambda _: "whole")
    if staged is None:
        return Redundant(0, {}, 0)
    superseded = Counter(staged.files.values())
    repeated = superseded.pop("", 0)
    freed = sum(history.tokens[position] - one.tokens for position, one in staged.shortened.items())
    return Redundant(freed, superseded, repeated)

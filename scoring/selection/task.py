"""What a strategy is given and what it answers.

The law: a strategy names units by their heads, keeps or drops whole units from `Task.candidates` only, and what
it keeps costs at most `Task.room`. It may keep a unit shortened: then it says what each shortened message costs
and how its results read. It decides in columns and words its reasons only when asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scoring.history import History
from scoring.messages import Message
from scoring.score import Scores
from scoring.settings import Settings


class Why(NamedTuple):
    """A short stable code to group by, and the reason in words."""

    cause: str
    reason: str


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be chosen from.

    `candidates` are heads of units that may go, in order; `room` is what those kept may cost together;
    `unit_scores` holds the score of each unit at its head. `protected` are the heads of what stays anyway.
    """

    history: History
    settings: Settings
    candidates: Sequence[int]
    room: int
    scores: Scores
    unit_scores: list[float]
    protected: Collection[int]


@dataclass(frozen=True, slots=True)
class Shortening:
    """A message that stays with less of itself: what it then costs, and how to make it from the original."""

    tokens: int
    apply: Callable[[Message], Message]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a strategy decided.

    `kept` are the heads it keeps, in any order, at `tokens` in all. `explain(head)` says why a candidate stays or
    goes. `shortened` maps positions (not heads) to their shortening. A strategy whose signals depend on what
    else is kept answers its own `scores`; others leave them to the task's.
    """

    kept: Collection[int]
    tokens: int
    explain: Callable[[int], Why]
    shortened: Mapping[int, Shortening] = field(default_factory=dict)
    scores: Scores | None = None

"""The contract of a strategy.

The law: a strategy names units by their heads, keeps or drops whole units from `Task.candidates` only, and what
it keeps costs at most `Task.room`. It may keep a unit shortened: then it says what each shortened message costs
and how its results read. It decides in columns and words its reasons only when asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from scoring.history import History, Row, line_hash, outputs_of, shorten, without_changed
from scoring.messages import Message, ToolResult
from scoring.planning.score import Scores, score, unit_scores
from scoring.settings import Settings


class Why(NamedTuple):
    """A short stable code to group by, and the reason in words.

    No reason has a number of tokens: plans count estimates, and pages show calibrated ones beside it.
    """

    cause: str
    reason: str


@dataclass(frozen=True)
class Task:
    """The input of a strategy.

    `candidates` are heads of units that may go, in order; `room` is what those kept may cost together. `protected`
    are the heads of what stays anyway. `guarded` are candidates to keep before all others, shortened or whole, within
    `guarded_room`, in order; `outdated` plans with the head of the plan
    that replaces each: to keep only beside that.
    """

    history: History
    settings: Settings
    candidates: Sequence[int]
    room: int
    protected: Collection[int]
    guarded: Sequence[int] = ()
    guarded_room: int = 0
    outdated: Mapping[int, int] = field(default_factory=dict)

    @cached_property
    def scores(self) -> Scores:
        """Return the sum of the signals for each message; worked out where a strategy asks for it."""
        return score(self.history, self.settings)

    @cached_property
    def unit_scores(self) -> list[float]:
        """Return the score of each unit, at its head."""
        return unit_scores(self.scores.scores, self.history.units.members)


@dataclass(frozen=True, slots=True)
class Shortening:
    """A message that stays with less of itself: what it then costs, and how to make it from the original.

    `rows` are the rows that it is cut to, those that stay longest first, so that it can be cut further; none where
    something else stands in its place. `why` says why it stays like this, where that differs from its unit's reason.
    It is `lasting` where it stays like this though there may be room for the whole in the end. `changed` are the
    hashes of lines that are marked in it because the file they show no longer has them.
    """

    tokens: int
    apply: Callable[[Message], Message]
    rows: Sequence[Row] = ()
    why: Callable[[], Why] | None = None
    lasting: bool = False
    changed: frozenset[int] = frozenset()

    def cut(self, message: Message, rows: Sequence[Row]) -> Message:
        """Return the message cut to these rows."""
        return cut(rows, message, self.changed)


def cut(rows: Sequence[Row], message: Message, changed: frozenset[int] = frozenset()) -> Message:
    """Return the message with its outputs cut to these rows, changed lines marked."""
    return _with_outputs(message, shorten(outputs_of(message), sorted(rows), _is_in(changed)))


def mark_changed(changed: frozenset[int], message: Message) -> Message:
    """Return the message with a mark in place of changed lines of its outputs."""
    is_changed = _is_in(changed)
    return _with_outputs(message, [without_changed(output, is_changed) for output in outputs_of(message)])


def _is_in(changed: frozenset[int]) -> Callable[[str], bool] | None:
    return (lambda line: line_hash(line) in changed) if changed else None


def _with_outputs(message: Message, outputs: Sequence[str]) -> Message:
    short = iter(outputs)
    parts = (replace(p, text=next(short)) if isinstance(p, ToolResult) else p for p in message.parts)
    return replace(message, parts=tuple(parts))


@dataclass(frozen=True, slots=True)
class Cover:
    """Units that one summary is to stand for, by their heads: it may take `tokens` and no more.

    It takes in the summaries that stand already; these take `absorbed` tokens, which are then free.
    """

    heads: frozenset[int]
    tokens: int
    absorbed: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """The decision of a strategy.

    `kept` are the heads it keeps, in any order, at `tokens` in all. `explain(head)` says why a candidate stays or
    goes. `shortened` maps positions (not heads) to their shortening. A strategy that scores answers its `scores`;
    for others the sum of the signals is shown. `cover` has the units that a summary replaces; its tokens, less
    those it absorbs, are among `tokens`.
    """

    kept: Collection[int]
    tokens: int
    explain: Callable[[int], Why]
    shortened: Mapping[int, Shortening] = field(default_factory=dict)
    scores: Scores | None = None
    cover: Cover | None = None

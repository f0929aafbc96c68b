"""The contract of a strategy.

A strategy identifies units by their heads and keeps or drops whole units, only from the `candidates` of its input. What
it keeps costs at most the `room`. It can keep a unit shortened; then it returns a `Shortening` for each shortened
message. It decides in columns and words its reasons only on request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from scoring.history import History, Row, line_hash, outputs_of, shorten, without_changed
from scoring.messages import Message, ToolResult
from scoring.planning.score import Scores, score, unit_scores
from scoring.settings import Settings

# Lines of a message's outputs: the hash of each, and how many lines with that hash are before it.
Changed = frozenset[tuple[int, int]]


class Why(NamedTuple):
    """A short stable code to group by, and the reason in words.

    No reason contains a number of tokens, because plans use estimates and pages show calibrated numbers beside it.
    """

    cause: str
    reason: str


# The reason of a unit that is dropped because one that replaces or answers it goes (`StrategyInput.outdated`).
OUTDATED = Why("outdated", "dropped: something newer that replaces or answers it is dropped, too")


@dataclass(frozen=True)
class StrategyInput:
    """The input of a strategy."""

    history: History
    settings: Settings
    candidates: Sequence[int]
    """The heads of units that can be dropped, in order."""
    room: int
    """The tokens that the candidates that are kept may cost together."""
    protected: Collection[int]
    """The heads of units that stay in any case."""
    guarded: Sequence[int] = ()
    """Candidates to keep before all others, shortened or whole, in this order, within `guarded_room` tokens."""
    guarded_room: int = 0
    outdated: Mapping[int, Collection[int]] = field(default_factory=dict)
    """Older plans, resolved failures, edits that were taken back and answered questions, with the heads of what
    replaces or answers them; they are kept only beside all of those."""
    stays: Sequence[int] = ()
    """A flag for each message that stays; it is final only once the plan is made, so only reasons read it."""

    @cached_property
    def scores(self) -> Scores:
        """Return the sum of the signals for each message, computed on first use."""
        return score(self.history, self.settings)

    @cached_property
    def unit_scores(self) -> list[float]:
        """Return the score of each unit, at its head."""
        return unit_scores(self.scores.scores, self.history.units.members)


def newest_that_fit(heads: Sequence[int], costs: Mapping[int, int] | Sequence[int], room: int) -> list[int]:
    """Return the newest of these units up to the first that does not fit, newest first."""
    kept: list[int] = []
    for head in reversed(heads):
        if costs[head] > room:
            break
        room -= costs[head]
        kept.append(head)
    return kept


@dataclass(frozen=True, slots=True)
class Shortening:
    """A message that is kept shortened: its cost, and how to make it from the original.

    `rows` are the rows that stay, the most valuable first, so that it can be cut further; empty if a text replaces the
    output. `why` returns its own reason, if that differs from the reason of its unit. If it is `lasting`, it stays
    shortened even if there is room for the whole in the end. `changed` are the lines that are marked in it, because the
    file no longer has them.
    """

    tokens: int
    apply: Callable[[Message], Message]
    rows: Sequence[Row] = ()
    why: Callable[[], Why] | None = None
    lasting: bool = False
    changed: Changed = frozenset()


def cut(rows: Sequence[Row], message: Message, changed: Changed = frozenset()) -> Message:
    """Return the message with its outputs cut to these rows, changed lines marked."""
    return _with_outputs(message, shorten(outputs_of(message), sorted(rows), _is_in(changed)))


def mark_changed(changed: Changed, message: Message) -> Message:
    """Return the message with a mark in place of changed lines of its outputs."""
    is_changed = _is_in(changed)
    return _with_outputs(message, [without_changed(output, is_changed) for output in outputs_of(message)])


def _is_in(changed: Changed) -> Callable[[str], bool] | None:
    """Return a function that returns whether the next text line of a message is one of these."""
    if not changed:
        return None
    counts: Counter[int] = Counter()

    def is_changed(line: str) -> bool:
        code = line_hash(line)
        counts[code] += 1
        return (code, counts[code] - 1) in changed

    return is_changed


def _with_outputs(message: Message, outputs: Sequence[str]) -> Message:
    short = iter(outputs)
    parts = (p.with_text(next(short)) if isinstance(p, ToolResult) else p for p in message.parts)
    return replace(message, parts=tuple(parts))


@dataclass(frozen=True, slots=True)
class Cover:
    """Units that one summary will replace, by their heads; the summary takes at most `tokens`.

    Earlier summaries are merged into it, which frees their `absorbed` tokens.
    """

    heads: frozenset[int]
    tokens: int
    absorbed: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The decision of a strategy.

    `kept` are the heads it keeps, in any order. `explain(head)` returns the reason for a candidate. `shortened` maps
    positions (not heads) to their shortening. A strategy that scores returns its `scores`; for others the sum of the
    signals is shown. `cover` has the units that a summary replaces.
    """

    kept: Collection[int]
    explain: Callable[[int], Why]
    shortened: Mapping[int, Shortening] = field(default_factory=dict)
    scores: Scores | None = None
    cover: Cover | None = None

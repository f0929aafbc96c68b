"""The regions of the window and their limits.

`Targets` says how far a context may fill its window; the gauge and the trigger use the same number. `TokenBudget`
divides a fixed total between memory, learnings and history. Tokens are whole numbers, percents 0...100,
fractions 0...1.
"""

from __future__ import annotations

from dataclasses import dataclass

from scoring.errors import Fault, InvalidSettings, shown
from scoring.models import ModelLimits
from scoring.settings import Settings

LEAST_RESERVE = 4_096  # the least that is reserved for an answer, whatever the settings (C5)


@dataclass(frozen=True, slots=True)
class Targets:
    """The limits up to which a context may fill a model's window.

    Utilization is relative to `limit`; above `target` we warn and act; a prune cuts to `aim`.
    """

    limit: int
    target: int
    aim: int


def targets(model: ModelLimits, settings: Settings) -> Targets:
    """Return the limits; the target is the least of a share of the limit, window less reserve, and the user's cap."""
    target = min(
        share_of(model.limit, settings.target_percent), max(0, model.window - settings.response_reserve)
    )
    if settings.cap_tokens is not None:
        target = min(target, settings.cap_tokens)
    aim = share_of(model.limit, settings.aim_percent)
    if aim > target:  # a cap or a reserve below the aim: keep the ratio of the percents
        aim = share_of(target, 100 * settings.aim_percent / settings.target_percent)
    return Targets(model.limit, target, min(aim, target))


def utilization(tokens: int, limit: int) -> float:
    """Return tokens in percent of the limit, with one decimal, not capped at 100; only a full limit is 100 %."""
    if limit <= 0:
        return 0.0
    percent = round(100 * tokens / limit, 1)
    return min(percent, 99.9) if tokens < limit else percent


def usable_tokens(model: ModelLimits, settings: Settings) -> int:
    """Return the most tokens of an assembled context, system prompt and summaries included (C5).

    Raises:
        InvalidSettings: no tokens are left.
    """
    buffer = min(
        settings.compaction_buffer_tokens, share_of(model.window, settings.compaction_buffer_percent)
    )
    reserve = max(settings.response_reserve, LEAST_RESERVE)
    usable = min(model.window - reserve - buffer, model.limit)
    if usable <= 0:
        raise InvalidSettings(
            [Fault("window", f"expected more than {reserve + buffer:,} tokens, got {model.window:,}")]
        )
    return usable


def share_of(tokens: int, percent: float) -> int:
    """Return `percent` of `tokens`, rounded down."""
    return int(tokens * percent / 100 + 1e-9)


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """A total divided: first the reserves, then fractions of the rest; history gets the remainder.

    Raises:
        InvalidSettings: a value is not a number, negative or out of range, the fractions together exceed 1, or the
            reserves exceed the total. Reserves equal to the total are accepted and leave 0.
    """

    total: int
    system_reserve: int = 2_000
    tool_definitions_reserve: int = 2_000
    memory_fraction: float = 0.15
    learnings_fraction: float = 0.05
    fresh_tail_count: int = 16

    def __post_init__(self) -> None:
        faults = [
            Fault(name, f"expected a whole number of 0 or more, got {shown(getattr(self, name))}")
            for name in ("total", "system_reserve", "tool_definitions_reserve", "fresh_tail_count")
            if not _is_count(getattr(self, name))
        ]
        faults += [
            Fault(name, f"expected a fraction from 0 to 1, got {shown(getattr(self, name))}")
            for name in ("memory_fraction", "learnings_fraction")
            if not _is_fraction(getattr(self, name))
        ]
        if not faults:
            faults = self._faults_together()
        if faults:
            raise InvalidSettings(faults)

    def _faults_together(self) -> list[Fault]:
        faults: list[Fault] = []
        fractions = self.memory_fraction + self.learnings_fraction
        if fractions > 1 + 1e-9:
            faults.append(
                Fault("memory_fraction", f"expected at most 1 together with learnings, got {fractions:g}")
            )
        reserves = self.system_reserve + self.tool_definitions_reserve
        if reserves > self.total:
            faults.append(
                Fault(
                    "system_reserve", f"expected reserves of at most {self.total:,} in all, got {reserves:,}"
                )
            )
        return faults

    @property
    def available(self) -> int:
        """Return the tokens left of the total after the reserves."""
        return self.total - self.system_reserve - self.tool_definitions_reserve

    @property
    def memory(self) -> int:
        """Return the most tokens of relevant memory."""
        return share_of(self.available, 100 * self.memory_fraction)

    @property
    def learnings(self) -> int:
        """Return the most tokens of past learnings."""
        return share_of(self.available, 100 * self.learnings_fraction)

    @property
    def history(self) -> int:
        """Return the tokens left for history when memory and learnings use all of theirs."""
        return self.available - self.memory - self.learnings


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_fraction(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1

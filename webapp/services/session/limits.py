"""Limits: the tokens that one session may hold, from its model's row, the window it runs with, and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from scoring.budget import targets, utilization
from scoring.errors import InvalidSettings
from scoring.models import ModelLimits
from scoring.settings import Settings

WindowKind = Literal["table", "own", "reported", "compaction", "marker", "usage", "remembered", "usual"]


@dataclass(frozen=True, slots=True)
class Window:
    """The window that a session runs with, its source, a description of the source, and its date, "" if unknown."""

    tokens: int
    kind: WindowKind
    source: str
    date: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one session, in tokens.

    `limit` is what utilization divides by (X10), `least_gain` the tokens that make an automatic prune worth
    it (X9). `window_kind` is the source of the window, `date` the day on which that was known, "" if unknown. `over` is
    the session's largest call if that is above the limit, else 0.
    """

    model: ModelLimits
    window: int
    limit: int
    output_reserve: int
    target_percent: float
    target_tokens: int
    aim_percent: float
    aim_tokens: int
    least_gain: int
    source: str
    window_kind: WindowKind
    over: int
    date: str

    @property
    def window_assumed(self) -> bool:
        """Return True if the agent or the model may run with another window."""
        return self.window_kind == "usual" or (self.window_kind == "table" and self.model.assumed)


def limits_of(model: ModelLimits, seen: Window | None, settings: Settings, largest: int = 0) -> Limits:
    """Return the limits that follow from a model's row, the window seen in use, if any, and settings.

    `largest` is the largest call so far.
    """
    window, limit = model.window, model.input_limit or model.window
    if seen is not None and (seen.tokens != window or seen.kind == "own"):
        larger = seen.tokens > window or not model.known or seen.kind == "own"
        limit = seen.tokens if larger else min(limit, seen.tokens)
        window = seen.tokens
    found = targets(replace(model, window=window, input_limit=limit), settings)
    target = max(1, found.target)
    aim = min(found.aim, target)
    # A cap lowers the limit. Measured against the full limit, the gain could exceed what a prune to the cap can free.
    least_gain = min(limit, 100 * target / settings.target_percent) * settings.minimum_gain_percent / 100
    return Limits(
        model=model,
        window=window,
        limit=limit,
        output_reserve=min(settings.response_reserve, window),
        target_percent=utilization(target, limit),
        target_tokens=target,
        aim_percent=utilization(aim, limit),
        aim_tokens=aim,
        least_gain=max(1, round(least_gain)),
        source=seen.source if seen is not None else model.source,
        window_kind=seen.kind if seen is not None else "table",
        over=largest if largest > limit else 0,
        date=seen.date if seen is not None else model.date,
    )


def compatible_settings(data: Mapping[str, Any], base: Settings) -> tuple[Settings, list[tuple[str, str]]]:
    """Return `base` changed by those fields of `data` that are valid together, and the others with the reason.

    Overrides that were valid when saved may conflict with common settings that changed since; the rest still applies.
    """
    if not data:
        return base, []
    try:
        return Settings.from_dict(data, base=base), []
    except InvalidSettings:
        settings, left = base, dict(data)
    faults: dict[str, str] = {}
    before = len(left) + 1
    while len(left) < before:  # a field may become valid once another has been applied
        before = len(left)
        for name in [*left]:
            try:
                settings = Settings.from_dict({name: left[name]}, base=settings)
                del left[name]
            except InvalidSettings as error:
                faults[name] = error.faults[0].message
    return settings, [(name, faults[name]) for name in left]

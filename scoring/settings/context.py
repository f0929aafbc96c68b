"""Settings of the assembled context: when a summary is due, what may be spent on what, and presets of these.

What the assembly needs of `scoring.settings.settings.Settings`, which has these fields from here: their names
and defaults stand nowhere else. `ContextSettings.of(settings)` takes them out of it. Units: tokens and messages
are whole numbers, percents are 0...100.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Self

from scoring.errors import InvalidSettings
from scoring.settings.validation import check_settings


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """The fields' defaults are those of S3, S2, M1 and C8.

    A summary is due `max_messages_before_summary` messages or `max_tokens_before_summary` tokens after the last one,
    or `summary_window_percent` of the window, whichever comes first. `summary_percent` of what is available is the
    most one summary may take. `memory_percent` and `learnings_percent` share what the reserves leave; the
    `tool_outputs_*` belong to the strategy of that name. `status_line` shows the one-line status for each turn.
    """

    auto_summarize: bool = False
    max_messages_before_summary: int = 30
    max_tokens_before_summary: int = 128_000
    summary_window_percent: float = 80.0
    min_recent_messages: int = 6
    response_reserve: int = 4_096
    summary_percent: float = 30.0
    summary_words: int = 600
    memory_percent: float = 15.0
    learnings_percent: float = 5.0
    learnings_shown: int = 5
    tool_outputs_keep_turns: int = 2
    tool_outputs_keep_tokens: int = 40_000
    tool_outputs_minimum_gain: int = 20_000
    tool_outputs_exempt: tuple[str, ...] = ()
    status_line: bool = False

    @classmethod
    def of(cls, settings: object) -> ContextSettings:
        """Return the fields that `settings` carries under the same names, defaults for the rest."""
        return cls(**{f.name: getattr(settings, f.name) for f in fields(cls) if hasattr(settings, f.name)})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], base: Self | None = None) -> Self:
        """Return what `data` says on top of `base`.

        Raises:
            InvalidSettings: anything in `data` is unknown, of a wrong type or out of its range; one fault a field.
        """
        base = base or cls()
        values, faults = check_settings(data, {f.name: getattr(base, f.name) for f in fields(base)})
        if faults:
            raise InvalidSettings(faults)
        return replace(base, **values)

    def to_dict(self) -> dict[str, Any]:
        """These settings as JSON-ready data."""
        return {**asdict(self), "tool_outputs_exempt": list(self.tool_outputs_exempt)}


# S10: what each preset sets on top of the defaults.
CONTEXT_PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "Short conversations": {"max_messages_before_summary": 50, "max_tokens_before_summary": 200_000},
        "Long coding sessions": {"max_messages_before_summary": 20, "min_recent_messages": 8},
        "Large tool outputs": {"response_reserve": 8_192, "max_tokens_before_summary": 80_000},
        "Small context models": {
            "max_messages_before_summary": 10,
            "max_tokens_before_summary": 20_000,
            "min_recent_messages": 4,
        },
        "Large context models": {"max_messages_before_summary": 50, "max_tokens_before_summary": 150_000},
    }
)

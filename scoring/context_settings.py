"""Settings of the assembled context: when a summary is due, what may be spent on what, and presets of these.

One frozen value beside `scoring.settings.Settings`; `ContextSettings.of(settings)` takes every field that a larger
value carries under the same name. Units: tokens and messages are whole numbers, percents are 0...100.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from scoring.errors import Fault, InvalidSettings
from scoring.limits import Limit
from scoring.validation import number, shown


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """The fields' defaults are those of SPEC S3, S2, M1 and C8.

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
        """The fields that `settings` carries under the same names, defaults for the rest."""
        return cls(**{f.name: getattr(settings, f.name) for f in fields(cls) if hasattr(settings, f.name)})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], base: ContextSettings | None = None) -> ContextSettings:
        """What `data` says on top of `base`.

        Raises:
            InvalidSettings: anything in `data` is unknown, of a wrong type or out of its range; one fault a field.
        """
        base = base or cls()
        faults: list[Fault] = []
        values = {name: _field(str(name), value, base, faults) for name, value in data.items()}
        if faults:
            raise InvalidSettings(faults)
        return replace(base, **values)

    def to_dict(self) -> dict[str, Any]:
        """These settings as JSON-ready data."""
        return {**asdict(self), "tool_outputs_exempt": list(self.tool_outputs_exempt)}


_TOKENS = Limit(0, 100_000_000, 1_000, whole=True)
_PERCENT = Limit(0, 100, 1)
CONTEXT_LIMITS: Mapping[str, Limit] = MappingProxyType(
    {
        "max_messages_before_summary": Limit(1, 100_000, 1, whole=True),
        "max_tokens_before_summary": Limit(100, 100_000_000, 1_000, whole=True),
        "summary_window_percent": Limit(1, 100, 1),
        "min_recent_messages": Limit(0, 10_000, 1, whole=True),
        "response_reserve": Limit(0, 10_000_000, 256, whole=True),
        "summary_percent": _PERCENT,
        "summary_words": Limit(50, 600, 10, whole=True),
        "memory_percent": _PERCENT,
        "learnings_percent": _PERCENT,
        "learnings_shown": Limit(0, 100, 1, whole=True),
        "tool_outputs_keep_turns": Limit(0, 1_000, 1, whole=True),
        "tool_outputs_keep_tokens": _TOKENS,
        "tool_outputs_minimum_gain": _TOKENS,
    }
)

# SPEC S10: what each preset sets on top of the defaults.
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


def _field(name: str, value: object, base: ContextSettings, faults: list[Fault]) -> Any:
    if name in CONTEXT_LIMITS:
        return number(name, value, CONTEXT_LIMITS[name], faults)
    if name == "tool_outputs_exempt":
        if isinstance(value, list | tuple) and len(value) <= 1_000 and all(isinstance(v, str) for v in value):
            return tuple(value)
        faults.append(Fault(name, f"expected a list of tool names, got {shown(value)}"))
    elif name in ("auto_summarize", "status_line"):
        if isinstance(value, bool):
            return value
        faults.append(Fault(name, f"expected true or false, got {shown(value)}"))
    else:
        known = ", ".join(f.name for f in fields(base))
        faults.append(Fault(name, f"unknown setting; expected one of {known}"))
    return None

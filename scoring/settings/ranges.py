"""The ranges of numbers in the settings: one table for the check and for the sliders of the settings page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Limit:
    """The range of a number in the settings; `step` is for sliders."""

    minimum: float
    maximum: float
    step: float
    whole: bool = False
    optional: bool = False

    def to_dict(self) -> dict[str, float]:
        """Return the range as the settings page needs it."""
        return {"min": self.minimum, "max": self.maximum, "step": self.step}


# Ranges say what is absurd, not what is wise: a window has at most some ten million tokens, a score 100 points.
LIMITS: Mapping[str, Limit] = MappingProxyType(
    {
        "weights": Limit(0, 100, 1),
        "roles": Limit(0, 1, 0.01),
        "keywords.share": Limit(0, 1, 0.01),
        "length_steps.characters": Limit(1, 10_000_000, 100, whole=True),
        "length_steps.rating": Limit(0, 1, 0.05),
        "target_percent": Limit(1, 100, 1),
        "aim_percent": Limit(1, 100, 1),
        "cap_tokens": Limit(1_000, 100_000_000, 1_000, whole=True, optional=True),
        "fresh_tail": Limit(0, 10_000, 1, whole=True),
        "user_words_tokens": Limit(0, 10_000_000, 1_000, whole=True),
        "user_words_percent": Limit(0, 100, 1),
        "user_words_messages_percent": Limit(0, 100, 1),
        "guarded_percent": Limit(0, 100, 1),
        "minimum_gain_percent": Limit(0, 100, 1),
        "response_reserve": Limit(0, 10_000_000, 256, whole=True),
        "compaction_buffer_tokens": Limit(0, 10_000_000, 1_000, whole=True),
        "compaction_buffer_percent": Limit(0, 90, 1),
        "max_messages_before_summary": Limit(1, 100_000, 1, whole=True),
        "max_tokens_before_summary": Limit(100, 100_000_000, 1_000, whole=True),
        "summary_window_percent": Limit(1, 100, 1),
        "min_recent_messages": Limit(0, 10_000, 1, whole=True),
        "summary_percent": Limit(1, 100, 1),  # 0 would leave out the summary and what it replaced
        "summary_words": Limit(50, 600, 10, whole=True),
        "memory_percent": Limit(0, 100, 1),
        "learnings_percent": Limit(0, 100, 1),
        "learnings_shown": Limit(0, 100, 1, whole=True),
        "tool_outputs_keep_turns": Limit(0, 1_000, 1, whole=True),
        "tool_outputs_keep_tokens": Limit(0, 100_000_000, 1_000, whole=True),
        "tool_outputs_minimum_gain": Limit(0, 100_000_000, 1_000, whole=True),
    }
)

"""Scoring and planning, pure: no I/O, no clock, no randomness; the standard library and nothing else.

These are the names that others rely on; everything else is found in the module it belongs to.
"""

from scoring.history import History
from scoring.messages import Message, message
from scoring.plan import PrunePlan, plan_prune
from scoring.settings import DEFAULT_PRESET, PRESETS, Settings
from scoring.tokens import TokenCounter, estimate_message_tokens, estimate_tokens, estimate_tool_tokens
from scoring.units import safe_boundary, turn_starts, units_of

__all__ = [
    "DEFAULT_PRESET",
    "PRESETS",
    "History",
    "Message",
    "PrunePlan",
    "Settings",
    "TokenCounter",
    "estimate_message_tokens",
    "estimate_tokens",
    "estimate_tool_tokens",
    "message",
    "plan_prune",
    "safe_boundary",
    "turn_starts",
    "units_of",
]

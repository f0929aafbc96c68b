"""Scoring and planning, pure: no I/O, no clock, no randomness; only the standard library and a keyword search library.

The names exported here are the public interface.
"""

from scoring.assembly import AssemblyConfig, BuiltContext, Snapshot, build
from scoring.budget import TokenBudget
from scoring.history import History
from scoring.lists import (
    auto_manage_context,
    estimate_message_tokens,
    get_context_stats,
    is_over_budget,
    prune_context,
    safe_boundary,
    score_context_importance,
    summarize_context,
    turn_starts,
    units_of,
)
from scoring.messages import Message
from scoring.models import get_context_limit
from scoring.planning import PrunePlan, plan_prune
from scoring.settings import DEFAULT_PRESET, PRESETS, Settings
from scoring.summary import Summary
from scoring.tokens import TokenCounter, estimate_tokens, estimate_tool_tokens

__all__ = [
    "DEFAULT_PRESET",
    "PRESETS",
    "AssemblyConfig",
    "BuiltContext",
    "History",
    "Message",
    "PrunePlan",
    "Settings",
    "Snapshot",
    "Summary",
    "TokenBudget",
    "TokenCounter",
    "auto_manage_context",
    "build",
    "estimate_message_tokens",
    "estimate_tokens",
    "estimate_tool_tokens",
    "get_context_limit",
    "get_context_stats",
    "is_over_budget",
    "plan_prune",
    "prune_context",
    "safe_boundary",
    "score_context_importance",
    "summarize_context",
    "turn_starts",
    "units_of",
]

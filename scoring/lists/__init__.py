"""Functions that prune, summarise and measure bare message lists in any wire format, outside any store."""

from scoring.lists.functions import (
    auto_manage_context,
    get_context_stats,
    prune_context,
    score_context_importance,
    summarize_context,
)
from scoring.lists.pruning import Pruning, prune
from scoring.lists.wire_objects import (
    estimate_message_tokens,
    is_over_budget,
    safe_boundary,
    turn_starts,
    units_of,
)

__all__ = [
    "Pruning",
    "auto_manage_context",
    "estimate_message_tokens",
    "get_context_stats",
    "is_over_budget",
    "prune",
    "prune_context",
    "safe_boundary",
    "score_context_importance",
    "summarize_context",
    "turn_starts",
    "units_of",
]

"""Budget: the regions of the context window, and the triggers of a summary."""

from scoring.budget.budget import TokenBudget, share_of, targets, usable_tokens, utilization
from scoring.budget.triggers import (
    LEAST_TO_COVER,
    Bar,
    ContextSizes,
    Due,
    available,
    bars,
    status_line,
    summary_due,
)

__all__ = [
    "LEAST_TO_COVER",
    "Bar",
    "ContextSizes",
    "Due",
    "TokenBudget",
    "available",
    "bars",
    "share_of",
    "status_line",
    "summary_due",
    "targets",
    "usable_tokens",
    "utilization",
]

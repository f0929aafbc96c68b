"""Learned weights (X15): labels of what sessions needed, retention of it by plans, and a search for better weights.

Only the weights of the signals are searched, near the current ones. A result counts only if it retains more in
held-out sessions. Nothing here changes a setting.
"""

from scoring.learning.labels import (
    AHEAD,
    LEAST_BEFORE,
    LONGEST,
    LONGEST_JUDGED,
    Case,
    case_at,
    cuts_of,
    judged,
)
from scoring.learning.suggestion import suggest

__all__ = [
    "AHEAD",
    "LEAST_BEFORE",
    "LONGEST",
    "LONGEST_JUDGED",
    "Case",
    "case_at",
    "cuts_of",
    "judged",
    "suggest",
]

"""Learned weights (X15): labels of what sessions needed, the share of it that plans keep, and weights that keep more.

Only the weights of the signals are searched, near the present ones. A result counts only if it keeps more in sessions
that had no part in the search. Nothing here changes a setting.
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
from scoring.learning.retention import mean, retention
from scoring.learning.suggestion import Suggestion, suggest

__all__ = [
    "AHEAD",
    "LEAST_BEFORE",
    "LONGEST",
    "LONGEST_JUDGED",
    "Case",
    "Suggestion",
    "case_at",
    "cuts_of",
    "judged",
    "mean",
    "retention",
    "suggest",
]

"""Learned weights (X15): labels of what sessions needed, retention of it by plans, and a search for better weights.

Only the weights of the signals are searched, near the current ones. A result counts only if it retains more in
held-out sessions. Nothing here changes a setting.

The aftermath (X25) is counted beside that: what was really read, run, met and said again after context was lost.
"""

from scoring.learning.aftermath import STEPS, Aftermath, AftermathCounter, Baseline
from scoring.learning.labels import (
    AHEAD,
    LEAST_BEFORE,
    LONGEST,
    LONGEST_JUDGED,
    Case,
    case_at,
    case_of_judgements,
    cuts_of,
)
from scoring.learning.suggestion import suggest

__all__ = [
    "AHEAD",
    "LEAST_BEFORE",
    "LONGEST",
    "LONGEST_JUDGED",
    "STEPS",
    "Aftermath",
    "AftermathCounter",
    "Baseline",
    "Case",
    "case_at",
    "case_of_judgements",
    "cuts_of",
    "suggest",
]

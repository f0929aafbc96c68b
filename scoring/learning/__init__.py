"""Learned weights (SPEC X15): what sessions turned out to need, how much of it a plan keeps, and whether other
weights would keep more.

Only the five sliders are looked for, near the present ones; what is found counts only if it keeps more in sessions
that had no part in the search. Nothing here changes a setting.
"""

from scoring.learning.labels import Case, case_at, cuts_of, judged
from scoring.learning.retention import mean, retention
from scoring.learning.suggestion import Suggestion, suggest

__all__ = ["Case", "Suggestion", "case_at", "cuts_of", "judged", "mean", "retention", "suggest"]

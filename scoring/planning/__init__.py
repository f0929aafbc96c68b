"""Planning: decides which messages a prune drops or shortens, and why. It changes nothing."""

from scoring.planning.fit import FittedPlan, fit, with_exact_tokens
from scoring.planning.manual_shortening import shortening, with_shortened
from scoring.planning.plan import OverBudget, PrunePlan, plan_prune
from scoring.planning.protection import REASONS, always_tokens
from scoring.planning.redundant import redundant_outputs, repeated_outputs, superseded_reads
from scoring.planning.strategies import Shortening

__all__ = [
    "REASONS",
    "FittedPlan",
    "OverBudget",
    "PrunePlan",
    "Shortening",
    "always_tokens",
    "fit",
    "plan_prune",
    "redundant_outputs",
    "repeated_outputs",
    "shortening",
    "superseded_reads",
    "with_exact_tokens",
    "with_shortened",
]

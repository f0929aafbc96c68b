"""Planning: which messages a prune takes out or shortens, and why. It decides and never acts."""

from scoring.planning.fit import Settled, settle
from scoring.planning.manual_shortening import shortening, with_shortened
from scoring.planning.plan import OverBudget, PrunePlan, plan_prune
from scoring.planning.protection import protect
from scoring.planning.stages import CAUSES
from scoring.planning.strategies import Shortening, Why

__all__ = [
    "CAUSES",
    "OverBudget",
    "PrunePlan",
    "Settled",
    "Shortening",
    "Why",
    "plan_prune",
    "protect",
    "settle",
    "shortening",
    "with_shortened",
]

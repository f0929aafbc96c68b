"""Models: names, families, windows, limits and prices, each with its source and date."""

from scoring.models.families import family_of
from scoring.models.lookup import (
    ModelLimits,
    find_model,
    get_context_limit,
    is_wide,
    known_models,
    largest_call,
    name_at,
    window_above,
    window_to_offer,
    without_marker,
)
from scoring.models.prices import CURRENCY, CallTokens, PruneCost, Spent, context_cost, prune_cost, spent

__all__ = [
    "CURRENCY",
    "CallTokens",
    "ModelLimits",
    "PruneCost",
    "Spent",
    "context_cost",
    "family_of",
    "find_model",
    "get_context_limit",
    "is_wide",
    "known_models",
    "largest_call",
    "name_at",
    "prune_cost",
    "spent",
    "window_above",
    "window_to_offer",
    "without_marker",
]

"""The cost of a context, and the savings and cost of a prune, at list prices in US dollars.

A provider's cache holds the beginning of a context up to the first change since the call before. So a prune costs
once: everything behind the first changed place is written again. From then on each call saves the cached read of what
was taken out. Where a provider has no price for writing to its cache a write costs what input costs; where it has
none for reading, there is no cache. What is not known is None, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from scoring.models.lookup import ModelLimits

CURRENCY = "USD"
PER = 1_000_000  # prices are per so many tokens
DIGITS = 6


@dataclass(frozen=True, slots=True)
class ContextCost:
    """The cost of one call's input: all of it new (`fresh`), and all of it read from the cache (`cached`).

    `at_least` says that the provider charges more than these prices for a context this long.
    """

    fresh: float
    cached: float
    at_least: bool


@dataclass(frozen=True, slots=True)
class PruneCost:
    """The effect of a prune on the bill.

    `saved_per_call` and `rewritten_once` are tokens, `saved_cost` is of each later call, `rewrite_cost` of the next one
    alone. After `break_even_calls` calls it has paid back: 0 where rewriting costs nothing, None where it never does or
    prices are not known.
    """

    saved_per_call: int
    rewritten_once: int
    break_even_calls: int | None
    saved_cost: float | None
    rewrite_cost: float | None
    currency: str = CURRENCY


@dataclass(frozen=True, slots=True)
class CallTokens:
    """The tokens of one call as reported. `cached` (read) and `written` are parts of `input`."""

    input: int
    output: int
    cached: int = 0
    written: int = 0


def context_cost(tokens: int, model: ModelLimits) -> ContextCost | None:
    """Return what a call with a context of `tokens` costs before it answers; None where the price is not known."""
    prices = _prices(model)
    if prices is None:
        return None
    fresh, cached, _ = prices
    dearer = model.dearer_above is not None and tokens > model.dearer_above
    return ContextCost(_dollars(tokens * fresh), _dollars(tokens * cached), dearer)


def prune_cost(saved: int, rewritten: int, model: ModelLimits) -> PruneCost:
    """Return the bill of a prune that takes `saved` tokens out and leaves `rewritten` behind the first change."""
    prices = _prices(model)
    if prices is None or saved <= 0:
        return PruneCost(saved, rewritten, None, None, None)
    _, cached, write = prices
    once, each = rewritten * max(0.0, write - cached), saved * cached
    calls = ceil(once / each) if each > 0 else (0 if once == 0 else None)
    return PruneCost(saved, rewritten, calls, _dollars(each), _dollars(once))


def spent(calls: Iterable[CallTokens], model: ModelLimits) -> float | None:
    """Return what calls have cost at list prices, answers included; None where a price is not known."""
    prices = _prices(model)
    if prices is None or model.output_price is None:
        return None
    fresh, cached, write = prices
    total = 0.0
    for call in calls:
        new = max(0, call.input - call.cached - call.written)
        total += new * fresh + call.cached * cached + call.written * write + call.output * model.output_price
    return _dollars(total)


def _prices(model: ModelLimits) -> tuple[float, float, float] | None:
    """Return (new input, cached read, cache write) in US dollars per million tokens, or None."""
    if model.input_price is None:
        return None
    cached = model.input_price if model.cached_price is None else model.cached_price
    write = model.input_price if model.cache_write_price is None else model.cache_write_price
    return model.input_price, cached, write


def _dollars(token_prices: float) -> float:
    return round(token_prices / PER, DIGITS)

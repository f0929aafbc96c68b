"""The cost of a context, and the savings and cost of a prune, at list prices in US dollars.

A provider's cache holds the prefix of a context that is unchanged since the previous call. So a prune costs something
once: everything after the first change is written to the cache again. If the cache has expired, the next call writes
everything anyway, and pruned it writes less. Each later call saves the cached read of the removed tokens. Writing to a
cache that lives for an hour costs twice the price of input. If a provider has no price for cache writes, a write costs
as much as input; if it has none for cached reads, there is no cache. Unknown values are None, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, prod

from scoring.models.lookup import ModelLimits

CURRENCY = "USD"
PER = 1_000_000  # prices are per so many tokens
DIGITS = 6
HOUR_TIMES = 2
# Prices of a provider's slower services, and of Claude inside the United States, as a share of the standard ones; and
# the names of the standard service. Faster services cost more; how much depends on the model or on a contract.
# A call can have several of these: the shares multiply.
SHARES = {"batch": 0.5, "flex": 0.5, "us": 1.1}
STANDARD = frozenset({"", "standard", "default", "auto"})


@dataclass(frozen=True, slots=True)
class ContextCost:
    """The cost of one call's input: if all of it is new (`fresh`), and if all of it is read from the cache (`cached`).

    `at_least`: the provider charges more than these prices for a context this long.
    """

    fresh: float
    cached: float
    at_least: bool


@dataclass(frozen=True, slots=True)
class PruneCost:
    """The effect of a prune on the bill.

    `saved_per_call` and `rewritten_once` are tokens; `saved_cost` applies to each later call, `rewrite_cost` to the
    next one only. The prune has paid back after `break_even_calls` calls: 0 if rewriting costs nothing, None if it
    never pays back or prices are unknown. `cold`: the cache has expired, so rewriting costs nothing extra.
    `saved_when_cold` is what it saves on the first call that finds the cache expired, None if prices are unknown.
    """

    saved_per_call: int
    rewritten_once: int
    break_even_calls: int | None
    saved_cost: float | None
    rewrite_cost: float | None
    currency: str = CURRENCY
    cold: bool = False
    saved_when_cold: float | None = None


@dataclass(frozen=True, slots=True)
class CallTokens:
    """The tokens of one call as reported.

    `cached` (read) and `written` are parts of `input`, `hour` is the part of `written` that is cached for an hour.
    `answer` is the least that the text of the answer takes, where that is more than reported. `tier` is the
    service that the provider says it gave ("batch", "priority", "batch us"), empty if it says none.
    """

    input: int
    output: int
    cached: int = 0
    written: int = 0
    hour: int = 0
    answer: int = 0
    tier: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """The price of calls. `at_least`: the provider charges more, or only a part of the price is known."""

    amount: float
    at_least: bool


def context_cost(tokens: int, model: ModelLimits) -> ContextCost | None:
    """Return the cost of a call's input of `tokens`; None if the price is unknown."""
    prices = _prices(model)
    if prices is None:
        return None
    fresh, cached, _ = prices
    dearer = model.dearer_above is not None and tokens > model.dearer_above
    return ContextCost(_dollars(tokens * fresh), _dollars(tokens * cached), dearer)


def prune_cost(
    saved: int, rewritten: int, model: ModelLimits, *, hour: bool = False, cold: bool = False
) -> PruneCost:
    """Return the cost of a prune that removes `saved` tokens and leaves `rewritten` tokens after the first change.

    `hour`: the session writes to a cache that lives for an hour. `cold`: the cache has expired.
    """
    prices = _prices(model)
    if prices is None or saved <= 0:
        return PruneCost(saved, rewritten, None, None, None, cold=cold)
    _, cached, write = prices
    write = _hour_price(model) if hour else write
    once, each = 0.0 if cold else rewritten * max(0.0, write - cached), saved * cached
    calls = ceil(once / each) if each > 0 else (0 if once == 0 else None)
    when_cold = _dollars(saved * write)
    return PruneCost(
        saved, rewritten, calls, _dollars(each), _dollars(once), cold=cold, saved_when_cold=when_cold
    )


def spent(calls: Iterable[tuple[CallTokens, ModelLimits]]) -> Spent | None:
    """Return the cost of calls at the list prices of their models, answers included; None if no price is known.

    A call of a slower service (batch, flex) costs half, one inside the United States a tenth more, and one of a faster
    service at least the standard price.
    """
    amounts: list[float] = []
    at_least = False
    for call, model in calls:
        price = _price(call, model)
        dearer = model.dearer_above is not None and call.input > model.dearer_above
        faster = any(name not in STANDARD and name not in SHARES for name in call.tier.split())
        at_least = at_least or price is None or dearer or faster or call.answer > call.output
        amounts += [] if price is None else [price]
    if not amounts and at_least:
        return None
    return Spent(_dollars(sum(amounts)), at_least)


def _price(call: CallTokens, model: ModelLimits) -> float | None:
    """Return the price of one call, in dollars times PER."""
    prices = _prices(model)
    if prices is None or model.output_price is None:
        return None
    fresh, cached, write = prices
    new = max(0, call.input - call.cached - call.written)
    written = (call.written - call.hour) * write + call.hour * _hour_price(model)
    answer = max(call.output, call.answer) * model.output_price
    share = prod(SHARES.get(name, 1) for name in call.tier.split())
    return (new * fresh + call.cached * cached + written + answer) * share


def _hour_price(model: ModelLimits) -> float:
    """Return the price of writing to a cache that lives for an hour: twice that of input, if writing has a price."""
    return (model.input_price or 0.0) * (1.0 if model.cache_write_price is None else HOUR_TIMES)


def _prices(model: ModelLimits) -> tuple[float, float, float] | None:
    """Return (new input, cached read, cache write) in US dollars per million tokens, or None."""
    if model.input_price is None:
        return None
    cached = model.input_price if model.cached_price is None else model.cached_price
    write = model.input_price if model.cache_write_price is None else model.cache_write_price
    return model.input_price, cached, write


def _dollars(token_prices: float) -> float:
    return round(token_prices / PER, DIGITS)

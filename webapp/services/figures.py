"""What a prune does to the bill: the prefix that has to be sent anew, and what every later call saves (SPEC X9)."""

from __future__ import annotations

from math import ceil
from typing import Any

from webapp.services.planning import Made

# Prices of a cached read and a cache write as shares of the input price, where a model's own are not known.
CACHED_SHARE, WRITE_SHARE = 0.1, 1.25
PER = 1_000_000


def cache_figures(made: Made) -> dict[str, Any]:
    """Tokens saved on every next call, tokens rewritten once, and after how many calls that has paid back.

    `rewritten_once` is what follows the first changed place in the context afterwards. Money is in US dollars at list
    price, None where the prices are not known.
    """
    plan, scale, tokens = made.plan, made.scale, made.view.history.tokens
    changed = min((*plan.removed[:1], *plan.shortened[:1]), default=None)
    rewritten = 0
    if changed is not None:
        kept = sum(tokens[i] for i in plan.kept if i > changed)
        short = sum(plan.shortenings[i].tokens for i in plan.shortened if i >= changed)
        rewritten = scale.part(kept + short)
    saved = scale.part(plan.freed)
    model = made.limits.model
    price = model.input_price
    cached = model.cached_price if model.cached_price is not None else (price or 1) * CACHED_SHARE
    write = model.cache_write_price if model.cache_write_price is not None else (price or 1) * WRITE_SHARE
    once, each = rewritten * max(0.0, write - cached), saved * cached
    return {
        "saved_per_call": saved,
        "rewritten_once": rewritten,
        "break_even_calls": ceil(once / each) if each > 0 else None,
        "saved_cost": round(each / PER, 6) if price is not None else None,
        "rewrite_cost": round(once / PER, 6) if price is not None else None,
        "currency": "USD",
    }

"""The effect of a prune on the bill: the prefix that must be sent again, and the savings of every later call (X9)."""

from __future__ import annotations

from scoring.models import PruneCost, prune_cost
from webapp.services.planning.planning import SessionPlan


def cache_figures(planned: SessionPlan) -> PruneCost:
    """Return tokens saved on every later call, tokens rewritten once, and the number of calls until that has paid off.

    `rewritten_once` is what follows the first changed place in the context afterwards, up to the place from which the
    next call writes everything anyway because something has changed there since the last one (X26). Money is in US
    dollars at list price, None where the prices are not known.
    """
    plan, scale, tokens, nos = planned.plan, planned.scale, planned.view.history.tokens, planned.view.nos
    cache = planned.cache
    end = nos[-1] + 1 if nos else 0
    if cache is not None and cache.changed_from:
        end = cache.changed_from
    changed = min((*plan.removed[:1], *plan.shortened[:1]), default=None)
    rewritten = 0
    if changed is not None and nos[changed] < end:
        kept = sum(tokens[i] for i in plan.kept if i > changed and nos[i] < end)
        short = sum(plan.shortenings[i].tokens for i in plan.shortened if i >= changed and nos[i] < end)
        summary = plan.summary.tokens if plan.summary is not None else 0
        rewritten = scale.part(kept + short + summary)
    return prune_cost(
        planned.freed,
        rewritten,
        planned.limits.model,
        hour=planned.cached_for_hour,
        cold=cache is not None and cache.cold,
    )

"""Bills of calls: the cost of those that were sent pruned, beside their cost as the client sent them."""

from __future__ import annotations

from scoring.models import CallTokens, spent
from webapp.agents.records import Usage
from webapp.services.session.session import Session


def bill(session: Session, usage: Usage, *, changed: bool) -> None:
    """Add the cost of a call, and its cost if it had been sent unpruned with the same state of the cache."""
    state = session.state.proxy
    state.calls += 1
    gone = session.unpruned.estimate - session.pruned.estimate if session.unpruned is not None else 0
    full = usage.input_tokens + max(0, round(session.calibration.factor * gone)) * state.applied
    before, state.full = state.full, full
    if not state.applied:
        return
    state.pruned += 1
    warm = usage.cached_tokens > 0 or (changed and before > 0 and not session.cache_is_cold)
    read = min(before, full) if warm else 0
    written = full - read if usage.cache_write_tokens else 0
    real = CallTokens(
        usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cache_write_tokens,
        usage.cache_write_hour_tokens, tier=usage.tier,
    )  # fmt: skip
    hour = written if usage.cache_write_hour_tokens else 0
    other = CallTokens(full, usage.output_tokens, read, written, hour, tier=usage.tier)
    model = session.environment.model(session.row.model)
    paid, unpruned = spent([(real, model)]), spent([(other, model)])
    if paid is not None and unpruned is not None:
        state.paid += paid.amount
        state.unpruned += unpruned.amount

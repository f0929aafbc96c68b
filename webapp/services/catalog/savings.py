"""Savings: the tokens that prunes, summaries and drops kept out of later calls, over all sessions.

A call counts if it was really made with the smaller context: one of a managed session after the operation, or one of
a pruned copy that an agent resumed from. Tokens that were put back count for no call after that. The pruned view of a
followed session alone saves nothing. The tokens by which the context was smaller are counted, at the price of reading
them from the provider's cache: the lowest possible cost. The real outcomes stand beside them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from scoring.models import CURRENCY, context_cost
from webapp.services.catalog.aftermaths import AftermathService
from webapp.services.catalog.answers import Savings
from webapp.services.session.environment import Environment
from webapp.store.savings import SavedRow


class SavingsService:
    """The sum over all sessions."""

    def __init__(self, environment: Environment, aftermaths: AftermathService) -> None:
        self._environment, self._store = environment, environment.store
        self._aftermaths = aftermaths

    def all(self) -> Savings:
        """Return tokens, calls, sessions and money saved so far."""
        with self._store.read():
            rows = self._store.savings.rows()
            _, sessions = self._store.sessions.page(None, 0)
            aftermath = self._aftermaths.totals()
        by_session: dict[int, list[SavedRow]] = {}
        for row in rows:
            by_session.setdefault(row.session, []).append(row)
        out, tokens, calls = 0, 0, 0
        prices: list[float | None] = []
        for some in by_session.values():
            out += max(0, sum(row.freed for row in some if not row.copied))
            saved = _saved_by(some)
            if saved.calls:
                tokens, calls = tokens + saved.tokens, calls + saved.calls
                prices.append(self._price(saved.tokens, some[0].model))
        known = [price for price in prices if price is not None]
        return Savings(
            tokens=tokens,
            calls=calls,
            sessions=len(prices),
            of_sessions=sessions,
            out=out,
            amount=round(sum(known), 6) if known else None,
            at_least=len(known) < len(prices),
            currency=CURRENCY,
            aftermath=aftermath,
        )

    def _price(self, tokens: int, model: str | None) -> float | None:
        cost = context_cost(tokens, self._environment.model(model))
        return None if cost is None else cost.cached


class _Saved(NamedTuple):
    """The calls of a session that were made with a smaller context, and the tokens that they saved together."""

    tokens: int
    calls: int


def _saved_by(rows: Iterable[SavedRow]) -> _Saved:
    """Return the savings of one session.

    A call saves what the operations before it freed, less what came back before it.
    """
    ordered = sorted(rows, key=lambda row: row.calls, reverse=True)
    later = [*(row.calls for row in ordered[1:]), 0]
    freed = tokens = calls = 0
    for row, calls_later in zip(ordered, later, strict=True):
        freed += row.freed
        if freed > 0:
            tokens += freed * (row.calls - calls_later)
            calls += row.calls - calls_later
    return _Saved(tokens, calls)

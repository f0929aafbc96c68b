"""Savings: the tokens that prunes and summaries kept out of later calls, over all sessions.

A call counts if it was really made with the smaller context: one of a managed session after the operation, or one of
a pruned copy that an agent resumed from. The pruned view of a followed session alone saves nothing. The tokens by
which the context was smaller are counted, at the price of reading them from the provider's cache: the lowest possible
cost. The real outcomes stand beside them.
"""

from __future__ import annotations

from scoring.models import CURRENCY, context_cost
from webapp.services.catalog.aftermaths import Aftermaths
from webapp.services.catalog.answers import Savings as SavingsAnswer
from webapp.services.session.environment import Environment
from webapp.store.savings import SavedRow


class Savings:
    """The sum over all sessions."""

    def __init__(self, environment: Environment, aftermaths: Aftermaths) -> None:
        self._environment, self._store = environment, environment.store
        self._aftermaths = aftermaths

    def all(self) -> SavingsAnswer:
        """Return tokens, calls, sessions and money saved so far."""
        with self._store.read():
            rows = self._store.savings.rows()
            _, sessions = self._store.sessions.page(None, 0)
            aftermath = self._aftermaths.totals()
        called = [row for row in rows if row.calls and row.freed > 0]
        calls: dict[int, int] = {}
        for row in called:  # a call after two prunes is one call
            calls[row.session] = max(row.calls, calls.get(row.session, 0))
        prices = [self._price(row) for row in called]
        known = [price for price in prices if price is not None]
        return SavingsAnswer(
            tokens=sum(row.freed * row.calls for row in called),
            calls=sum(calls.values()),
            sessions=len(calls),
            of_sessions=sessions,
            out=sum(row.freed for row in rows if not row.copied),
            amount=round(sum(known), 6) if known else None,
            at_least=len(known) < len(prices),
            currency=CURRENCY,
            aftermath=aftermath,
        )

    def _price(self, row: SavedRow) -> float | None:
        cost = context_cost(row.freed, self._environment.model(row.model))
        return None if cost is None else cost.cached * row.calls

"""Prices: the savings and costs of plans when they were last made, used by every verdict on these sessions (X18).

A price is valid until an operation changes the session, or its settings or limits change. A session that only grew
keeps the earlier price; `version` shows that it is not current. All pages use these prices.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from scoring.settings import Settings
from scoring.verdict import Clearing, Price

SESSIONS_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Basis:
    """Everything that a price depends on, besides the messages that came since."""

    settings: Settings
    limit: int
    target: int
    aim: int
    operations_version: tuple[int, int]
    changed_from: int
    cold: bool


@dataclass(frozen=True, slots=True)
class SessionPrices:
    """The prices of one session at one version."""

    version: int
    basis: Basis
    prune: Price | None
    clear: Clearing | None


class Prices:
    """The known prices of the sessions that were judged last."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, SessionPrices] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, session: int, basis: Basis) -> SessionPrices | None:
        """Return the prices of a session that are valid on this basis; None if none are known."""
        known = self._known.get(session)
        return known if known is not None and known.basis == basis else None

    def remember(self, session: int, known: SessionPrices) -> None:
        """Store the prices of a session, replacing earlier ones."""
        with self._lock:
            self._known[session] = known
            self._known.move_to_end(session)
            while len(self._known) > SESSIONS_KEPT:
                self._known.popitem(last=False)

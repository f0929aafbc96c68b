"""The verdict on a session, computed from its numbers without a plan, and the known prices of plans."""

from __future__ import annotations

from dataclasses import replace

from scoring.verdict import Situation, Verdict, price_needed, verdict_of
from webapp.services.session.answers import Verdict as VerdictAnswer
from webapp.services.session.answers import VerdictAction
from webapp.services.session.prices import Basis, SessionPrices
from webapp.services.session.session import Session


def verdict_for(session: Session, situation: Situation) -> VerdictAnswer:
    """Return the verdict on a session with the prices known so far."""
    priced = price_needed(situation) is None
    if not priced and (known := session.environment.prices.of(session.key, _basis(session, situation))):
        situation = replace(situation, prune=known.prune, clear=known.clear)
        priced = known.version == session.version
    return _answer(verdict_of(situation), session.version, priced)


def remember_prices(session: Session, situation: Situation) -> None:
    """Keep the prices of this situation for every later verdict on the session."""
    known = SessionPrices(session.version, _basis(session, situation), situation.prune, situation.clear)
    session.environment.prices.remember(session.key, known)


def _basis(session: Session, situation: Situation) -> Basis:
    return Basis(
        session.settings, situation.limit, situation.target, situation.aim, session.operations_version,
        session.state.changed_from, session.cache_is_cold,
    )  # fmt: skip


def _answer(verdict: Verdict, version: int, priced: bool) -> VerdictAnswer:
    action = None
    if verdict.action is not None:
        action = VerdictAction(kind=verdict.action, label=verdict.label, max_tokens=verdict.max_tokens)
    return VerdictAnswer(
        kind=verdict.kind,
        text=verdict.text,
        safety=verdict.safety,
        urgency=verdict.urgency,
        action=action,
        version=version,
        priced=priced,
    )

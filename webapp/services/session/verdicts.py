"""The verdict on a session, computed from its numbers without a plan, and the known prices of plans."""

from __future__ import annotations

from dataclasses import replace

from scoring.verdict import SessionFacts, Verdict, price_needed, verdict_of
from webapp.services.session.answers import Verdict as VerdictAnswer
from webapp.services.session.answers import VerdictAction
from webapp.services.session.prices import Basis, SessionPrices
from webapp.services.session.session import Session


def judged(session: Session, facts: SessionFacts) -> VerdictAnswer:
    """Return the verdict on a session with the prices known so far."""
    priced = price_needed(facts) is None
    if not priced and (known := session.environment.prices.of(session.key, _basis(session, facts))):
        facts = replace(facts, prune=known.prune, clear=known.clear)
        priced = known.version == session.version
    return _answer(verdict_of(facts), session.version, priced)


def remember_prices(session: Session, facts: SessionFacts) -> None:
    """Keep the prices in these facts for every later verdict on the session."""
    known = SessionPrices(session.version, _basis(session, facts), facts.prune, facts.clear)
    session.environment.prices.remember(session.key, known)


def _basis(session: Session, facts: SessionFacts) -> Basis:
    return Basis(
        session.settings, facts.limit, facts.target, facts.aim, session.operations_version,
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

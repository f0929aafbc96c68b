"""The verdict on a session, computed from its numbers without a plan, and the known prices of plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from scoring.verdict import Activity as Pace
from scoring.verdict import SessionFacts, Verdict, price_needed, verdict_of
from webapp.services.session.answers import Activity, VerdictAction
from webapp.services.session.answers import Verdict as VerdictAnswer
from webapp.services.session.limits import Limits
from webapp.services.session.prices import Basis, SessionPrices
from webapp.services.session.session import Session

_PACES: Mapping[Activity, Pace] = {
    "working": "live", "waiting": "live", "idle": "resting", "stale": "unused", "ended": "ended",
}  # fmt: skip


DAY_MS = 24 * 3600 * 1000


def facts_of(
    session: Session, limits: Limits, activity: Activity, growth: int | None, *, resumable: bool
) -> SessionFacts:
    """Return the numbers of a session without the prices of a plan; cheap enough for a list of thousands."""
    row = session.row
    is_sub_agent = row.parent_id is not None and row.agent_type != "fork"
    # A sub-agent that is waiting has answered, and gets no further turn.
    pace = "ended" if is_sub_agent and activity != "working" else _PACES[activity]
    return SessionFacts(
        tokens=session.main.tokens if session.main.messages else 0,
        limit=limits.limit,
        target=limits.target_tokens,
        aim=limits.aim_tokens,
        least_gain=limits.least_gain,
        growth=growth,
        calls_per_turn=_calls_per_turn(session),
        activity=pace,
        days_unused=max(1, (session.environment.clock() - row.last_activity_at) // DAY_MS),
        followed=session.agent is not None,
        pruned=session.pruned.tokens,
        resumable=resumable,
        sub_agent=is_sub_agent,
        automatic=session.automatic,
    )


def judged(session: Session, facts: SessionFacts) -> VerdictAnswer:
    """Return the verdict on a session with the prices known so far."""
    priced = price_needed(facts) is None
    if not priced and (known := session.environment.prices.of(session.id, _basis(session, facts))):
        facts = replace(facts, prune=known.prune, clear=known.clear)
        priced = known.version == session.version
    return _answer(verdict_of(facts), session.version, priced)


def remember_prices(session: Session, facts: SessionFacts) -> None:
    """Keep the prices in these facts for every later verdict on the session."""
    known = SessionPrices(session.version, _basis(session, facts), facts.prune, facts.clear)
    session.environment.prices.remember(session.id, known)


def _basis(session: Session, facts: SessionFacts) -> Basis:
    row = session.row
    return Basis(session.settings, facts.limit, facts.target, facts.aim, row.next_operation, row.prunes)


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


def _calls_per_turn(session: Session) -> float:
    """Return how many messages (calls) the agent writes in a turn; at least 1."""
    facts, turns = session.state.facts, session.row.turns
    return max(1.0, (facts.messages - facts.outputs - turns) / turns) if turns else 1.0

"""The verdict on a session: its situation, from its numbers without a plan, and the known prices of plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from scoring.verdict import Activity as Pace
from scoring.verdict import Situation, Verdict, price_needed, verdict_of
from webapp.services.session.activity import activity_of
from webapp.services.session.answers import Activity, VerdictAction
from webapp.services.session.answers import Verdict as VerdictAnswer
from webapp.services.session.labels import why_not_resumed
from webapp.services.session.limits import Limits
from webapp.services.session.prices import Basis, SessionPrices
from webapp.services.session.session import Session

DAY_MS = 24 * 3600 * 1000
_PACES: Mapping[Activity, Pace] = {
    "working": "live", "waiting": "live", "idle": "resting", "stale": "unused", "ended": "ended",
}  # fmt: skip


def situation_of(
    session: Session, limits: Limits | None = None, activity: Activity | None = None
) -> Situation:
    """Return the situation that the verdict on a session is made on, without the prices of a plan.

    It is cheap enough for a list of thousands.
    """
    row, tokens = session.row, session.main.tokens
    limits, activity = limits or session.limits, activity or activity_of(session)
    return Situation(
        tokens=tokens if session.main.messages else 0,
        limit=limits.limit,
        target=limits.target_tokens,
        aim=limits.aim_tokens,
        least_gain=limits.least_gain,
        growth=session.growth_per_turn,
        calls_per_turn=_calls_per_turn(session),
        # A sub-agent that is waiting has answered, and gets no further turn.
        activity="ended" if row.is_sub_agent and activity != "working" else _PACES[activity],
        days_unused=max(1, (session.environment.clock() - row.last_activity_at) // DAY_MS),
        followed=session.agent is not None,
        pruned=session.pruned.tokens,
        reaches_agent=session.state.proxy.reaches_agent,
        resumable=why_not_resumed(row) is None,
        sub_agent=row.is_sub_agent,
        automatic=session.automatic,
        cache_is_warm=session.awaits_cold_cache(tokens),
        emergency=tokens > limits.target_tokens and session.can_be_relieved,
    )


def _calls_per_turn(session: Session) -> float:
    """Return how many messages (calls) the agent writes in a turn; at least 1."""
    counts, turns = session.state.facts, session.row.turns
    return max(1.0, (counts.messages - counts.outputs - turns) / turns) if turns else 1.0


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
        settings=session.settings, limit=situation.limit, target=situation.target, aim=situation.aim,
        operations_version=session.operations_version, changed_from=session.state.changed_from,
        cold=session.cache_is_cold,
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

"""Sessions as answers: the row of the overview, which a session's page shows too."""

from __future__ import annotations

from scoring.budget import utilization
from scoring.counted import counted
from scoring.history import recognise
from scoring.models import largest_call, window_to_offer
from scoring.settings import ANY, AUTO
from webapp.services.session.activity import activity_of
from webapp.services.session.answers import (
    Activity,
    OverLimit,
    Proxied,
    RecognisedType,
    SessionStrategy,
    SessionTaskType,
    State,
)
from webapp.services.session.answers import Session as SessionAnswer
from webapp.services.session.gauges import gauge_of
from webapp.services.session.labels import project_of, shown_title, source_label, why_not_resumed
from webapp.services.session.limits import Limits
from webapp.services.session.proxy_state import is_proxied
from webapp.services.session.session import Session
from webapp.services.session.state import TRAIL_POINTS, SessionState
from webapp.services.session.times import iso
from webapp.services.session.verdicts import situation_of, verdict_for


def session_answer(session: Session) -> SessionAnswer:
    """Return a session as the overview and its page show it."""
    row, state, settings = session.row, session.state, session.settings
    limits = session.limits_with(settings)
    agent = gauge_of(session, session.agent, limits.limit) if session.agent is not None else None
    pruned = gauge_of(session, session.pruned, limits.limit)
    tokens = (agent or pruned).tokens
    activity = activity_of(session)
    situation = situation_of(session, limits, activity)
    return SessionAnswer(
        id=row.id,
        title=shown_title(row),
        source=row.source,
        source_label=source_label(row.source),
        why_not_resumed=why_not_resumed(row),
        kind=row.kind,
        model=row.model,
        model_known=limits.model.known,
        parent_id=row.parent_id,
        agent_type=row.agent_type,
        file=row.path,
        cwd=row.cwd,
        user=state.owner or None,
        host=state.host or None,
        project=project_of(row.cwd),
        kept=state.kept,
        state=state_of(tokens, limits, activity),
        activity=activity,
        window=limits.window,
        input_limit=limits.limit if limits.limit < limits.window else None,
        limit=limits.limit,
        output_reserve=limits.output_reserve,
        target_percent=limits.target_percent,
        target_tokens=limits.target_tokens,
        aim_percent=limits.aim_percent,
        aim_tokens=limits.aim_tokens,
        cap_tokens=settings.cap_tokens,
        limit_source=limits.source,
        limit_date=limits.date or None,
        window_assumed=limits.window_assumed,
        window_kind=limits.window_kind,
        over_limit=_over(limits),
        agent=agent,
        pruned=pruned,
        prunes=row.prunes,
        operations=row.operations,
        messages=row.next_no - 1,
        turns=row.turns,
        created_at=iso(row.created_at),
        last_activity=iso(row.last_activity_at or None),
        automatic=session.automatic,
        cache=cache.answer() if (cache := session.cache) is not None else None,
        proxy=_proxied_answer(session),
        task_type=_task_type_answer(session),
        strategy=SessionStrategy(
            name=settings.strategy,
            own=row.settings.get("strategy"),
            setting=session.environment.settings().strategy,
        ),
        growth_per_turn=situation.growth,
        turns_left=None if situation.activity == "ended" else situation.turns_to_target,
        verdict=verdict_for(session, situation),
        trend=[utilization(size, limits.limit) for size in _trend(session, tokens)],
        notes=_notes_of(session, limits) + _redacted_notes(state) + session.ignored_settings,
        malformed=row.malformed,
        unknown=row.unknown,
        version=row.version,
    )


def _trend(session: Session, now: int) -> list[int]:
    """Return the stored sizes of the main context, with `now` at the end: in a long session not each one is stored."""
    state, unseen = session.state, session.unseen_before(session.row.next_sample)
    stored = state.trail if state.skipped else state.trail[:-1]
    return [*(size + unseen for size in stored), now][-TRAIL_POINTS:] if state.trail else []


def state_of(tokens: int, limits: Limits, activity: Activity) -> State:
    """Return idle, active or warning (B17)."""
    if tokens > limits.target_tokens:
        return "warning"
    return "active" if activity in ("working", "waiting") else "idle"


def _proxied_answer(session: Session) -> Proxied | None:
    """Return the state of a session's calls through the proxy, None if there are none."""
    state = session.state.proxy
    if not is_proxied(session.row.source, state):
        return None
    priced = state.unpruned > 0
    return Proxied(
        prunes=state.prunes,
        applied=state.applied,
        reason=state.reason if state.prunes else "",
        subscription=state.subscription,
        calls=state.calls,
        pruned_calls=state.pruned,
        paid=round(state.paid, 6) if priced else None,
        unpruned=round(state.unpruned, 6) if priced else None,
    )


def _task_type_answer(session: Session) -> SessionTaskType:
    """Return the current task type, who chose it, and what the session looks like."""
    settings, counts = session.settings, session.state.facts
    recognised = recognise(counts)
    own = "task_type" in session.row.settings
    return SessionTaskType(
        name=recognised.name if settings.task_type == AUTO else settings.task_type,
        setting=settings.task_type,
        own=own,
        reason=recognised.reason if settings.task_type == AUTO else _chosen(settings.task_type, own),
        looks_like=RecognisedType(name=recognised.name, reason=recognised.reason),
    )


def _chosen(setting: str, own: bool) -> str:
    if setting == ANY:
        return "this session uses the common settings" if own else "the settings treat all sessions alike"
    return f"{setting} was chosen for {'this session' if own else 'all sessions'}"


def _over(limits: Limits) -> OverLimit | None:
    return OverLimit(tokens=limits.over, offered=window_to_offer(limits.over)) if limits.over else None


def _notes_of(session: Session, limits: Limits) -> list[str]:
    """Return the stored notes, and those on an unknown model and on usage reports set aside as implausible."""
    row, state = session.row, session.state
    notes = list(row.notes)
    if state.set_aside:
        reports = counted(state.set_aside, "usage report")
        why = "and the context holds more; were cached tokens left out, or does the program send other messages?"
        if state.aside_input > largest_call(session.model_row):
            why = "more than any model takes in a call"
        elif state.summed:
            why = "which is the sum of several calls; report the usage of each call, or of the last one"
        notes.append(f"{reports} set aside: the last says {state.aside_input:,} tokens, {why}")
    if row.model and not limits.model.known and limits.window_assumed:
        notes.append(
            f"the model {row.model} is not in the table; a window of {limits.window:,} tokens is assumed"
        )
    return notes


def _redacted_notes(state: SessionState) -> list[str]:
    """Return notes on how many credentials were replaced in the session, by kind."""
    count = sum(state.redacted.values())
    kinds = ", ".join(sorted(state.redacted))
    words = "1 credential was" if count == 1 else f"{count:,} credentials were"
    return [f"{words} redacted before anything was stored: {kinds}"] if count else []

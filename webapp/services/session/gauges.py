"""Answers computed from a session: its gauges, and its row of the overview."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PureWindowsPath

from scoring.budget import utilization
from scoring.counted import counted
from scoring.history import recognise
from scoring.models import largest_call, window_to_offer
from scoring.settings import ANY, AUTO
from scoring.tokens import Certainty, calibration
from scoring.verdict import Activity as Pace
from scoring.verdict import Situation
from webapp.agents import AGENTS
from webapp.services.session.answers import (
    Activity,
    Gauge,
    OverLimit,
    Proxied,
    RecognisedType,
    Region,
    SessionStrategy,
    SessionTaskType,
    State,
)
from webapp.services.session.answers import Session as SessionAnswer
from webapp.services.session.limits import Limits
from webapp.services.session.proxy_state import PROXY, is_proxied
from webapp.services.session.scale import Scale
from webapp.services.session.session import Session, SessionContext
from webapp.services.session.state import TRAIL_POINTS, SessionState
from webapp.services.session.times import iso
from webapp.services.session.verdicts import verdict_for
from webapp.store.sessions import SessionRow

# The order in which the window's regions are drawn.
REGIONS = ("system", "unseen", "tools", "summary", "memory", "user", "assistant", "tool")

# The age of the last activity up to which a session counts as working, as waiting, and as idle.
WORKING_MS = 90 * 1000
WAITING_MS = 30 * 60 * 1000
DAY_MS = IDLE_MS = 24 * 3600 * 1000
_PACES: Mapping[Activity, Pace] = {
    "working": "live", "waiting": "live", "idle": "resting", "stale": "unused", "ended": "ended",
}  # fmt: skip


def gauge_of(session: Session, context: SessionContext, limit: int) -> Gauge:
    """Return the gauge of one context; its regions add up to its tokens."""
    scale = context.scale
    return Gauge(
        tokens=scale.tokens,
        utilization=utilization(scale.tokens, limit),
        certainty=scale.certainty,
        messages=context.messages,
        regions=regions_of(session, scale, context.estimates, scale.tokens),
    )


def regions_of(session: Session, scale: Scale, estimates: Mapping[str, int], tokens: int) -> list[Region]:
    """Return `tokens` divided among the regions by their estimates, in the order in which they are drawn."""
    return in_order(calibration.split(session.calibration, estimates, tokens), scale.of_parts)


def in_order(parts: Mapping[str, int], noted: Certainty) -> list[Region]:
    """Return the regions that take tokens in the order in which they are drawn; none of them is exact."""
    certainty: Certainty = "estimated" if noted == "estimated" else "calibrated"
    names = [name for name in REGIONS if parts.get(name)] + sorted(set(parts) - set(REGIONS))
    return [Region(name=name, tokens=parts[name], certainty=certainty) for name in names]


def _trend(session: Session, now: int) -> list[int]:
    """Return the stored sizes of the main context, with `now` at the end: in a long session not each one is stored."""
    state, unseen = session.state, session.unseen_before(session.row.next_sample)
    stored = state.trail if state.skipped else state.trail[:-1]
    return [*(size + unseen for size in stored), now][-TRAIL_POINTS:] if state.trail else []


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
        proxy=proxied_answer(session),
        task_type=task_type_answer(session),
        strategy=SessionStrategy(
            name=settings.strategy,
            own=row.settings.get("strategy"),
            setting=session.environment.settings().strategy,
        ),
        growth_per_turn=situation.growth,
        turns_left=None if situation.activity == "ended" else situation.turns_to_target,
        verdict=verdict_for(session, situation),
        trend=[utilization(size, limits.limit) for size in _trend(session, tokens)],
        notes=notes_of(session, limits) + redacted_notes(state) + session.ignored_settings,
        malformed=row.malformed,
        unknown=row.unknown,
        version=row.version,
    )


def proxied_answer(session: Session) -> Proxied | None:
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


def redacted_notes(state: SessionState) -> list[str]:
    """Return notes on how many credentials were replaced in the session, by kind."""
    count = sum(state.redacted.values())
    kinds = ", ".join(sorted(state.redacted))
    words = "1 credential was" if count == 1 else f"{count:,} credentials were"
    return [f"{words} redacted before anything was stored: {kinds}"] if count else []


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


def task_type_answer(session: Session) -> SessionTaskType:
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


def shown_title(row: SessionRow) -> str:
    """Return the title; for an untitled sub-agent its agent's own id, for others the session's id."""
    if row.title:
        return row.title
    _, marker, agent = row.id.rpartition("agent-")
    return f"sub-agent {agent}" if marker and agent and row.parent_id else row.id


def why_not_resumed(row: SessionRow) -> str | None:
    """Return why no agent can resume from a copy of a session; None if one can."""
    agent, host = AGENTS.get(row.source), row.state.get("host")
    if host:
        return f"its agent runs on another machine, {host}; export it and resume there"
    if agent is None:
        return "only the session of an agent can be resumed in one; a program asks for its context instead"
    if agent.transcripts is None:
        return f"{agent.label} cannot resume from a copy; export the session instead"
    if row.is_sub_agent:
        return "a sub-agent cannot be resumed by itself; resume its parent session"
    return None


def project_of(cwd: str | None) -> str | None:
    """Return the name of the folder that an agent works in, on whatever system it runs; None if it is unknown."""
    path = (cwd or "").rstrip("/\\")
    return PureWindowsPath(path).name or path or None


def source_label(source: str) -> str:
    """Return the name of a source as pages show it: an agent's label, else the source itself."""
    if (agent := AGENTS.get(source)) is None:
        return {"api": "API", PROXY: "Proxy"}.get(source, source)
    return f"{agent.label} (legacy)" if agent.legacy else agent.label


def state_of(tokens: int, limits: Limits, activity: Activity) -> State:
    """Return idle, active or warning (B17)."""
    if tokens > limits.target_tokens:
        return "warning"
    return "active" if activity in ("working", "waiting") else "idle"


def activity_of(session: Session) -> Activity:
    """Return the agent's activity, judged by the time and role of its last message."""
    row, state = session.row, session.state
    if not row.last_activity_at:
        return "idle"
    age = session.environment.clock() - row.last_activity_at
    if row.source == "import" and age > IDLE_MS:
        return "ended"
    if age > IDLE_MS:
        return "stale"
    at_work = state.last_role in ("user", "tool") or state.tools_open
    if age <= WORKING_MS and at_work:
        return "working"
    return "waiting" if age <= WAITING_MS and not at_work else "idle"


def _over(limits: Limits) -> OverLimit | None:
    return OverLimit(tokens=limits.over, offered=window_to_offer(limits.over)) if limits.over else None


def notes_of(session: Session, limits: Limits) -> list[str]:
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

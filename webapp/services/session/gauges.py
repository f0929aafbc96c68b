"""A session's figures as JSON: its gauges, its row of the overview, its statistics. Reads only what is handed in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoring.tokens import calibration
from webapp.agents import AGENTS
from webapp.services.session.environment import Environment, Limits
from webapp.services.session.state import TRAIL_POINTS, SessionState
from webapp.services.session.task_type import task_type_json
from webapp.services.session.times import iso
from webapp.store.context import AGENT, PRUNED, REGIONS_BESIDE
from webapp.store.sessions import SessionRow

# The order of the window's regions, as they are drawn.
REGIONS = ("system", "unseen", "tools", "summary", "memory", "user", "assistant", "tool")
Totals = dict[int, dict[str, tuple[int, int]]]

# How long a session counts as being worked on, as quiet, as left behind.
WORKING_MS = 90 * 1000
WAITING_MS = 30 * 60 * 1000
IDLE_MS = 24 * 3600 * 1000


def tokens_beside(totals: Totals) -> int:
    """What the pruned view holds besides messages and summaries, in estimated tokens."""
    return sum(totals[PRUNED].get(name, (0, 0))[0] for name in REGIONS_BESIDE)


class Scale:
    """Turns estimated tokens of one view into the tokens that are shown, and back.

    Both are the same until real usage is known; then shown = `offset` + `factor` x estimated.
    """

    def __init__(self, carried: SessionState, totals: Totals, view: int, followed: bool) -> None:
        known = carried.calibration
        self.estimate = sum(tokens for tokens, _ in totals[view].values())
        main = sum(tokens for tokens, _ in totals[AGENT if followed else PRUNED].values())
        shown, self.certainty = calibration.total(known, main)
        self.factor = known.factor if known.known else 1.0
        if main != self.estimate:
            shown = max(0, round(shown - self.factor * (main - self.estimate)))
            self.certainty = "calibrated" if known.known else "estimated"
        self.tokens = shown

    def shown(self, estimate: int) -> int:
        """The size shown for a context of `estimate` estimated tokens."""
        return max(0, round(self.tokens + self.factor * (estimate - self.estimate)))

    def estimated(self, shown: int) -> int:
        """The estimated tokens that are shown as `shown`; 0 when even an empty context is more."""
        return max(0, int(self.estimate + (shown - self.tokens) / self.factor))

    def part(self, estimate: int) -> int:
        """What a part of the context of `estimate` estimated tokens is shown as."""
        return round(self.factor * estimate)


def gauge(carried: SessionState, totals: Totals, view: int, followed: bool, limit: int) -> dict[str, Any]:
    """One gauge; its regions add up to its tokens."""
    scale = Scale(carried, totals, view, followed)
    estimates = {name: tokens for name, (tokens, _) in totals[view].items()}
    return {
        "tokens": scale.tokens,
        "utilization": percent(scale.tokens, limit),
        "certainty": scale.certainty,
        "messages": sum(count for _, count in totals[view].values()),
        "regions": regions(carried, estimates, scale.tokens, scale.certainty),
    }


def regions(
    carried: SessionState, estimates: Mapping[str, int], tokens: int, certainty: str
) -> list[dict[str, Any]]:
    """`tokens` divided among the regions, of which we have estimates, in the order in which they are drawn."""
    parts = calibration.split(carried.calibration, estimates, tokens)
    certain = "estimated" if certainty == "estimated" else "calibrated"
    names = [name for name in REGIONS if parts.get(name)] + sorted(set(parts) - set(REGIONS))
    return [{"name": name, "tokens": parts[name], "certainty": certain} for name in names]


def percent(tokens: int, limit: int) -> float:
    """Percent with one decimal, not capped."""
    return round(100 * tokens / limit, 1) if limit else 0.0


def brief_stats(session: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a session, as `session_json` says them, that the answer to an append has."""
    own = session["pruned"]
    return {
        **{name: own[name] for name in ("tokens", "utilization", "certainty", "messages")},
        "limit": session["limit"],
        "needsPruning": own["tokens"] > session["target_tokens"],
        "state": session["state"],
    }


def session_json(environment: Environment, row: SessionRow, totals: Totals) -> dict[str, Any]:
    """A session as the overview and its page show it."""
    limits = environment.limits(row)
    carried = SessionState.from_dict(row.state)
    agent = gauge(carried, totals, AGENT, True, limits.limit) if row.followed else None
    pruned = gauge(carried, totals, PRUNED, row.followed, limits.limit)
    main = agent or pruned
    activity = activity_of(row, carried, environment.clock())
    growth = growth_per_turn(carried, main["tokens"])
    return {
        "id": row.id,
        "title": shown_title(row),
        "source": row.source,
        "source_label": source_label(row.source),
        "kind": row.kind,
        "model": row.model,
        "model_known": limits.model.known,
        "parent_id": row.parent_id,
        "agent_type": row.agent_type,
        "file": row.path,
        "cwd": row.cwd,
        "state": state_of(main["tokens"], limits, activity),
        "activity": activity,
        "window": limits.window,
        "input_limit": limits.model.input_limit,
        "limit": limits.limit,
        "output_reserve": limits.output_reserve,
        "target_percent": limits.target_percent,
        "target_tokens": limits.target_tokens,
        "aim_percent": limits.aim_percent,
        "aim_tokens": limits.aim_tokens,
        "limit_source": limits.source,
        "limit_date": limits.model.date,
        "agent": agent,
        "pruned": pruned,
        "prunes": row.prunes,
        "operations": row.operations,
        "messages": row.next_no - 1,
        "turns": row.turns,
        "created_at": iso(row.created_at),
        "last_activity": iso(row.last_activity_at or None),
        "automatic": environment.automatic(row),
        "task_type": task_type_json(environment, row),
        "strategy": {
            "name": environment.settings_of(row).strategy,
            "own": row.settings.get("strategy"),
            "setting": environment.settings().strategy,
        },
        "growth_per_turn": growth,
        "turns_left": turns_left(main["tokens"], limits, growth),
        "trend": [percent(t, limits.limit) for t in carried.trail[-TRAIL_POINTS:]],
        "notes": notes_of(row, limits) + environment.left_aside(row),
        "malformed": row.malformed,
        "unknown": row.unknown,
        "version": row.version,
    }


def shown_title(row: SessionRow) -> str:
    """What a session is called: its title, a sub-agent without one by the agent's own id, else the session's id."""
    if row.title:
        return row.title
    _, marker, agent = row.id.rpartition("agent-")
    return f"sub-agent {agent}" if marker and agent and row.parent_id else row.id


def source_label(source: str) -> str:
    """Return the name of a source as pages show it: an agent's label, else the source as it was given."""
    return AGENTS[source].label if source in AGENTS else {"api": "API"}.get(source, source)


def state_of(tokens: int, limits: Limits, activity: str) -> str:
    """idle, active or warning (SPEC B17)."""
    if tokens > limits.target_tokens:
        return "warning"
    return "active" if activity in ("working", "waiting") else "idle"


def activity_of(row: SessionRow, carried: SessionState, now: int) -> str:
    """What the agent seems to be doing, from when it last said something and what that was."""
    if not row.last_activity_at:
        return "idle"
    age = now - row.last_activity_at
    if row.source == "import" and age > IDLE_MS:
        return "ended"
    if age > IDLE_MS:
        return "stale"
    at_work = carried.last_role in ("user", "tool") or carried.tools_open
    if age <= WORKING_MS and at_work:
        return "working"
    return "waiting" if age <= WAITING_MS and not at_work else "idle"


def growth_per_turn(carried: SessionState, tokens: int) -> int | None:
    """Tokens a turn, over the last turns; None before the second one."""
    starts = [*carried.turn_tokens, tokens]
    if len(carried.turn_tokens) < 2:
        return None
    return round((starts[-1] - starts[0]) / len(carried.turn_tokens))


def turns_left(tokens: int, limits: Limits, growth: int | None) -> int | None:
    """Turns until the target is reached at the present growth; None where that cannot be said."""
    if growth is None or growth <= 0:
        return None
    return max(0, (limits.target_tokens - tokens) // growth)


def notes_of(row: SessionRow, limits: Limits) -> list[str]:
    """What somebody who looks at the session should know."""
    notes = list(row.notes)
    if row.model and not limits.model.known and row.window is None:
        notes.append(
            f"the model {row.model} is not in the table; a window of {limits.window:,} tokens is assumed"
        )
    return notes

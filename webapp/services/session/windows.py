"""The window that a session runs with: set by the user, reported by the agent, or known from its other sessions.

Nothing is decided when a message arrives: the facts are stored with the session and its agent, and the window
is derived whenever limits are needed. So the result does not depend on the order of events, and a widened
window can be narrowed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from scoring.models import ModelLimits, is_wide, window_above, without_marker
from webapp.agents import AGENTS
from webapp.services.session.environment import RememberedWindow
from webapp.services.session.limits import Window
from webapp.services.session.state import SessionState
from webapp.services.session.times import day
from webapp.store.sessions import SessionRow


def window_of(
    row: SessionRow,
    state: SessionState,
    model: ModelLimits,
    remembered: Callable[[], Mapping[str, RememberedWindow]],
) -> Window | None:
    """Return the window of a session, None if it is that of its model's row.

    If its largest call does not fit, the next larger known window of the model is used (X10), unless the user has set
    one.
    """
    if state.own_window:
        return Window(state.own_window, "own", "set for this session", day(state.own_window_at))
    if model.own:
        return None
    found = next(_known_windows(row, state, model, remembered), None)
    window = found.tokens if found is not None else model.window
    wider = window_above(state.largest, model, window) if state.largest > min(window, model.limit) else None
    if wider is not None:
        return Window(wider, "usage", f"a call took {state.largest:,} tokens", day(state.largest_at))
    return found


def _known_windows(
    row: SessionRow,
    state: SessionState,
    model: ModelLimits,
    remembered: Callable[[], Mapping[str, RememberedWindow]],
) -> Iterator[Window]:
    """Yield the sources of the window, the most reliable first."""
    if state.compaction_window and state.largest <= state.compaction_window:
        yield Window(
            state.compaction_window,
            "compaction",
            f"the agent compacted by itself at {state.compaction_tokens:,} tokens",
            day(state.compaction_at),
        )
    agent = AGENTS.get(row.source)
    if row.window:
        declared = agent.declared_windows if agent is not None else None
        source = declared.place if declared is not None else "reported by the agent"
        yield Window(row.window, "reported", source, day(row.last_activity_at))
    if is_wide(row.model):
        yield Window(model.window, "marker", "named with the model", day(row.last_activity_at))
    if agent is None:
        return
    if model.known and (known := remembered().get(window_key(row, model))) is not None:
        yield Window(known["window"], "remembered", known["why"], day(known["at"]))
    by_default = agent.usual_window
    usual = by_default and by_default(model, state.agent_version, bool(state.proxy.name))
    if usual and (usual < model.window or not model.known):
        yield Window(usual, "usual", f"assumed: {agent.label} starts with {usual:,} tokens by default")


def window_key(row: SessionRow, model: ModelLimits) -> str:
    """Return the key under which the window of a session's agent with its model is stored.

    A model that nobody lists has a key of its own, although its limits are those of the version before it.
    """
    name = without_marker(row.model or "") if model.assumed else model.name
    return f"{row.source} {name}"

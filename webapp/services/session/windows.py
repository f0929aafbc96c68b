"""The window that a session runs with: what the user says, what the agent tells, what is known of its other sessions.

Nothing is decided when a message arrives: the facts are kept with the session and with its agent, and this is asked
whenever limits are. So a session shows the same whatever came first, and what was widened can be put back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scoring.models import ModelLimits, is_wide, window_above
from webapp.agents import AGENTS
from webapp.services.session.limits import Window
from webapp.services.session.state import SessionState
from webapp.store.sessions import SessionRow

Remembered = Mapping[str, Mapping[str, Any]]


def window_of(
    row: SessionRow, state: SessionState, model: ModelLimits, remembered: Callable[[], Remembered]
) -> Window | None:
    """Return the window of a session, None where it is the one of its model's row.

    A window that its largest call does not fit into gives way to the next one that its model is known to have (X10),
    unless the user has set it.
    """
    if state.own_window:
        return Window(state.own_window, "own", "set for this session")
    if model.own:
        return None
    found = next(_told(row, state, model, remembered), None)
    window = found.tokens if found is not None else model.window
    wider = window_above(state.largest, model, window) if state.largest > min(window, model.limit) else None
    if wider is not None:
        return Window(wider, "usage", f"a call took {state.largest:,} tokens")
    return found


def _told(
    row: SessionRow, state: SessionState, model: ModelLimits, remembered: Callable[[], Remembered]
) -> Iterator[Window]:
    """Yield what tells the window, the surest first."""
    if state.told_window and state.largest <= state.told_window:
        yield Window(
            state.told_window, "compaction", f"the agent compacted by itself at {state.told_at:,} tokens"
        )
    if row.window:
        yield Window(row.window, "reported", "reported by the agent")
    if is_wide(row.model):
        yield Window(model.window, "marker", "named with the model")
    if row.source not in AGENTS or not model.known:
        return
    if (known := remembered().get(window_key(row.source, model))) is not None:
        yield Window(known["window"], "remembered", known["why"])
    usual = AGENTS[row.source].usual_window
    if usual is not None and usual < model.window:
        yield Window(
            usual, "usual", f"assumed: {AGENTS[row.source].label} starts with {usual:,} tokens by default"
        )


def window_key(source: str, model: ModelLimits) -> str:
    """Return the name under which the window of an agent with a model is remembered."""
    return f"{source} {model.name}"

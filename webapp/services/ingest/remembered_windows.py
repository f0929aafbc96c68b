"""Windows that follow from what an agent does, remembered for the session and the user's other ones."""

from __future__ import annotations

from scoring.models import is_wide
from webapp.agents import AGENTS
from webapp.services.session.session import Session
from webapp.services.session.windows import window_key


def remember_compaction(session: Session, tokens: int, at: int) -> None:
    """Remember the window that an agent's own compaction at `tokens` implies, inside the caller's transaction.

    A window that is smaller than a call, or that the model cannot have, is ignored.
    """
    row, state, model = session.row, session.state, session.model_row
    agent = AGENTS.get(row.source)
    implied = agent.window_of_compaction if agent is not None else None
    window = implied(tokens) if implied is not None else None
    if (
        window is None
        or state.largest > window
        or (model.known and window > max(model.window, model.wider or 0))
    ):
        return
    state.compaction_window, state.compaction_tokens, state.compaction_at = window, tokens, at
    if model.known:
        why = f"{AGENTS[row.source].label} compacted another session at {tokens:,} tokens"
        session.environment.remember_window(window_key(row, model), window, why, at)


def remember_marker(session: Session) -> None:
    """Remember that the session's model is named with its wide window, inside the caller's transaction."""
    row, model = session.row, session.environment.model(session.row.model)
    if is_wide(row.model) and row.source in AGENTS and model.known:
        why = "another session names the model with this window"
        key = window_key(row, model)
        session.environment.remember_window(key, model.window, why, row.last_activity_at)

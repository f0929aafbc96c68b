"""Facts that records state about their session, copied into its row."""

from __future__ import annotations

from collections.abc import Iterable

from webapp.agents.records import Entry, Meta, Record
from webapp.services.session.session import Session


def apply_meta(session: Session, records: Iterable[Record]) -> None:
    """Copy what records say about the session into its row; later ones win.

    A change of model clears what was known of the window (X10).
    """
    row = session.row
    for record in records:
        if isinstance(record, Meta):
            row.title = record.title or row.title
            _take_model(session, record.model)
            row.cwd = record.cwd or row.cwd
            row.agent_type = record.agent_type or row.agent_type
            if record.parent != row.id:  # a copy of a sub-agent's file under another name claims this
                row.parent_id = row.parent_id or record.parent
            row.window = row.window if record.window is None else record.window or None
            session.state.inherits = session.state.inherits or record.inherits
        elif isinstance(record, Entry) and record.model and not row.model:
            row.model = record.model


def _take_model(session: Session, model: str | None) -> None:
    row, state = session.row, session.state
    if state.counted_as and model and model != row.model:
        session.change_model(model)
    elif model and row.model and model != row.model:
        row.window = None
        state.model_changed()
    row.model = model or row.model

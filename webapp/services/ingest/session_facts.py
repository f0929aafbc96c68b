"""Facts that records state about their session, copied into its row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from webapp.agents.records import Entry, Meta, Record
from webapp.services.ingest.usage_reports import MOST
from webapp.services.session.session import Session
from webapp.store.sessions import SessionRow

_FACTS = ("title", "model", "cwd", "agent_type")


def without_old_facts(
    records: Sequence[Record], known: Mapping[str, tuple[int, int]], row: SessionRow
) -> list[Record]:
    """Return records in which the facts that were read before say only what the session still lacks.

    `known` has the messages of the log by source id, each a place and a number. Facts were read before if a known entry
    follows them, or if the last entry is known and has messages after it: an older copy of a file must not bring back
    the model or the title of then.
    """
    found, after = list[Record](), -1  # the number of the next entry, 0 for a new one
    numbers = [known.get(r.source_id or "", (0, 0))[1] for r in records if isinstance(r, Entry)]
    is_behind = bool(numbers) and numbers[-1] > 0 and max(numbers) < row.next_no - 1
    for record in reversed(records):
        if isinstance(record, Entry):
            after = numbers.pop()
        elif isinstance(record, Meta) and (after > 0 or (after < 0 and is_behind)):
            has = {name: None for name in _FACTS if getattr(row, name) is not None}
            record = replace(record, window=None, inherits=False, **has)  # type: ignore[arg-type]  # noqa: PLW2901  # all may be None
        found.append(record)
    return found[::-1]


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
            if record.window is not None:
                row.window = record.window if 0 < record.window <= MOST else None
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

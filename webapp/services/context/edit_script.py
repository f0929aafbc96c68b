"""The edit script of a session: the messages that its agent's own process leaves out of a call, or shortens (X27).

It lists the differences of the pruned view from the agent's context, by the keys under which the agent's process
knows messages. A message is dropped only if everything with its key is dropped; a call and its result go together, as
in every prune. Some providers refuse a list that begins with the model, so the rest begins with a message of the
user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from webapp.agents.view import ViewMessage, ViewRow
from webapp.services.context.edits import Edit, EditedRow, EditScript, edits_by_key, script_of
from webapp.services.context.transcript_view import places
from webapp.services.session.session import Session
from webapp.store.context import AGENT, PRUNED

# The keys of a row; none if the agent's process has no message of it.
Keys = Callable[[ViewRow], Sequence[str]]


def edit_script(session: Session, keys_of: Keys) -> EditScript:
    """Return the edit script of a session."""
    rows = (EditedRow(keys_of(row), row.message.role, edit) for row, edit in edited_rows(session))
    return script_of(edits_by_key(rows))


def edited_rows(session: Session) -> Iterator[tuple[ViewRow, Edit]]:
    """Yield the rows of the agent's context, in order, each with its edit, {} for none."""
    store, row = session.environment.store, session.row
    edits: dict[str, Edit] = {}
    summaries: list[str] = []
    for place in places(store, row, PRUNED):
        if not isinstance(place, ViewMessage):
            summaries.append(place.text)
            continue
        for one in place.rows:
            edit = edits[one.id] = _shortened(place)
            if summaries:
                edit["before"], summaries = summaries, []
    for place in places(store, row, AGENT):
        for one in place.rows if isinstance(place, ViewMessage) else ():
            yield one, edits.get(one.id, {"drop": True})


def by_one_key(key_of: Callable[[ViewRow], str | None]) -> Keys:
    """Return the keys of an agent's own process, which knows a row by one key at most."""

    def keys_of(row: ViewRow) -> Sequence[str]:
        key = key_of(row)
        return () if key is None else (key,)

    return keys_of


def _shortened(message: ViewMessage) -> Edit:
    """Return the replacements of outputs: by call, and for a message with a single output by message."""
    if not message.results:
        return {}
    edit: Edit = {"outputs": dict(message.results)}
    if len(edit["outputs"]) == 1:
        [edit["output"]] = edit["outputs"].values()
    return edit

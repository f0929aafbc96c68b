"""Writes the edit scripts that the proxy applies, for the sessions that are switched on.

They are the scripts of the agents' own extensions, with the keys by which the proxy knows messages. If the transcript
of a session is followed, its edits are by the rows, which the proxy finds in the next request. A script is written on a
separate thread when an operation has changed what is sent; a later message only moves the `tail` of a script with keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from webapp.agents.hook_runtime import hints
from webapp.agents.view import ViewRow
from webapp.events import (
    ContextPruned,
    ContextRestored,
    ContextSummarized,
    Event,
    MessagesAppended,
    OperationUndone,
    SessionDeleted,
    SessionUpdated,
)
from webapp.services.context.edit_script import edit_script, edited_rows
from webapp.services.context.edits import Edit, EditScript, script_of
from webapp.services.proxied.followed import FollowedCalls
from webapp.services.proxied.keys import without_repetition
from webapp.services.proxied.names import names_of
from webapp.services.proxied.request_contents import TranscriptRow
from webapp.services.session.environment import Environment
from webapp.services.session.proxy_state import ID_PREFIX, PROXY
from webapp.services.session.session import Session
from webapp.services.session.session_worker import SessionWorker

_CHANGES = (
    ContextPruned,
    ContextRestored,
    ContextSummarized,
    MessagesAppended,  # moves the tail of a session of the proxy's own
    OperationUndone,
    SessionDeleted,
    SessionUpdated,
)
# The operations, the switch, the name and the tail that a file was written of.
_Written = tuple[tuple[int, int], bool, str, str]


def keys_of(row: ViewRow) -> Sequence[str]:
    """Return the key by which the proxy knows a row's message."""
    return (without_repetition(row.id),)


class ProxyScripts:
    """Writes the scripts as sessions change."""

    def __init__(self, environment: Environment, followed: FollowedCalls) -> None:
        self._environment, self._store, self._followed = environment, environment.store, followed
        # By session: the scripts by keys, with the operations that they were made from; and what files were written of.
        self._made: dict[str, tuple[tuple[int, int], EditScript]] = {}
        self._written: dict[str, _Written] = {}
        self._worker = SessionWorker("proxy-scripts", self.write)
        self._unsubscribe = environment.bus.subscribe(self._on_event)

    def write(self, session_id: str) -> None:
        """Write the script of a session, if it is or was switched on."""
        folder = hints.proxy_folder()
        if (row := self._store.sessions.live(session_id)) is None:
            self._forget(session_id, folder)
            return
        session = Session.of(self._environment, row)
        state, is_own = session.state.proxy, row.source == PROXY
        if not (name := session_id if is_own else state.name):
            return
        if not (state.prunes or session_id in self._written or hints.read(name, hints.EDITS, folder)):
            return
        tail = without_repetition(row.tail_hash) if is_own else ""
        written = session.operations_version, state.prunes, name, tail
        if written == self._written.get(session_id):
            return
        script = self._script(session) if is_own else self._script_by_rows(session)
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        at = list(session.operations_version)
        about = {"prunes": state.prunes, "session": name, "tail": tail, "at": at}
        if hints.write(name, hints.EDITS, {**script, **about}, folder):
            self._written[session_id] = written

    def _script(self, session: Session) -> EditScript:
        """Return the script of a session of the proxy's own."""
        at, known = session.operations_version, self._made.get(session.id)
        if known is None or known[0] != at:
            with self._store.read():
                known = at, edit_script(Session.load(self._environment, session.id), keys_of)
            self._made[session.id] = known
        return known[1]

    def _script_by_rows(self, session: Session) -> dict[str, object]:
        """Return the script of a session whose transcript is followed: the edits by its rows, and if any these."""
        rows, edits = list[dict[str, object]](), dict[str, Edit]()
        with self._store.read():
            for row, edit in edited_rows(Session.load(self._environment, session.id)):
                rows.append(TranscriptRow.of(row.message, row.id).to_dict())
                if edit:
                    edits[row.id] = edit
        return {**script_of(edits), "rows": rows if edits else []}

    def _forget(self, session_id: str, folder: str) -> None:
        """Remove the scripts of a deleted session; a name that its transcript's session has now keeps them."""
        self._made.pop(session_id, None)
        self._written.pop(session_id, None)
        for name in (session_id, *names_of(session_id)):
            heir = self._followed.followed(name)
            if heir is None or heir.deleted_at is not None:
                for kind in (hints.EDITS, hints.ACTIVE):
                    hints.remove(name, kind, folder)

    def close(self) -> None:
        """Stop writing."""
        self._unsubscribe()
        self._worker.close()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, _CHANGES) and (
            not isinstance(event, MessagesAppended) or event.session_id.startswith(ID_PREFIX)
        ):
            self._worker.put(event.session_id)

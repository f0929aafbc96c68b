"""Writes the edit scripts that the proxy applies, for the sessions that are switched on.

They are the scripts of the agents' own extensions, with the keys by which the proxy knows messages. One is
written on a separate thread when an operation has changed what is sent; a later message only moves the
script's `tail`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from webapp.services.context.edit_script import EditScript, Keys, edit_script, script_of
from webapp.services.proxied.followed import FollowedCalls
from webapp.services.proxied.keys import without_repetition
from webapp.services.proxied.names import names_of
from webapp.services.session.environment import Environment
from webapp.services.session.proxy_state import ID_PREFIX
from webapp.services.session.session import Session
from webapp.services.session.session_worker import SessionWorker

_CHANGES = (
    ContextPruned,
    ContextRestored,
    ContextSummarized,
    MessagesAppended,
    OperationUndone,
    SessionDeleted,
    SessionUpdated,
)
# The kinds of operations that put messages back.
_PUTS_BACK = ("restore", "expand")
# The operations that a script is made from, and those at the last call, which gives a transcript's messages their keys.
_At = tuple[tuple[int, int], tuple[int, int] | None]


def keys_of(row: ViewRow) -> Sequence[str]:
    """Return the key by which the proxy knows a row's message."""
    return (without_repetition(row.id),)


class ProxyScripts:
    """Writes the scripts as sessions change."""

    def __init__(self, environment: Environment, followed: FollowedCalls) -> None:
        self._environment, self._store, self._followed = environment, environment.store, followed
        self._made: dict[str, tuple[_At, EditScript]] = {}
        self._worker = SessionWorker("proxy-scripts", self.write)
        self._unsubscribe = environment.bus.subscribe(self._on_event)

    def write(self, session_id: str) -> None:
        """Write the script of a session, if it is or was switched on."""
        folder = hints.proxy_folder()
        if (row := self._store.sessions.live(session_id)) is None:
            self._forget(session_id, folder)
            return
        session = Session.of(self._environment, row)
        name = session.state.proxy.name or session_id
        known = self._made.get(session_id)
        prunes = session.state.proxy.prunes
        if not prunes and known is None and not hints.read(name, hints.EDITS, folder):
            return
        made = self._followed_script(session, name) if session.state.proxy.name else self._own_script(session)
        if made is None:
            return
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        at = list(session.operations_version)
        hints.write(name, hints.EDITS, {**made, "prunes": prunes, "session": name, "at": at}, folder)

    def _own_script(self, session: Session) -> dict[str, object]:
        """Return the script of a session that the proxy knows by its own keys."""
        tail = without_repetition(session.row.tail_hash)
        return {**self._script(session, None, lambda _: keys_of), "tail": tail}

    def _followed_script(self, session: Session, name: str) -> dict[str, object] | None:
        """Return the script of a session whose transcript is followed.

        Until a call of it has come since the start of the server, its messages have no keys: the script as it is,
        without edits once something was put back. The first call after an operation can have messages that the one
        before it had not.
        """
        link = self._followed.link(session.id)
        call = link.last if link is not None else None
        if call is None:
            script = hints.read(name, hints.EDITS, hints.proxy_folder())
            is_older = bool(script) and self._was_put_back(session, script.get("at"))
            return {**script, **script_of({})} if is_older else script or None

        def find_keys(session: Session) -> Keys:
            keys = self._followed.keys(session, call)
            return lambda row: keys.get(row.id, ())

        return {**self._script(session, call.operations, find_keys), "tail": call.keys[-1]}

    def _was_put_back(self, session: Session, at: object) -> bool:
        """Return whether messages came back into the context since the operations that a script was made from."""
        next_operation, undos = session.operations_version
        if not isinstance(at, list) or [type(one) for one in at] != [int, int]:
            return True
        if at[1] != undos or not 0 <= at[0] <= next_operation:
            return True
        later = self._store.operations.live_since(session.key, at[0])
        return any(operation.kind in _PUTS_BACK for operation in later)

    def _script(
        self, session: Session, called_at: tuple[int, int] | None, find_keys: Callable[[Session], Keys]
    ) -> EditScript:
        at, known = (session.operations_version, called_at), self._made.get(session.id)
        if known is None or known[0] != at:
            with self._store.read():
                now = Session.load(self._environment, session.id)
                known = at, edit_script(now, find_keys(now))
            self._made[session.id] = known
        return known[1]

    def _forget(self, session_id: str, folder: str) -> None:
        """Remove the scripts of a deleted session; a name that its transcript's session has now keeps them."""
        self._made.pop(session_id, None)
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
        if isinstance(event, _CHANGES) and self._concerns(event.session_id):
            self._worker.put(event.session_id)

    def _concerns(self, session_id: str) -> bool:
        """Return whether calls of a session go through the proxy, or did so before the server was started."""
        if session_id.startswith(ID_PREFIX) or self._followed.link(session_id) is not None:
            return True
        folder = hints.proxy_folder()
        return Path(folder).is_dir() and any(
            Path(hints.path(name, hints.EDITS, folder)).exists() for name in names_of(session_id)
        )

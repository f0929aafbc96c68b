"""Writes the edit scripts that the proxy applies, for the sessions that are switched on.

They are the scripts of the agents' own extensions, with the keys by which the proxy knows messages. One is
written on a separate thread when an operation has changed what is sent; a later message only moves the
script's `tail`.
"""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

from webapp.agents.beside import hints
from webapp.agents.view import ViewRow
from webapp.errors import CoppiceError
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
from webapp.services.proxied.calls import AGAIN
from webapp.services.reaching.edit_script import edit_script
from webapp.services.session.environment import Environment
from webapp.services.session.proxy import ID_PREFIX
from webapp.services.session.session import Session

log = logging.getLogger(__name__)

_CHANGES = (
    ContextPruned,
    ContextRestored,
    ContextSummarized,
    MessagesAppended,
    OperationUndone,
    SessionDeleted,
    SessionUpdated,
)


def key_of(row: ViewRow) -> str:
    """Return the key by which the proxy knows a row's message."""
    return row.id.partition(AGAIN)[0]


class ProxyScripts:
    """Writes the scripts as sessions change."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._store = environment, environment.store
        self._changed: dict[str, None] = {}
        self._made: dict[str, tuple[int, dict[str, Any]]] = {}
        self._wake, self._closed, self._busy = threading.Condition(), False, False
        self._thread: threading.Thread | None = None
        self._unsubscribe = environment.bus.subscribe(self._heard)

    def write(self, session_id: str) -> None:
        """Write the script of a session, if it is or was switched on."""
        folder = hints.proxy_folder()
        row = self._store.sessions.find(session_id)
        if row is None or row.deleted_at is not None:
            self._made.pop(session_id, None)
            for kind in (hints.EDITS, hints.ACTIVE):
                Path(hints.path(session_id, kind, folder)).unlink(missing_ok=True)
            return
        session = Session.of(self._environment, row)
        known = self._made.get(session_id)
        prunes = session.state.proxy.prunes
        if not prunes and known is None and not hints.read(session_id, hints.EDITS, folder):
            return
        if known is None or known[0] != row.next_operation:
            with self._store.read():
                session = Session.load(self._environment, session_id)
                known = session.row.next_operation, edit_script(session, key_of)
            self._made[session_id] = known
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        tail = (row.tail_hash or "").partition(AGAIN)[0]
        script = {**known[1], "prunes": prunes, "session": session_id, "tail": tail}
        hints.write(session_id, hints.EDITS, script, folder)

    def drained(self, seconds: float) -> bool:
        """Wait until every change is written; return False if that takes longer."""
        with self._wake:
            return self._wake.wait_for(lambda: not self._changed and not self._busy, seconds)

    def close(self) -> None:
        """Stop writing."""
        self._unsubscribe()
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _heard(self, event: Event) -> None:
        if not isinstance(event, _CHANGES) or not event.session_id.startswith(ID_PREFIX):
            return
        with self._wake:
            if self._closed:
                return
            self._changed[event.session_id] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="proxy-scripts", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._busy = False
                self._wake.notify_all()
                self._wake.wait_for(lambda: self._changed or self._closed)
                if self._closed:
                    return
                session_id = next(iter(self._changed))
                del self._changed[session_id]
                self._busy = True
            try:
                self.write(session_id)
            except CoppiceError as error:
                log.info("no edit script for %s: %s", session_id, error)
            except Exception:
                log.exception("an edit script failed")

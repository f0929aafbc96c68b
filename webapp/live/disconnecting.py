"""Disconnects pages that do not answer, lag too far behind or may not look any more.

They come back for what they missed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress

from engineio.exceptions import SocketIsClosedError
from socketio import Server

from webapp.access.gate import IDENTITY, Gate
from webapp.access.identity import Identity

log = logging.getLogger("coppice.live")
# Messages that may wait for one client before it is disconnected.
LAG_LIMIT = 500


def disconnect_silent(server: Server) -> None:
    """Disconnect the pages that no longer answer pings, and forget those that have disconnected."""
    for sid, client in list(server.eio.sockets.items()):
        if client.closed:
            server.eio.sockets.pop(sid, None)
        elif not client.closing:
            with suppress(SocketIsClosedError):  # it disconnected meanwhile
                client.check_ping_timeout()


def disconnect_laggards(server: Server) -> None:
    """Disconnect the pages for which too many messages wait."""
    for sid, client in list(server.eio.sockets.items()):
        if client.queue.qsize() > LAG_LIMIT:
            log.warning("a page lags by %d messages and is disconnected", client.queue.qsize())
            client.close(wait=False)
            server.eio.sockets.pop(sid, None)


def disconnect_revoked(server: Server, gate: Gate) -> None:
    """Disconnect the pages whose token was revoked, or that have none although one is needed now. Raises StoreError."""
    admitted: dict[Identity | None, bool] = {}

    def is_revoked(sid: str) -> bool:
        environ = server.environ.get(sid, {})
        held: Identity | None = environ.get(IDENTITY)
        if held not in admitted:
            admitted[held] = gate.is_still_allowed(environ)
        return not admitted[held]

    disconnect(server, is_revoked)


def disconnect(server: Server, these: Callable[[str], bool]) -> None:
    """Disconnect pages by the ids of their connections."""
    for sid, client in list(server.eio.sockets.items()):
        if these(sid):
            client.close(wait=False)
            server.eio.sockets.pop(sid, None)

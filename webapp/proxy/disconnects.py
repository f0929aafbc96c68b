"""Notices clients that have disconnected, and ends their calls at the provider."""

from __future__ import annotations

import select
import socket
import threading

from webapp.proxy.upstream import Call

# Seconds between two checks for disconnected clients.
LOOK_SECONDS = 1.0


class DisconnectWatcher:
    """Ends calls whose clients have disconnected. One thread watches all clients."""

    def __init__(self) -> None:
        self._calls: dict[int, tuple[socket.socket, Call]] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, client: socket.socket | None, call: Call) -> None:
        """Watch a client; None if its socket is unknown."""
        if client is None:
            return
        with self._lock:
            self._calls[id(client)] = (client, call)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
                self._thread.start()

    def remove(self, client: socket.socket | None) -> None:
        """Stop watching a client."""
        with self._lock:
            self._calls.pop(id(client), None)

    def close(self) -> None:
        """End the thread."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(LOOK_SECONDS):
            with self._lock:
                watched = list(self._calls.values())
            for client, call in watched:
                if has_gone(client):
                    call.end()


def has_gone(client: socket.socket) -> bool:
    """Return whether the other side of a connection has closed it."""
    try:
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(client, select.POLLIN)
            ready = bool(poll.poll(0))
        else:
            ready = bool(select.select([client], [], [], 0)[0])
        return ready and client.recv(1, socket.MSG_PEEK) == b""
    except (OSError, ValueError):  # closed by either side
        return True

"""A TCP forwarder between a page and a server; a test can cut it and mend it like a cable."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

from tests.servers import LOOPBACK, Server

CHUNK_BYTES = 64 * 1024


class Cable:
    """A TCP forwarder to `port` on this machine, until it is cut. Without `upgrades` it passes no websockets."""

    def __init__(self, port: int, *, upgrades: bool = True) -> None:
        self._port, self._upgrades = port, upgrades
        self._whole = True
        self._ends: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server((LOOPBACK, 0))
        self.url = f"http://{LOOPBACK}:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, name="cable", daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if not self._whole:
                    near.close()
                    continue
                far = socket.create_connection((LOOPBACK, self._port))
                with self._lock:
                    self._ends |= {near, far}
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK_BYTES):
                target.sendall(data if self._upgrades else data.replace(b"\r\nUpgrade: websocket", b""))
        self._drop({source, target})

    def _drop(self, ends: set[socket.socket]) -> None:
        with self._lock:
            self._ends -= ends
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def cut(self) -> None:
        """End every connection, and refuse new ones."""
        self._whole = False
        with self._lock:
            ends = set(self._ends)
        self._drop(ends)

    def mend(self) -> None:
        """Accept connections again."""
        self._whole = True

    def close(self) -> None:
        """End every connection and stop listening."""
        self.cut()
        self._listener.close()


@contextlib.contextmanager
def cable_to(server: Server, *, upgrades: bool = True) -> Iterator[Cable]:
    """Put a cable between the page and the server, and close it when the block ends."""
    port = urlsplit(server.url).port
    assert port is not None
    cable = Cable(port, upgrades=upgrades)
    try:
        yield cable
    finally:
        cable.close()

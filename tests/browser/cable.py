"""A cable between a page and a server that a test can cut and mend: a TCP forwarder with its own port."""

from __future__ import annotations

import contextlib
import socket
import threading

LOOPBACK = "127.0.0.1"
CHUNK_BYTES = 64 * 1024


class Cable:
    """A TCP forwarder to `port` on this machine, until it is cut."""

    def __init__(self, port: int) -> None:
        self._port = port
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
                target.sendall(data)
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

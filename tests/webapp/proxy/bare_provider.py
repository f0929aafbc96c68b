"""A provider on a plain socket, which can answer with bytes that no HTTP server sends."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import suppress

FINAL_STATUS = re.compile(rb"HTTP/1\.1 [2-5]\d\d[^\r]*\r\n")


class BareProvider:
    """A provider that answers each connection in a thread; `arrived` has the bytes of the last request."""

    def __init__(self) -> None:
        self.answer, self.arrived = b"", b""
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        self._socket.close()

    def converse(self, client: socket.socket) -> None:
        """Read a request and answer it; a subclass defines the answer."""
        raise NotImplementedError

    def send_last(self, client: socket.socket) -> None:
        """Send the answer and say that the connection ends, so that no proxy sends its next request there."""
        client.sendall(FINAL_STATUS.sub(lambda status: status[0] + b"connection: close\r\n", self.answer, 1))

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            self.converse(client)

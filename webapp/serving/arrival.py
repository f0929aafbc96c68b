"""A connection whose request is still arriving, and the reader of a body that is too large to wait for."""

from __future__ import annotations

import re
import socket
import ssl
import time
from typing import Any

from gunicorn import http
from gunicorn.workers.gthread import TConn

from webapp.serving.capacity import Capacity

# The slowest rate at which a large body may arrive.
SLOWEST_BYTES_PER_SECOND = 20_000
HEAD_BYTES = 64 * 1024
END_OF_HEAD = b"\r\n\r\n"
LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,15})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
STREAMED = re.compile(rb"^(transfer-encoding|expect):", re.IGNORECASE | re.MULTILINE)


class Arrival(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A connection with the part of its next request that has arrived.

    It is cut off at `until` (0: never). `upload`: its thread reads the body. `detached`: a websocket has the socket.
    `too_long`: its head is longer than HEAD_BYTES.
    """

    def __init__(
        self, cfg: Any, connection: socket.socket, client: Any, server: Any, capacity: Capacity
    ) -> None:
        super().__init__(cfg, connection, client, server)
        self.capacity = capacity
        self.received = bytearray()
        self.until = 0.0
        self.upload = False
        self.detached = False
        self.too_long = False
        self.parser: Any = None

    def receive(self) -> bool:
        """Receive what has arrived; return False if the other side has finished. Raises OSError."""
        try:
            while len(self.received) <= HEAD_BYTES + self.capacity.buffered_bytes:
                data = self.sock.recv(65_536)
                if not data:
                    return False
                self.received += data
                if len(data) < 65_536 and not isinstance(self.sock, ssl.SSLSocket):
                    break
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        return True

    def is_complete(self) -> bool:
        """Return whether the request can go to a thread, which reads the body if `upload` is set, or refuses it."""
        end = self.received.find(END_OF_HEAD)
        self.too_long = (len(self.received) if end < 0 else end) > HEAD_BYTES
        if end < 0 or self.too_long:
            return self.too_long
        head = bytes(self.received[: end + 2])
        found = LENGTH.search(head)
        length = int(found[1]) if found else 0
        missing = end + len(END_OF_HEAD) + length - len(self.received)
        self.upload = STREAMED.search(head) is not None or (
            missing > 0 and length > self.capacity.buffered_bytes
        )
        if self.upload:
            slowest = self.capacity.stalled_seconds + length / SLOWEST_BYTES_PER_SECOND
            self.until = time.monotonic() + slowest
        return missing <= 0 or self.upload

    def hand_over(self) -> None:
        """Pass what has arrived to the parser."""
        if self.parser is None:
            self.parser = http.get_parser(self.cfg, self.sock, self.client)
        self.parser.unreader.unread(bytes(self.received))
        self.received.clear()


class BrokenBody(OSError):
    """A body that ends early or breaks HTTP's framing. Readers treat it as a client that disconnected."""


class UploadReader:
    """The reader of a body in a thread. After the last byte, the connection has no time limit."""

    def __init__(self, reader: Any, conn: Arrival) -> None:
        self._reader, self._conn = reader, conn

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; b"" at the end.

        Raises:
            BrokenBody: the body is shorter than announced, or a chunk is malformed.
        """
        announced = getattr(self._reader, "length", None)
        try:
            data: bytes = self._reader.read(size)
        except (http.errors.ParseException, OSError) as error:
            raise BrokenBody(str(error)) from error
        if announced is not None and len(data) < min(size, announced):
            raise BrokenBody(f"{announced - len(data)} bytes are missing")
        if not data or not getattr(self._reader, "length", 1):
            self._conn.until = 0.0
        return data

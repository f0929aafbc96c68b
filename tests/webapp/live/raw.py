"""A websocket without a library, so that a test decides what is read and when."""

from __future__ import annotations

import base64
import os
import socket
from urllib.parse import urlsplit

MASK = bytes(4)


def opened(url: str, query: str = "EIO=4&transport=websocket") -> socket.socket:
    """Send the handshake of a websocket and return its socket."""
    where = urlsplit(url)
    assert where.hostname is not None
    made = socket.create_connection((where.hostname, where.port or 80))
    key = base64.b64encode(os.urandom(16)).decode()
    made.sendall(
        f"GET /socket.io/?{query} HTTP/1.1\r\nHost: {where.netloc}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    return made


def sent(connection: socket.socket, text: str) -> None:
    """Send a short text frame."""
    data = text.encode()
    assert len(data) < 126
    connection.sendall(b"\x81" + bytes([128 | len(data)]) + MASK + data)


def read_until(connection: socket.socket, end: bytes) -> bytes:
    """Return the bytes up to `end`, or fewer if the other side closes."""
    found = b""
    while end not in found and (data := connection.recv(65_536)):
        found += data
    return found

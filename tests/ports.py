"""Ports for programs that take one by its number."""

from __future__ import annotations

import fcntl
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

# Below the range from which the system assigns ports.
FIRST, END, EACH = 20_000, 32_000, 500
_locks: list[TextIO] = []  # held until the process ends


def own_ports() -> Iterator[int]:
    """Return ports that no other test process has, of this run or of another one on the machine."""
    for first in range(FIRST, END, EACH):
        try:
            lock = (Path(tempfile.gettempdir()) / f"coppice-test-ports-{first}").open("a")
        except OSError:  # another user's
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
        else:
            _locks.append(lock)
            return iter(range(first, first + EACH))
    raise AssertionError("too many test processes: no ports are left")


PORTS = own_ports()


def free_port() -> int:
    """Return a port that is not in use and that nobody else takes before the test does."""
    for port in PORTS:
        if not listens(port):
            return port
    raise AssertionError("no free port is left for this process")


def listens(port: int) -> bool:
    """Return whether somebody takes connections on a port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True

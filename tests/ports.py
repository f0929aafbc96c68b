"""Ports for programs that take one by its number."""

from __future__ import annotations

import os
import socket

# Below the ports that the system gives to whoever asks for any, and for each worker of a test run its own.
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
PORTS = iter(range(20_000 + 500 * WORKER, 20_500 + 500 * WORKER))


def free_port() -> int:
    """Return a port that is not in use and that nobody else takes before the test does."""
    for port in PORTS:
        if not listens(port):
            return port
    raise AssertionError("no free port is left for this worker")


def listens(port: int) -> bool:
    """Return whether somebody takes connections on a port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True

"""A real Redis for tests, on a port of its own and with nothing stored on the disk."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ports import free_port, listens
from tests.waiting import PATIENCE, until


def missing() -> str:
    """Return the reason why no Redis can be started here, "" if one can."""
    if shutil.which("redis-server") is None:
        return "redis-server is not installed (Debian: apt-get install redis-server; `make setup` does it as root)"
    if importlib.util.find_spec("redis") is None:
        return "the package redis is not installed (`make setup` does it)"
    return ""


class Redis:
    """A Redis that a test starts, stops and starts again."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Return its address."""
        return f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        """Start it with nothing in it, and wait until it answers."""
        options = ["--port", str(self._port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(
            ["redis-server", *options, "--dir", str(self._folder)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(lambda: listens(self._port))

    def waiting_workers(self) -> int:
        """Return how many workers wait for its events; one that still starts does not."""
        import redis

        with redis.Redis.from_url(self.url) as client:
            return int(client.info("clients")["blocked_clients"])

    def stop(self) -> None:
        """End it at once; what was in it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE)
            self._process = None


@contextmanager
def redis_server(folder: Path) -> Iterator[Redis]:
    """Run a Redis until the block ends."""
    made = Redis(folder)
    made.start()
    try:
        yield made
    finally:
        made.stop()

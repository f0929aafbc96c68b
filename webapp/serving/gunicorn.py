"""Serving under gunicorn: one process with many threads, which ends quickly although websockets are open.

Imported only where gunicorn runs. What is served has `wsgi`, `let_go()` (pages and files, at the first signal) and
`close()` (the store, when the last request has ended).
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.workers.gthread import ThreadWorker

# Pages that may be open at once; each holds a thread for its websocket.
VIEWERS = 60
# Threads beside those, for requests.
SPARE_THREADS = 40
# Connections that are taken although no thread is free, to be kept alive between requests.
KEPT_CONNECTIONS = 127
# How long requests under way may take to end; then they are cut. The process itself is given longer, to close the
# store in peace.
GRACE_SECONDS = 1
LAST_SECONDS = 5


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A worker that closes websockets when it has to end; gunicorn itself would wait for them."""

    def init_process(self) -> None:
        """Run in the worker, with a shorter grace period than the parent waits for it."""
        self.cfg.set("graceful_timeout", GRACE_SECONDS)
        super().init_process()

    def run(self) -> None:
        """Serve, and close the application when the last request has ended."""
        try:
            super().run()
        finally:
            self.app.close()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """End gracefully on every signal."""
        if self.alive:
            threading.excepthook = _but_closed_sockets
            threading.Thread(target=self.app.let_go, daemon=True).start()
        super().handle_exit(sig, frame)

    handle_quit = handle_exit


def _but_closed_sockets(failed: threading.ExceptHookArgs) -> None:
    """Log what failed in a thread, except sockets closed from both sides, which is no fault at the end."""
    if not issubclass(failed.exc_type, OSError):
        threading.__excepthook__(failed)


class Application(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """Our application in gunicorn's form; made in the worker, after the fork."""

    def __init__(self, make: Callable[[], Any], listener: socket.socket) -> None:
        self._make, self._listener = make, listener
        self._running: Any = None
        super().__init__()

    def load_config(self) -> None:
        """Set every option; gunicorn's own files and variables are not read."""
        threads = VIEWERS + SPARE_THREADS
        chosen = {
            "bind": f"fd://{self._listener.fileno()}",
            "workers": 1,
            "threads": threads,
            "worker_connections": threads + KEPT_CONNECTIONS,
            "worker_class": Worker,
            "keepalive": 5,
            "graceful_timeout": LAST_SECONDS,
            "timeout": 0,
            "loglevel": "warning",
            "control_socket_disable": True,
        }
        for name, value in chosen.items():
            if name in self.cfg.settings:  # older ones do not know them all
                self.cfg.set(name, value)

    def load(self) -> Any:
        """Build the application in the worker."""
        self._running = self._make()
        return self._running.wsgi

    def let_go(self) -> None:
        """Disconnect pages and stop following."""
        if self._running is not None:
            self._running.let_go()

    def close(self) -> None:
        """Close everything."""
        if self._running is not None:
            self._running.close()


def serve(make: Callable[[], Any], listener: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM; ends with SystemExit, as gunicorn does."""
    os.environ.pop("GUNICORN_CMD_ARGS", None)
    Application(make, listener).run()
    sys.exit(0)

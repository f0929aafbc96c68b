"""Serves with gunicorn, in this process: no parent can die and leave a worker behind.

Several workers are children of this process, which starts another for one that ends, and which they do not outlive.
Imported only where gunicorn is installed. A served application has `wsgi`, `stop_background_work()` (called at the
first signal) and `close()` (called when the last request has ended).
"""

from __future__ import annotations

import os
import resource
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter

from webapp.serving.capacity import Capacity
from webapp.serving.worker import LAST_SECONDS, ChildWorker, Worker

CONNECTIONS = 4096
# The largest value that gunicorn accepts.
LINE_BYTES = 8_190
# Time for running requests to end.
GRACE_SECONDS = 1


class Parent(Arbiter):  # type: ignore[misc]  # gunicorn has no types
    """The process that starts workers, and another one for each that ends."""

    def stop(self, graceful: bool = True) -> None:
        """Stop the workers; kill those that do not end within the time they have."""
        self.cfg.set("graceful_timeout", GRACE_SECONDS + int(LAST_SECONDS) + 1)
        super().stop(graceful)


class Application(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """Our application in gunicorn's form."""

    def __init__(
        self,
        make: Callable[[], Any],
        certificate: Path | None,
        key: Path | None,
        capacity: Capacity,
        workers: int,
    ) -> None:
        self._make, self.capacity, self.workers = make, capacity, workers
        self._certificate = {"certfile": certificate, "keyfile": key or certificate} if certificate else {}
        self._running: Any = None
        super().__init__()

    def load_config(self) -> None:
        """Set every option; gunicorn's own files and variables are not read."""
        chosen: dict[str, Any] = {
            "workers": self.workers,
            "control_socket_disable": True,
            "threads": self.capacity.threads,
            "worker_connections": CONNECTIONS,
            "worker_class": Worker if self.workers == 1 else ChildWorker,
            "keepalive": self.capacity.kept_seconds,
            "graceful_timeout": GRACE_SECONDS,
            "timeout": 0,
            "limit_request_line": LINE_BYTES,
            "limit_request_fields": self.capacity.fields,
            "limit_request_field_size": self.capacity.field_bytes,
            "header_map": "dangerous" if self.capacity.underscores else "drop",
            "loglevel": "warning",
            "forwarded_allow_ips": "",
            "forwarder_headers": "",
        }
        chosen |= {name: str(path) for name, path in self._certificate.items()}
        for name, value in chosen.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Build the application."""
        self._running = self._make()
        return self._running.wsgi

    def stop_background_work(self) -> None:
        """Disconnect pages and stop following."""
        if self._running is not None:
            self._running.stop_background_work()

    def close(self) -> None:
        """Close everything."""
        if self._running is not None:
            self._running.close()


def allow_connections() -> None:
    """Raise this process's limit of open files to what CONNECTIONS needs, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * CONNECTIONS if hard == resource.RLIM_INFINITY else min(2 * CONNECTIONS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def serve(application: Application, listener: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM; then raise SystemExit, as gunicorn does."""
    os.environ.pop("GUNICORN_CMD_ARGS", None)
    allow_connections()
    listener.setblocking(False)
    if application.workers > 1:
        parent = Parent(application)
        parent.LISTENERS = [listener]
        parent.run()
    log = application.cfg.logger_class(application.cfg)
    Worker(1, os.getppid(), [listener], application, 0, application.cfg, log).init_process()
    sys.exit(0)

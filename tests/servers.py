"""A real server for a test: a free port, a store of its own, and the folders of transcripts that the test names.

It runs in a thread of the test's process, so that a test can also use `app` directly.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from socketserver import BaseServer
from tempfile import TemporaryDirectory
from typing import Any

from flask import Flask

from tests.waiting import PATIENCE
from webapp.app import App
from webapp.config import Config, Database
from webapp.serving.server import RunningServer, WerkzeugServer, listen, url_of
from webapp.store import Store

LOOPBACK = "127.0.0.1"


def database_in(folder: Path) -> Database:
    """Return the place of the store of a test's folder; a run over PostgreSQL replaces this by a lent database."""
    return store_in(folder)


def store_in(folder: Path) -> Path:
    """Return the file of the SQLite store of a test's folder; one without sessions if there was none."""
    path = folder / "coppice.db"
    if not path.exists():
        path.write_bytes(_empty_store())
        path.chmod(0o600)
    return path


@cache
def _empty_store() -> bytes:
    """Return the file of a store without sessions: to copy it takes a tenth of the time of all migrations."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "coppice.db")
        Store(path).close()
        return path.read_bytes()


def option_in(folder: Path) -> str:
    """Return the place of the store of a test's folder as a command takes it."""
    database = database_in(folder)
    return str(database) if isinstance(database, Path) else database.url


@dataclass(frozen=True)
class Server:
    """`url` has no slash at its end; `app` holds the services, `flask` the WSGI application over them."""

    url: str
    app: App
    flask: Flask


@contextmanager
def serving(server: BaseServer) -> Iterator[None]:
    """Let a server of the standard library serve in a thread until the block ends, and close it."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE)


@contextmanager
def running_server(
    tmp_path: Path,
    env: Mapping[str, str] | None = None,
    watch: Sequence[Path] = (),
    port: int = 0,
    **given: Any,
) -> Iterator[Server]:
    """Serve until the block ends.

    `env` names the folders of agents (CLAUDE_CONFIG_DIR, CODEX_HOME …) and may name the home, which is otherwise in
    `tmp_path`; `watch` are further folders. Without either, nothing is followed. Port 0 takes any free one. `given` are
    fields of `Config`.
    """
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    fields: dict[str, Any] = {
        "db": database_in(tmp_path),
        "env": {"HOME": str(home), **(env or {})},
        "watch": tuple(watch),
        "follow": bool(env or watch),
        **given,
    }
    listener = listen(LOOPBACK, port)
    url = url_of(listener, LOOPBACK)
    running = RunningServer(Config(**fields))
    server = WerkzeugServer(running, listener)
    thread = threading.Thread(target=server.serve, name="server", daemon=True)
    thread.start()
    try:
        yield Server(url, running.app, running.wsgi)
    finally:
        server.stop()
        thread.join(PATIENCE)

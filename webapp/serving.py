"""How the application is served: gunicorn's threaded worker in one process where gunicorn runs, Werkzeug elsewhere.

One process, because Socket.IO's rooms live in it; threads, because a websocket holds one for as long as its page is
open. The listening socket is made here first, so that a port in use is known before anything starts. Both servers end
within a second or two, open websockets or not.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

from webapp import create_app
from webapp.config import Config
from webapp.errors import Invalid
from webapp.wiring import build

# Pages that may be open at once; each holds a thread for its websocket.
VIEWERS = 60
# Threads beside those, for requests.
SPARE_THREADS = 40
# Connections that wait in the system's queue while all threads are busy.
BACKLOG = 128
# How long requests under way may take to end; then they are cut.
GRACE_SECONDS = 1
# How many ports after the wanted one are tried.
PORTS_TRIED = 50


class Running:
    """An application that lives: it serves requests, follows files, and tells pages what changes."""

    def __init__(self, config: Config) -> None:
        self.app: Any = build(config)
        self.wsgi = create_app(config, app=self.app)
        self._closing = threading.Lock()
        self._closed = False
        if config.follow:
            self.app.following.start()
        if config.demo:
            self.app.demo.start()

    def close(self) -> None:
        """Lets go of pages, files and the store; twice does no harm."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self.wsgi.extensions["coppice.live"].close()
            self.app.close()


Make = Callable[[], Running]


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """A listening socket on `port`, or on the next free one after it; port 0 takes any.

    Raises:
        Invalid: the host is not this machine's, or no port nearby is free.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    last = port if port == 0 else min(port + PORTS_TRIED, 65535)
    for candidate in range(port, last + 1):
        made = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, candidate))
            made.listen(BACKLOG)
        except OSError as error:
            made.close()
            if error.errno == errno.EADDRINUSE:
                continue
            message = f"cannot listen on {host} port {candidate}: {error.strerror or error}"
            raise Invalid(message, "port" if error.errno == errno.EACCES else "host") from error
        return made
    raise Invalid(f"ports {port} to {last} on {host} are all in use; name another with --port", "port")


def url_of(listener: socket.socket, host: str) -> str:
    """The address to open in a browser."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listener.getsockname()[1]}"


def has_gunicorn() -> bool:
    """Whether gunicorn can run here: it needs `fork`, and to be installed."""
    if os.name != "posix":
        return False
    try:
        import gunicorn.app.base  # noqa: F401
    except ImportError:
        return False
    return True


def run(make: Make, listener: socket.socket) -> None:
    """Serves until SIGINT or SIGTERM; `make` runs in the process that serves."""
    if has_gunicorn():
        run_gunicorn(make, listener)
    else:
        server = WerkzeugServer(make(), listener)
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, lambda *_: threading.Thread(target=server.stop, daemon=True).start())
        server.serve()


class WerkzeugServer:
    """A threaded Werkzeug server on a socket made elsewhere; quiet, and stopped from another thread."""

    def __init__(self, running: Running, listener: socket.socket) -> None:
        from werkzeug.serving import WSGIRequestHandler, make_server

        class Quiet(WSGIRequestHandler):
            """Speaks HTTP/1.1, so that connections are kept, and logs nothing."""

            protocol_version = "HTTP/1.1"

            def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002
                """Nothing: whoever wants requests counted asks /metrics."""

        self._running = running
        host, port = listener.getsockname()[:2]
        self._server = make_server(
            host, port, running.wsgi, threaded=True, request_handler=Quiet, fd=os.dup(listener.fileno())
        )
        listener.close()
        self._done = threading.Event()

    def serve(self) -> None:
        """Serves until `stop` is called."""
        try:
            self._server.serve_forever(poll_interval=0.1)
        finally:
            self._server.server_close()
            self._running.close()
            self._done.set()

    def stop(self) -> None:
        """Ends `serve` and waits until everything is let go."""
        self._server.shutdown()
        self._done.wait(timeout=5)


def run_gunicorn(make: Make, listener: socket.socket) -> None:
    """Serves with gunicorn's threaded worker; returns through SystemExit, as gunicorn does."""
    from gunicorn.app.base import BaseApplication
    from gunicorn.workers.gthread import ThreadWorker

    threads = VIEWERS + SPARE_THREADS

    class Worker(ThreadWorker):
        """Lets go of websockets when it is told to end; gunicorn itself would wait for them."""

        def handle_exit(self, sig: int, frame: Any) -> None:
            """Ends gracefully, whichever signal it was."""
            if self.alive:
                threading.Thread(target=self.app.let_go, daemon=True).start()
            super().handle_exit(sig, frame)

        handle_quit = handle_exit

    class Application(BaseApplication):
        """Our application as gunicorn wants it; made in the worker, after the fork."""

        running: Running | None = None

        def load_config(self) -> None:
            """Everything is said here; gunicorn's own files and variables are not read."""
            chosen = {
                "bind": f"fd://{listener.fileno()}",
                "workers": 1,
                "threads": threads,
                # Connections beyond these wait in the backlog instead of taking a thread nobody has.
                "worker_connections": threads - 1 + BACKLOG,
                "worker_class": Worker,
                "keepalive": 5,
                "graceful_timeout": GRACE_SECONDS,
                "timeout": 0,
                "loglevel": "warning",
                "control_socket_disable": True,
            }
            for name, value in chosen.items():
                if name in self.cfg.settings:
                    self.cfg.set(name, value)

        def load(self) -> Any:
            """Builds the application in the worker."""
            self.running = make()
            return self.running.wsgi

        def let_go(self) -> None:
            """Closes what the application holds; twice does no harm."""
            if self.running is not None:
                self.running.close()

    os.environ.pop("GUNICORN_CMD_ARGS", None)
    Application().run()
    sys.exit(0)

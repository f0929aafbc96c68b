"""Serves the application with gunicorn's threaded worker where gunicorn runs, otherwise with Werkzeug.

One process by default; with a queue, several can share the socket. It is opened first, so that a port in use is
reported before anything starts. Both servers end within two seconds, even with open websockets.
"""

from __future__ import annotations

import errno
import gc
import os
import re
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from http.client import responses
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakSet

from webapp.access.requests import is_every_address
from webapp.config import Config
from webapp.errors import Invalid, StoreError
from webapp.serving.capacity import OF_PROXY, Capacity
from webapp.serving.refusals import raw_answer, unreadable

# Connections that wait in the system's queue while all threads are busy.
BACKLOG = 128
# The ports tried after the requested one.
PORTS_TRIED = 50
SWITCH_SECONDS = 0.001


class RunningServer:
    """A running application: it serves requests, follows files and sends changes to pages."""

    def __init__(self, config: Config, start_companion: Callable[[str], None] | None = None) -> None:
        """Build the application; `start_companion` starts a process that uses it, and gets a token for that process."""
        from webapp import create_app  # not needed by the proxy, which also uses this module
        from webapp.services.session.leases import OneWorkerJob
        from webapp.services.session.measuring_process import MeasuringProcess
        from webapp.wiring import build

        self.app = build(config, serves=True)
        self.app.environment.tokenizers.load()
        self._measuring = self.app.environment.measure = MeasuringProcess()
        with suppress(StoreError):  # /healthz reports it; readable data is still shown
            self.app.store.check()
        self.wsgi = create_app(config, app=self.app)
        self._lock = threading.Lock()
        self._state = "open"
        if start_companion is not None:
            start_companion(self.app.access_tokens.make_process_token())
        self.app.webhook_sender.start()
        self.app.retention.start()
        self.app.cold_caches.watch_recent()
        self.app.aftermaths.start()
        self.app.analysis_ahead.start()
        self.app.resuming.tidy()
        watcher = self.app.watcher
        lease = f"files of {watcher.following.place()}"
        self._following = OneWorkerJob(self.app.environment.leases, lease, watcher.start, watcher.stop)
        if config.follow:
            self._following.start()
        if config.demo:
            self.app.demo.start()

    def stop_background_work(self) -> None:
        """Disconnect pages and stop following; running requests can still end. Can be called twice."""
        with self._lock:
            if self._state == "open":
                self._state = "ending"
                self.wsgi.extensions["coppice.live"].close()
                self._following.stop()

    def close(self) -> None:
        """Stop background work, and close the store. Can be called twice."""
        self.stop_background_work()
        with self._lock:
            if self._state == "ending":
                self._state = "closed"
                self._measuring.close()
                self.app.close()


class ClosableApp(Protocol):
    """A WSGI application that is notified when its server ends."""

    wsgi: Any

    def stop_background_work(self) -> None:
        """End what would keep the process alive; running requests can still end."""

    def close(self) -> None:
        """Close everything."""


Make = Callable[[], ClosableApp]


def listen(host: str, port: int, *, others: bool = False, option: str = "--port") -> socket.socket:
    """Return a listening socket on `port`, or with `others` on the next free port; port 0 takes any free one.

    `option` is the option that sets the port, for the error.

    Raises:
        Invalid: the host is not this machine's, or the port is in use.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    last = min(port + PORTS_TRIED, 65535) if others else port
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
    tried = f"ports {port} to {last} on {host} are" if others else f"port {port} on {host} is"
    raise Invalid(f"{tried} in use, perhaps by another Coppice; name another with {option}", "port")


def url_of(listener: socket.socket, host: str, *, secure: bool = False) -> str:
    """Return the address to open in a browser; for a server on all addresses, this machine's own."""
    if is_every_address(host):
        host = "::1" if ":" in host else "127.0.0.1"
    shown = f"[{host}]" if ":" in host else host
    return f"http{'s' if secure else ''}://{shown}:{listener.getsockname()[1]}"


def check_certificate(certificate: Path | None, key: Path | None) -> None:
    """Refuse certificate files that cannot be used.

    Raises:
        Invalid: a file cannot be read, or the key is not the certificate's.
    """
    if certificate is None:
        if key is not None:
            raise Invalid("a key without its certificate; name that with --tls-cert", "tls_cert")
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        message = f"cannot use the certificate {certificate} with the key {key or certificate}: {reason}"
        raise Invalid(message, "tls_cert") from error


def fingerprint_of(certificate: Path) -> str:
    """Return the SHA-256 of a server's certificate, in hex; it is the first one of a chain.

    Raises:
        Invalid: the file has none.
    """
    found = re.search(
        rf"{ssl.PEM_HEADER}.*?{ssl.PEM_FOOTER}", certificate.read_text("utf-8", "replace"), re.DOTALL
    )
    if found is None:
        raise Invalid(f"{certificate} has no {ssl.PEM_HEADER}; write the certificate as PEM", "tls_cert")
    return sha256(ssl.PEM_cert_to_DER_cert(found[0])).hexdigest()


def has_gunicorn() -> bool:
    """Return whether gunicorn can run here: it needs `fork`, and to be installed."""
    if os.name != "posix":
        return False
    try:
        import gunicorn.app.base  # noqa: F401
    except ImportError:
        return False
    return True


def load_modules() -> None:
    """Import what a server runs before its workers part: they share the memory of it, and start sooner."""
    import webapp.live.gateway
    import webapp.routes
    import webapp.services.session.measuring_process
    import webapp.wiring  # noqa: F401


def tune_interpreter() -> None:
    """Make the garbage collector run rarely and never over objects that exist now, and threads take turns often."""
    # With Python's thresholds (700, 10, 10) it took 22 % of a Foresight plan over 100,000 messages, 21 % of one over
    # 10,000, and 43 % of reading the features of 100,000, because it visits the same living objects again and again.
    # A request's objects form no cycles, so reference counting frees them.
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    # A thread that computes lets another one on only after this time, and a broadcast needs several turns. With
    # Python's 5 ms broadcasts waited 99 to 164 ms while a message was searched for credentials, with this 60 to 84.
    sys.setswitchinterval(SWITCH_SECONDS)


def run(
    make: Make,
    listener: socket.socket,
    certificate: Path | None = None,
    key: Path | None = None,
    *,
    proxies: bool = False,
    workers: int = 1,
) -> None:
    """Serve until SIGINT or SIGTERM, with TLS if a certificate is given.

    `proxies` sets the limits for a proxy. More `workers` than one are processes, each with what `make` returns there.
    """
    os.umask(0o077)  # files are readable by their owner only
    if workers > 1:
        load_modules()
    tune_interpreter()
    if has_gunicorn():
        from webapp.serving.gunicorn import Application, serve

        capacity = OF_PROXY if proxies else Capacity()
        serve(Application(make, certificate, key, capacity, workers), listener)
    else:
        server = WerkzeugServer(make(), listener, (certificate, key or certificate) if certificate else None)
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, lambda *_: threading.Thread(target=server.stop, daemon=True).start())
        server.serve()


class WerkzeugServer:
    """A threaded Werkzeug server on an open socket; it logs nothing, and another thread can stop it."""

    def __init__(self, running: ClosableApp, listener: socket.socket, certificate: Any | None = None) -> None:
        from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

        connections: WeakSet[socket.socket] = WeakSet()

        class Server(ThreadedWSGIServer):
            """Notes the open connections, on which requests can come at any time: browsers connect ahead."""

            def get_request(self) -> tuple[socket.socket, Any]:
                """Accept a connection."""
                connection, address = super().get_request()
                connections.add(connection)
                return connection, address

        class Quiet(WSGIRequestHandler):
            """Speaks HTTP/1.1, so that connections stay open, and logs nothing."""

            protocol_version = "HTTP/1.1"

            def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
                """Answer a request that cannot be read."""
                self.close_connection = True
                with suppress(OSError):
                    self.wfile.write(raw_answer(unreadable(code, explain or message or responses[code])))

            def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002
                """Log nothing: /metrics counts requests."""

        self._running = running
        self._connections = connections
        host, port = listener.getsockname()[:2]
        self._server = Server(
            host,
            port,
            running.wsgi,
            Quiet,
            ssl_context=certificate,
            fd=listener.fileno(),  # Werkzeug duplicates it
        )
        listener.close()
        self._done = threading.Event()

    def serve(self) -> None:
        """Serve until `stop` is called."""
        try:
            self._server.serve_forever(poll_interval=0.1)
        finally:
            self._server.server_close()
            self._running.close()
            self._end_connections()
            self._done.set()

    def _end_connections(self) -> None:
        """End the open connections: a later server on this port would never see the requests that come on them."""
        for connection in tuple(self._connections):
            with suppress(OSError):  # its request ended meanwhile
                connection.shutdown(socket.SHUT_RDWR)

    def stop(self) -> None:
        """End `serve` and wait until everything is closed."""
        self._server.shutdown()
        self._done.wait(timeout=5)

"""Serves with gunicorn's threaded worker, in this process: no parent can die and leave a worker behind.

Several workers are children of this process, which starts another for one that ends, and which they do not outlive.

A request gets a thread only once it has arrived: the event loop reads heads, TLS handshakes and bodies up to a limit.
So a client that sends half a request, or nothing, holds only a connection, for ARRIVAL_SECONDS. Larger bodies have a
few threads of their own. When all threads are busy, more requests get a 503. Imported only where gunicorn is
installed. A served application has `wsgi`, `stop_background_work()` (called at the first signal) and `close()` (called
when the last request has ended).
"""

from __future__ import annotations

import logging
import os
import re
import resource
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from selectors import EVENT_READ
from typing import Any

from gunicorn import http, sock, util
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.workers.gthread import TConn, ThreadWorker

from webapp.access.guard import refusal_response, too_busy
from webapp.errors import CoppiceError
from webapp.live.websockets import KEEP


@dataclass(frozen=True, slots=True)
class Capacity:
    """The limits of a server.

    `threads` requests are answered at once, and `waiting` more wait for a thread. A body of up to `buffered_bytes` is
    read before its request gets a thread; larger ones, and those sent with `Expect`, are read by the thread, at most
    `uploads` at once. `arriving_bytes` limits the total size of requests that are still arriving. A read or write
    without progress ends after `stalled_seconds`, an idle connection after `kept_seconds`. A request
    has up to `fields` headers of up to `field_bytes` each.
    """

    threads: int = 48
    waiting: int = 256
    uploads: int = 8
    buffered_bytes: int = 1024 * 1024
    arriving_bytes: int = 64 * 1024 * 1024
    stalled_seconds: float = 15.0
    kept_seconds: int = 5
    fields: int = 100
    field_bytes: int = 8_190


# The proxy needs a thread for each running answer, and forwards a request while it arrives. Some agents name the
# folders of their user in a header.
OF_PROXY = Capacity(
    threads=256,
    uploads=256,
    buffered_bytes=0,
    stalled_seconds=600.0,
    kept_seconds=75,
    fields=1_000,
    field_bytes=60_000,
)
# Connections whose request is still arriving. One more closes the one that has waited longest.
ARRIVING = 512
CONNECTIONS = 4096
# Time for a head and a buffered body to arrive.
ARRIVAL_SECONDS = 10.0
# The slowest rate at which a large body may arrive.
SLOWEST_BYTES_PER_SECOND = 20_000
HEAD_BYTES = 64 * 1024
# The largest value that gunicorn accepts.
LINE_BYTES = 8_190
# Time for the other side to read the end of an answer.
LINGER_SECONDS = 2.0
# Connections that stay open between requests.
IDLE_CONNECTIONS = 1024
# Time for running requests to end, then for the process to close the store.
GRACE_SECONDS = 1
LAST_SECONDS = 2.0

# Pause before a worker that could not start is started again.
AGAIN_SECONDS = 1.0

# The headers of a request as they came, in the environment of WSGI, which has those of one name joined.
HEADERS = "gunicorn.headers"
END_OF_HEAD = b"\r\n\r\n"
LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,15})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
STREAMED = re.compile(rb"^(transfer-encoding|expect):", re.IGNORECASE | re.MULTILINE)


class Arrival(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A connection with the part of its next request that has arrived.

    It is cut off at `until` (0: never). `upload`: its thread reads the body. `detached`: a websocket has the socket.
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
        self.parser: Any = None

    def receive(self) -> bool:
        """Receive what has arrived; return False if the other side has finished. Raises OSError."""
        try:
            while len(self.received) < HEAD_BYTES + self.capacity.buffered_bytes:
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
        """Return whether the request can go to a thread; sets `upload` if that must read the body."""
        end = self.received.find(END_OF_HEAD)
        if end < 0:
            return len(self.received) > HEAD_BYTES  # too long: the parser reports it
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


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A worker that reads requests in its event loop, and gives websockets away."""

    def init_process(self) -> None:
        """Prepare the worker and serve until it ends."""
        self.arriving: dict[Arrival, None] = {}
        self.lingering: dict[Arrival, None] = {}
        self.working: set[Arrival] = set()
        self.uploads = 0
        self.context = sock.ssl_context(self.cfg) if self.cfg.is_ssl else None
        self.current = threading.local()
        self.max_keepalived = IDLE_CONNECTIONS
        super().init_process()

    def run(self) -> None:
        """Serve, and close the application when the last request has ended."""
        try:
            super().run()
        finally:
            # Threads that still wait for a client, or compute, must not keep the process alive.
            # From here on an answer that is cut off is expected.
            self.log.error_log.setLevel(logging.CRITICAL)
            for conn in list(self.working):
                cut(conn.sock)
            last = threading.Timer(LAST_SECONDS, os._exit, (0,))
            last.daemon = True
            last.start()
            self.app.close()

    def is_parent_alive(self) -> bool:
        """Return True: the parent is a shell or service manager, which may end before us."""
        return True

    def handle_exit(self, sig: int, frame: Any) -> None:
        """End gracefully on every signal."""
        if self.alive:
            threading.excepthook = _but_closed_sockets
            threading.Thread(target=self.app.stop_background_work, daemon=True).start()
            self.method_queue.defer(self.drop_arriving)
        super().handle_exit(sig, frame)

    handle_quit = handle_exit

    # -- arriving requests

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection and wait for its request."""
        try:
            client, address = listener.accept()
        except OSError:  # the client has gone, or no file descriptor is free
            return
        self.nr_conns += 1
        with suppress(OSError):  # otherwise a body waits 40 ms for the acknowledgement of its head
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.context is not None:
            client.setblocking(False)
            client = self.context.wrap_socket(client, server_side=True, do_handshake_on_connect=False)
        self.expect(Arrival(self.cfg, client, address, listener.getsockname(), self.app.capacity))

    def expect(self, conn: Arrival) -> None:
        """Wait for the connection's next request; above ARRIVING, drop the connection that has waited longest."""
        conn.until = time.monotonic() + ARRIVAL_SECONDS
        self.arriving[conn] = None
        conn.sock.setblocking(False)
        self.poller.register(conn.sock, EVENT_READ, partial(self.on_arrival, conn))
        if len(self.arriving) > ARRIVING:
            self.drop(next(iter(self.arriving)))

    def on_arrival(self, conn: Arrival, _: Any) -> None:
        """Receive what has arrived, and start the request once it is complete."""
        if conn not in self.arriving:  # dropped by another event of this round
            return
        try:
            if not conn.receive():
                self.drop(conn)
                return
        except OSError:
            self.drop(conn)
            return
        if conn.is_complete():
            self.forget(conn)
            self.start(conn)
        elif sum(len(one.received) for one in self.arriving) > self.app.capacity.arriving_bytes:
            self.drop(max(self.arriving, key=lambda one: len(one.received)))

    def forget(self, conn: Arrival) -> None:
        """Stop waiting for a connection's request."""
        del self.arriving[conn]
        self.poller.unregister(conn.sock)

    def drop(self, conn: Arrival) -> None:
        """Close a connection whose request has not arrived."""
        self.forget(conn)
        self.nr_conns -= 1
        conn.close()

    def drop_arriving(self) -> None:
        """Close every connection whose request is arriving, or that has been answered."""
        for conn in list(self.arriving):
            self.drop(conn)
        for conn in list(self.lingering):
            self.close_lingering(conn)

    def start(self, conn: Arrival) -> None:
        """Give the request to a thread, or refuse it if too many wait."""
        capacity = self.app.capacity
        crowded = conn.upload and self.uploads >= capacity.uploads
        if crowded or len(self.working) >= capacity.threads + capacity.waiting:
            self.refuse(conn, "uploads" if crowded else "requests")
            return
        self.uploads += conn.upload
        if not conn.upload:
            conn.until = 0.0
        self.working.add(conn)
        conn.hand_over()
        self.enqueue_req(conn)

    def refuse(self, conn: Arrival, what: str) -> None:
        """Answer 503 from the event loop, and close."""
        response = refusal_response(too_busy(what), for_program=True)
        lines = [f"HTTP/1.1 {response.status}".encode(), b"Connection: close"]
        lines += [f"{name}: {value}".encode() for name, value in response.headers]
        with suppress(OSError):
            conn.sock.send(b"\r\n".join(lines) + END_OF_HEAD + response.get_data())
        self.linger(conn)

    def linger(self, conn: Arrival) -> None:
        """Close a connection after the other side has, or after LINGER_SECONDS, so that it can read the answer."""
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
            self.poller.register(conn.sock, EVENT_READ, partial(self.on_lingering, conn))
        except (OSError, ValueError):
            self.nr_conns -= 1
            conn.close()
            return
        conn.until = time.monotonic() + LINGER_SECONDS
        self.lingering[conn] = None

    def on_lingering(self, conn: Arrival, _: Any) -> None:
        """Discard what still arrives, and close at its end."""
        try:
            if conn in self.lingering and conn.sock.recv(65_536):
                return
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except OSError:
            pass
        self.close_lingering(conn)

    def close_lingering(self, conn: Arrival) -> None:
        """Close a connection that has been answered."""
        if conn in self.lingering:
            del self.lingering[conn]
            self.poller.unregister(conn.sock)
            self.nr_conns -= 1
            conn.close()

    def murder_pending(self) -> None:
        """Close connections whose request did not arrive in time, and end uploads that are too slow."""
        now = time.monotonic()
        for conn in [one for one in self.arriving if one.until < now]:
            self.drop(conn)
        for conn in [one for one in self.lingering if one.until < now]:
            self.close_lingering(conn)
        for conn in [one for one in self.working if one.until and one.until < now]:
            cut(conn.sock)

    def on_client_socket_readable(self, conn: Arrival, client: Any) -> None:
        """Read the next request of a connection that stayed open."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        self.expect(conn)
        self.on_arrival(conn, client)

    # -- requests

    def handle(self, conn: Arrival) -> bool:
        """Answer one request, in a thread; return whether the connection stays open."""
        conn.sock.settimeout(self.app.capacity.stalled_seconds)
        self.current.conn = conn
        request = None
        try:
            request = next(conn.parser)
            self.current.headers = request.headers if request else []
            if conn.upload:
                request.body.reader = UploadReader(request.body.reader, conn)
            return bool(request) and bool(self._keepalive_after(conn, self.handle_request(request, conn)))
        except (http.errors.NoMoreData, StopIteration, OSError):
            return False  # disconnected, stalled, or now a websocket
        except Exception as error:  # noqa: BLE001  # answered as gunicorn does, 400 or 500
            self.handle_error(request, conn.sock, conn.client, error)
            return False

    def load_wsgi(self) -> None:
        """Load the application, and let each of its requests keep its socket."""
        application = self.app.wsgi()

        def wsgi(environ: dict[str, Any], start_response: Any) -> Any:
            environ[HEADERS] = self.current.headers
            environ[KEEP] = partial(setattr, self.current.conn, "detached", True)
            return application(environ, start_response)

        self.wsgi = wsgi

    def finish_request(self, conn: Arrival, future: Any) -> None:
        """Keep the connection for its next request, close it, or leave it to its websocket."""
        self.working.discard(conn)
        self.uploads -= conn.upload
        conn.upload = False
        try:
            again = not future.cancelled() and future.result() and self.alive
        except Exception:  # noqa: BLE001  # the thread failed outside a request
            again = False
        if conn.detached:
            self.nr_conns -= 1
        elif not again:
            self.linger(conn)
        elif early := conn.parser.unreader.take_buffered():
            self.expect(conn)
            conn.received += early
            if conn.is_complete():
                self.forget(conn)
                self.start(conn)
        else:
            conn.sock.setblocking(False)
            conn.set_timeout()
            self.keepalived_conns.append(conn)
            self.poller.register(conn.sock, EVENT_READ, partial(self.on_client_socket_readable, conn))


def cut(connection: socket.socket) -> None:
    """End a connection that another thread may be reading or writing."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        util.close(connection)


def _but_closed_sockets(failed: threading.ExceptHookArgs) -> None:
    """Log an exception of a thread, except of closed sockets, which are expected while the server ends."""
    if not issubclass(failed.exc_type, OSError):
        threading.__excepthook__(failed)


class ChildWorker(Worker):
    """One of several workers; it ends with their parent."""

    def init_process(self) -> None:
        """Serve until it ends. While the store or the queue does not answer, end soon, to be started again.

        Both answered when the parent started. An error of any other kind ends the parent too.
        """
        try:
            super().init_process()
        except CoppiceError as error:
            self.log.warning("a worker cannot start, trying again: %s", error)
            time.sleep(AGAIN_SECONDS)
            sys.exit(1)

    def is_parent_alive(self) -> bool:
        """Return whether the parent lives."""
        return bool(self.ppid == os.getppid())


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


def serve(
    make: Callable[[], Any],
    listener: socket.socket,
    certificate: Path | None,
    key: Path | None,
    capacity: Capacity,
    workers: int,
) -> None:
    """Serve until SIGINT or SIGTERM; then raise SystemExit, as gunicorn does."""
    os.environ.pop("GUNICORN_CMD_ARGS", None)
    allow_connections()
    listener.setblocking(False)
    application = Application(make, certificate, key, capacity, workers)
    if workers > 1:
        parent = Parent(application)
        parent.LISTENERS = [listener]
        parent.run()
    log = application.cfg.logger_class(application.cfg)
    Worker(1, os.getppid(), [listener], application, 0, application.cfg, log).init_process()
    sys.exit(0)

"""gunicorn's threaded worker, changed so that a request gets a thread only once it has arrived.

The event loop reads heads, TLS handshakes and bodies up to a limit. So a client that sends half a request, or nothing,
holds only a connection, for ARRIVAL_SECONDS. Larger bodies have a few threads of their own. When all threads are busy,
more requests get a 503.
"""

from __future__ import annotations

import logging
import os
import socket
import ssl
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from selectors import EVENT_READ
from typing import Any

from gunicorn import http, sock, util
from gunicorn.workers.gthread import ThreadWorker

from webapp.access.gate import Refusal
from webapp.access.guard import too_busy
from webapp.errors import CoppiceError
from webapp.live.websockets import KEEP
from webapp.serving.arrival import HEAD_BYTES, Arrival, UploadReader
from webapp.serving.refusals import raw_answer, unreadable

# Connections whose request is still arriving. One more closes the one that has waited longest.
ARRIVING = 512
# Time for a head and a buffered body to arrive.
ARRIVAL_SECONDS = 10.0
# Time for the other side to read the end of an answer.
LINGER_SECONDS = 2.0
# Connections that stay open between requests.
IDLE_CONNECTIONS = 1024
# Time for the process to close the store once its requests have ended.
LAST_SECONDS = 2.0
# Pause before a worker that could not start is started again.
AGAIN_SECONDS = 1.0
# The headers of a request as they came, in the environment of WSGI, which has those of one name joined.
HEADERS = "gunicorn.headers"
# gunicorn's errors of reading a request, and their statuses; any other one is a 400.
UNREADABLE = (
    (http.errors.LimitRequestLine, 414),
    (http.errors.ExpectationFailed, 417),
    (http.errors.LimitRequestHeaders, 431),
    (http.errors.UnsupportedTransferCoding, 501),
)
FAILED = Refusal("500 Internal Server Error", "internal", "the server failed; see its log")


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
            threading.excepthook = _log_unless_socket_error
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
        with suppress(OSError):
            conn.sock.send(raw_answer(too_busy(what)))
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
            if conn.too_long:
                raise http.errors.LimitRequestHeaders(f"its headers are longer than {HEAD_BYTES:,} bytes")
            request = next(conn.parser)
            self.current.headers = request.headers if request else []
            if conn.upload:
                request.body.reader = UploadReader(request.body.reader, conn)
            return bool(request) and self._keepalive_after(conn, self.handle_request(request, conn))
        except (http.errors.NoMoreData, StopIteration, OSError):
            return False  # disconnected, stalled, or now a websocket
        except Exception as error:
            if request is None and isinstance(error, http.errors.ParseException):
                self.log.warning("invalid request from %s: %s", conn.client[0], error)
                status = next((status for kind, status in UNREADABLE if isinstance(error, kind)), 400)
                answer = unreadable(status, str(error))
            else:  # the application answers its own failures
                self.log.exception("a request failed outside of the application")
                answer = FAILED
            with suppress(OSError):
                conn.sock.sendall(raw_answer(answer))
            return False

    def _keepalive_after(self, conn: Arrival, keepalive: bool) -> bool:
        """Return whether the connection stays open; its answer has promised so.

        gunicorn skips no more than 64 KiB of a body that was not read, and then closes after all.
        """
        if keepalive and not conn.upload:  # the whole body has arrived
            return bool(conn.parser.finish_body())
        return bool(super()._keepalive_after(conn, keepalive))

    def load_wsgi(self) -> None:
        """Load the application, and let each of its requests keep its socket."""
        application = self.app.wsgi()

        def wsgi(environ: dict[str, Any], start_response: Any) -> Any:
            conn = self.current.conn

            def start(*answer: Any) -> Any:
                if conn.upload and conn.until:  # the body has not been read, so no request can follow it
                    start_response.__self__.force_close()
                return start_response(*answer)

            environ[HEADERS] = self.current.headers
            environ[KEEP] = partial(setattr, conn, "detached", True)
            return application(environ, start)

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


def _log_unless_socket_error(failed: threading.ExceptHookArgs) -> None:
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

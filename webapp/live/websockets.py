"""The websockets of all pages, on one thread: a page that is open, slow or stuck costs no thread.

Engine.IO's threading mode gives each websocket several threads and blocking writes. Here one thread waits for all
sockets, and reads and writes without blocking. A broadcast is encoded once, and the backlog of a page is counted in
bytes: a page that reads nothing for STALLED_SECONDS, has more than LAG_BYTES waiting, or sends more than FRAMES, is
disconnected and gets a snapshot when it reconnects. A few threads answer requests from pages, one request of a page at
a time. Engine.IO still handles sessions, packets and the protocol above them; it gets our transport and queue.
"""

from __future__ import annotations

import logging
import queue
import selectors
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from engineio.packet import CLOSE, MESSAGE, NOOP, PING, PONG, UPGRADE, Packet
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Event, Ping, Request, TextMessage
from wsproto.utilities import ProtocolError

log = logging.getLogger("coppice.live")

# Key of a function in the WSGI environment by which an application keeps the socket of its request. Where a server
# has no such function, the request must last as long as the socket.
KEEP = "coppice.keep_socket"
# Bytes that may wait for a page, and the seconds within which it must read some, before it is disconnected.
LAG_BYTES = 4 * 1024 * 1024
STALLED_SECONDS = 20.0
# Bytes in one call of `send`.
CHUNK_BYTES = 256 * 1024
# Threads that answer requests from pages, and the requests of one page that may wait.
ANSWERING = 8
INBOX = 32
TICK_SECONDS = 1.0
# Frames that a page may send in a tick: a page sends a few, and reading tens of thousands delays all pages.
FRAMES = 1_000


class Outbox(queue.Queue[Any]):
    """Packets for one client; wakes the websocket that sends them, once there is one."""

    websocket: Websocket | None = None

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        """Add a packet; None ends the connection."""
        super().put(item, block, timeout)
        if self.websocket is not None:
            self.websocket.wake()

    def join(self) -> None:
        """Return at once: Engine.IO would wait in the request's thread until a page that is disconnected reads."""

    def drain(self) -> Iterable[Any]:
        """Yield every packet that waits."""
        while True:
            try:
                item = self.get_nowait()
            except queue.Empty:
                return
            self.task_done()
            yield item


class Websocket:
    """One page's websocket. Only the thread of its `Websockets` touches the socket.

    `waiting_bytes` are encoded but not sent; `moved_at` is the last time at which some were sent or none waited.
    Engine.IO sends the first ping; the next one is due at `ping_at`.
    """

    def __init__(self, owner: Websockets, client: Any, connection: socket.socket) -> None:
        self.owner, self.client, self.socket = owner, client, connection
        self.protocol = WSConnection(ConnectionType.SERVER)
        self.closed = threading.Event()
        self.waiting: deque[bytes] = deque()
        self.waiting_bytes = 0
        self.moved_at = time.monotonic()
        self.ending = False
        self.ping_at = float("inf")
        self.frames = 0  # since the last tick
        self._text: list[str] = []
        self._text_size = 0
        self.marked = False
        self._inbox: deque[Packet] = deque()
        self._answering = False
        self._lock = threading.Lock()

    def wake(self) -> None:
        """Have the thread send what waits for this page."""
        self.owner.look_at(self)

    def queue(self, data: bytes) -> None:
        """Add bytes to send."""
        if not self.waiting:
            self.moved_at = time.monotonic()
        self.waiting.append(data)
        self.waiting_bytes += len(data)

    def collect(self) -> None:
        """Encode this page's packets; one for many pages is encoded once."""
        for packet in self.client.queue.drain():
            if packet is None:
                self.ending = True
                return
            if not hasattr(packet, "frame"):
                packet.frame = self.protocol.send(TextMessage(packet.encode()))
            self.queue(packet.frame)

    def write(self) -> None:
        """Send as much as possible without blocking. Raises OSError."""
        try:
            while self.waiting:
                data = self.waiting[0]
                if len(data) < CHUNK_BYTES and len(self.waiting) > 1:
                    data = self._joined()
                taken = self.socket.send(data[:CHUNK_BYTES])
                self.waiting_bytes -= taken
                self.moved_at = time.monotonic()
                if taken == len(data):
                    self.waiting.popleft()
                else:
                    self.waiting[0] = data[taken:]
        except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            pass

    def _joined(self) -> bytes:
        """Join small pieces, so that one call sends them."""
        pieces, size = [], 0
        while self.waiting and size < CHUNK_BYTES:
            pieces.append(self.waiting.popleft())
            size += len(pieces[-1])
        self.waiting.appendleft(b"".join(pieces))
        return self.waiting[0]

    def read(self) -> bool:
        """Receive what has arrived; return False if the page has finished, or sends too much.

        Raises OSError and ProtocolError.
        """
        try:
            while data := self.socket.recv(65_536):
                self.protocol.receive_data(data)
                for event in self.protocol.events():
                    self.frames += 1
                    if self.frames > FRAMES or not self._handle(event):
                        return False
                if len(data) < 65_536 and not isinstance(self.socket, ssl.SSLSocket):
                    return True
        except (BlockingIOError, ssl.SSLWantReadError):
            return True
        return False

    def _handle(self, event: Event) -> bool:
        if isinstance(event, Ping):
            self.queue(self.protocol.send(event.response()))
        elif isinstance(event, CloseConnection):
            self.queue(self.protocol.send(event.response()))
            return False
        elif isinstance(event, TextMessage):
            self._text.append(event.data)
            self._text_size += len(event.data) + 1  # even an empty piece takes memory
            if self._text_size > self.client.server.max_http_buffer_size:
                return False
            if event.message_finished:
                text, self._text, self._text_size = "".join(self._text), [], 0
                return self._take(Packet(encoded_packet=text))
        return not isinstance(event, BytesMessage)

    def _take(self, packet: Packet) -> bool:
        """Handle a packet from the page; return False to disconnect it."""
        if packet.packet_type == PING and packet.data == "probe":  # the page switches from polling
            self.queue(self.protocol.send(TextMessage(Packet(PONG, "probe").encode())))
            self.client.upgrading = True
            self.client.queue.put(Packet(NOOP))  # ends the waiting poll
        elif packet.packet_type == UPGRADE:
            self.attach()
        elif packet.packet_type == PONG:
            self.client.last_ping = None
            self.ping_at = time.monotonic() + self.client.server.ping_interval
        elif packet.packet_type == MESSAGE:
            with self._lock:
                self._inbox.append(packet)
                if len(self._inbox) > INBOX:
                    return False
                if not self._answering:
                    self._answering = True
                    self.owner.answering.submit(self._answer)
        return bool(packet.packet_type != CLOSE)

    def attach(self) -> None:
        """Send the client's packets through this websocket from now on."""
        self.client.connected = self.client.upgraded = True
        self.client.upgrading = False
        self.client.queue.websocket = self
        self.wake()

    def _answer(self) -> None:
        """Answer the page's requests one after the other."""
        while True:
            with self._lock:
                if not self._inbox:
                    self._answering = False
                    return
                packet = self._inbox.popleft()
            try:
                self.client.receive(packet)
            except Exception:
                log.exception("cannot answer a page")

    def ping(self, now: float) -> None:
        """Send a ping if one is due."""
        if now >= self.ping_at and not self.client.closed:
            self.ping_at = float("inf")
            self.client.last_ping = time.time()
            self.queue(self.protocol.send(TextMessage(Packet(PING).encode())))

    def is_stuck(self, now: float) -> bool:
        """Return whether the page has stopped reading or answering pings."""
        silent = (
            self.client.last_ping and time.time() - self.client.last_ping > self.client.server.ping_timeout
        )
        stalled = self.waiting and now - self.moved_at > STALLED_SECONDS
        return bool(stalled or silent)


class Websockets:
    """The thread that reads and writes all websockets."""

    def __init__(self) -> None:
        self.answering = ThreadPoolExecutor(ANSWERING, thread_name_prefix="pages")
        self._all: set[Websocket] = set()
        self._changed: deque[Websocket] = deque()
        self._selector = selectors.DefaultSelector()
        self._woken_end, self._waking_end = socket.socketpair()
        for end in (self._woken_end, self._waking_end):
            end.setblocking(False)
        self._selector.register(self._woken_end, selectors.EVENT_READ)
        self._woken = False
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="websockets", daemon=True)
        self._thread.start()

    def transport(self, handler: Callable[..., Any], _: Any) -> Callable[..., Any]:
        """Return the websocket transport for Engine.IO; `handler` is a method of the client."""
        client = handler.__self__  # type: ignore[attr-defined]

        def upgrade(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            connection: socket.socket = environ.get("gunicorn.socket") or environ["werkzeug.socket"]
            websocket = Websocket(self, client, connection)
            try:
                accept_handshake(websocket, environ)
            except (ProtocolError, StopIteration):
                start_response("400 Bad Request", [("Content-Type", "text/plain")])
                return [b"this is not a websocket handshake\n"]
            keep = environ.get(KEEP)
            if keep is not None:
                keep()
            self.add(websocket)
            if keep is not None:
                raise StopIteration  # gunicorn sends nothing more
            websocket.closed.wait()
            raise ConnectionError  # Werkzeug sends nothing more

        return upgrade

    def add(self, websocket: Websocket) -> None:
        """Take over a websocket whose handshake answer is still to be sent."""
        # First, because one blocking read would stop the thread and so every page.
        websocket.socket.setblocking(False)
        if websocket.client.connected:  # it switches from polling when it sends UPGRADE
            self.look_at(websocket)
        else:
            websocket.attach()

    def look_at(self, websocket: Websocket) -> None:
        """Have the thread read and write a websocket; callable from any thread."""
        if websocket.marked:
            return
        websocket.marked = True
        self._changed.append(websocket)
        if not self._woken:
            self._woken = True
            self._wake()

    def _wake(self) -> None:
        with suppress(OSError):  # the pipe is full, so the thread wakes anyway
            self._waking_end.send(b"\0")

    def _run(self) -> None:
        next_tick = time.monotonic() + TICK_SECONDS
        while not self._closed:
            for key, mask in self._selector.select(max(0.0, next_tick - time.monotonic())):
                if key.data is None:
                    self._look()
                else:
                    self._turn(key.data, mask)
            if time.monotonic() >= next_tick:
                next_tick = time.monotonic() + TICK_SECONDS
                self._tick()
        for websocket in list(self._all):
            self._end(websocket)
        for one in (self._selector, self._woken_end, self._waking_end):
            one.close()

    def _look(self) -> None:
        """Read and write the websockets that were passed to `look_at`."""
        with suppress(BlockingIOError):
            self._woken_end.recv(4096)
        self._woken = False
        while self._changed:
            websocket = self._changed.popleft()
            websocket.marked = False
            if websocket.closed.is_set():
                continue
            if websocket not in self._all:
                self._all.add(websocket)
                self._selector.register(websocket.socket, selectors.EVENT_READ, websocket)
            # Data that came with the upgrade may be in the TLS layer's buffer, where no selector sees it.
            self._turn(websocket, selectors.EVENT_READ)

    def _turn(self, websocket: Websocket, mask: int) -> None:
        """Read and write one websocket without blocking; end it if it is closed or broken."""
        if websocket not in self._all:
            return
        alive = True
        try:
            if mask & selectors.EVENT_READ:
                alive = websocket.read()
            if websocket.client.queue.websocket is websocket:
                websocket.collect()
            websocket.write()
        except (OSError, ProtocolError, ValueError):
            alive = False
        if websocket.waiting_bytes > LAG_BYTES:
            log.warning("a page lags by %d bytes and is disconnected", websocket.waiting_bytes)
            alive = False
        if not alive or (websocket.ending and not websocket.waiting):
            self._end(websocket)
            return
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if websocket.waiting else 0)
        self._selector.modify(websocket.socket, events, websocket)

    def _tick(self) -> None:
        """Let pages send again, ping those whose ping is due, and disconnect stuck ones."""
        now = time.monotonic()
        for websocket in list(self._all):
            websocket.frames = 0
            if websocket.is_stuck(now):
                log.warning(
                    "a page takes nothing and is disconnected; %d bytes wait", websocket.waiting_bytes
                )
                self._end(websocket)
            elif now >= websocket.ping_at:
                websocket.ping(now)
                self._turn(websocket, 0)

    def _end(self, websocket: Websocket) -> None:
        """Close a websocket and tell Engine.IO."""
        self._all.discard(websocket)
        self._selector.unregister(websocket.socket)
        with suppress(OSError):
            websocket.socket.shutdown(socket.SHUT_RDWR)
        websocket.socket.close()
        websocket.waiting.clear()
        websocket.closed.set()
        client = websocket.client
        if client.queue.websocket is websocket:
            client.queue.websocket = None
            if self._closed:
                forget(client)
            else:
                self.answering.submit(forget, client)

    def close(self) -> None:
        """Send what can be sent at once, and close every websocket; can be called twice."""
        if not self._closed:
            self._closed = True
            self._wake()
            if threading.current_thread() is not self._thread:
                self._thread.join(timeout=2)
            self.answering.shutdown(wait=False, cancel_futures=True)


def forget(client: Any) -> None:
    """Tell Engine.IO that a client has disconnected."""
    client.close(wait=False, abort=True, reason=client.server.reason.TRANSPORT_CLOSE)
    client.server.sockets.pop(client.sid, None)


def accept_handshake(websocket: Websocket, environ: dict[str, Any]) -> None:
    """Accept a websocket handshake. Raises ProtocolError or StopIteration if the request is not one.

    Messages are not compressed: each page would need its own encoding of every broadcast.
    """
    names = (
        (name[5:].replace("_", "-"), value) for name, value in environ.items() if name.startswith("HTTP_")
    )
    head = "".join(f"{name}: {value}\r\n" for name, value in names)
    websocket.protocol.receive_data(f"GET / HTTP/1.1\r\n{head}\r\n".encode("latin-1"))
    if not isinstance(next(iter(websocket.protocol.events())), Request):
        raise ProtocolError
    websocket.queue(websocket.protocol.send(AcceptConnection()))

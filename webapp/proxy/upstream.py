"""Pooled connections to a provider. Bytes are forwarded as they arrive, and an answer has no time limit here.

urllib3 keeps the connections. Nothing is decoded, redirected or retried here: the client decides that, as without the
proxy. When a client has disconnected, another thread ends its call.
"""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from email.errors import MissingHeaderBodySeparatorDefect
from typing import Any
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError
from urllib3.util import SKIP_HEADER, Timeout, parse_url

CONNECT_SECONDS = 60.0
# As many as calls are served at the same time: urllib3 warns of each connection that finds no place.
POOLED = 256
READ_BYTES = 65_536
# Bounds on the head of an answer, in header fields and in bytes of a line; some clients allow more than http.client.
vars(http.client).update(_MAXHEADERS=1_000, _MAXLINE=262_144)
# Headers that apply to one connection only, and those that the proxy sets itself.
_NOT_PASSED = frozenset(
    (
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te"),
        *("trailer", "transfer-encoding", "upgrade"),
    )
)
_OWN_REQUEST = frozenset(("host", "content-length", "accept-encoding", "expect"))
_OWN_ANSWER = frozenset(("server", "date"))

Headers = Sequence[tuple[str, str]]


class ProviderGone(OSError):
    """The provider cannot be reached, or ended its answer in the middle."""


class Call:
    """A call under way: its connection, which `end` cuts from any thread, and its path and query as they are sent."""

    def __init__(self) -> None:
        self.socket: socket.socket | None = None
        self.root = self.target = ""
        self.ended = False

    def end(self) -> None:
        """End the connection; a thread that reads from it gets an error."""
        self.ended = True
        if self.socket is not None:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)


_current = threading.local()


class _Lines:
    """The lines of a head, the last one kept."""

    def __init__(self, file: Any) -> None:
        self._file, self.last = file, b""

    def readline(self, size: int = -1) -> bytes:
        """Return the next line, at most so many bytes of it."""
        self.last = self._file.readline(size)
        return self.last

    def close(self) -> None:
        """Close the connection's file."""
        self._file.close()


class _Response(http.client.HTTPResponse):
    """An answer whose head must be whole; interim answers (1xx) before it are skipped."""

    fp: Any

    def begin(self) -> None:
        """Read the head. Raises HTTPException if it breaks off, or has a line that is not a header."""
        file = self.fp
        self.fp = lines = _Lines(file)
        try:
            super().begin()
        finally:
            self.fp = file if self.fp is lines else None  # None where it is closed
        if lines.last not in (b"\r\n", b"\n"):
            raise http.client.IncompleteRead(lines.last)
        if any(isinstance(one, MissingHeaderBodySeparatorDefect) for one in self.headers.defects):
            raise http.client.HTTPException("a line of its head is not a header")

    def _read_status(self) -> tuple[str, int, str]:
        version, status, reason = super()._read_status()  # type: ignore[misc]  # typed nowhere
        interim = 100 < status < 200 and status != http.client.SWITCHING_PROTOCOLS
        return version, http.client.CONTINUE if interim else status, reason


class _CallConnection:
    """A connection that gives its socket to the thread's call, and sends the target as the client wrote it."""

    sock: Any
    response_class = _Response

    def connect(self) -> None:
        super().connect()  # type: ignore[misc]  # of the connection that it is mixed into
        self._attach()

    def putrequest(self, method: str, url: str, *args: Any, **more: Any) -> None:
        call = self._attach()
        if call is not None:  # urllib3 would write it in its own way
            url = call.target if url.startswith("/") else call.root + call.target
        super().putrequest(method, url, *args, **more)  # type: ignore[misc]  # as above

    def _attach(self) -> Call | None:
        call: Call | None = getattr(_current, "call", None)
        if call is not None and self.sock is not None:
            call.socket = self.sock
            if call.ended:
                call.end()
        return call


class _Http(_CallConnection, HTTPConnection):  # type: ignore[misc]  # its answers are of our class
    pass


class _Https(_CallConnection, HTTPSConnection):  # type: ignore[misc]  # as above
    pass


class Provider:
    """One provider. Its address has no version, because every path begins with one."""

    def __init__(self, address: str) -> None:
        parsed = parse_url(address)
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ValueError(
                f"expected the address of a provider, like https://api.example.com, got {address}"
            )
        self.base = (parsed.path or "").rstrip("/").removesuffix("/v1")
        self.address = f"{parsed.scheme}://{parsed.netloc}{self.base}"
        timeout = Timeout(connect=CONNECT_SECONDS, read=None)
        self._root = f"{parsed.scheme}://{parsed.netloc}"
        through = getproxies().get(parsed.scheme) if not proxy_bypass(parsed.host) else None
        manager = (
            urllib3.ProxyManager(through, maxsize=POOLED, timeout=timeout)
            if through
            else urllib3.PoolManager(maxsize=POOLED, timeout=timeout)
        )
        manager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
        self._manager = manager

    def send(
        self,
        call: Call,
        method: str,
        target: str,
        headers: Headers,
        body: Iterable[bytes],
        length: int | None,
    ) -> Answer:
        """Send a request while its body arrives; return the answer as soon as its head is there.

        Without a length they are sent in chunks.

        Raises:
            ProviderGone: there is no answer.
        """
        _current.call = call
        call.root, call.target = self._root, f"{self.base}{target}"
        sent = urllib3.HTTPHeaderDict()
        for name, value in headers:
            if name.lower() not in _NOT_PASSED and name.lower() not in _OWN_REQUEST:
                sent.add(name, value)
        sent["Accept-Encoding"] = "identity"  # the copy is read as text, and a client gets each event at once
        if "user-agent" not in sent:
            sent["User-Agent"] = SKIP_HEADER
        if length or (length == 0 and method in ("POST", "PUT", "PATCH")):
            sent["Content-Length"] = str(length)
        try:
            response = self._manager.urlopen(
                method,
                f"{self._root}/",
                body=None if length == 0 else body,
                headers=sent,
                redirect=False,
                retries=False,
                assert_same_host=False,
                preload_content=False,
                decode_content=False,
            )
        except (HTTPError, OSError) as error:
            reason = str(error).partition("): ")[2] or str(error)  # behind the name of urllib3's object
            raise ProviderGone(f"{self.address} gave no answer: {reason}") from error
        finally:
            _current.call = None
        return Answer(response)

    def close(self) -> None:
        """Close all connections that are not in use."""
        self._manager.clear()


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = _Http


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _Https


class Answer:
    """An answer of a provider, which can be read once, or several times after `read`.

    Raises:
        ProviderGone: its transfer encoding is unknown.
    """

    def __init__(self, response: urllib3.BaseHTTPResponse) -> None:
        self._response: Any = response
        self._whole: bytes | None = None
        self.status = f"{response.status} {response.reason or ''}".rstrip() + ("" if response.reason else " ")
        self.code = response.status
        coding = response.headers.get("transfer-encoding", "").lower()
        if coding not in ("", "chunked", "identity"):
            response.close()
            raise ProviderGone(f"the answer has an unknown transfer encoding: {coding}")
        # Beside chunks, a length says nothing.
        dropped = _NOT_PASSED | _OWN_ANSWER | ({"content-length"} if coding == "chunked" else set())
        self.headers = [
            (name, value) for name, value in response.headers.items() if name.lower() not in dropped
        ]

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as it arrives.

        Raises:
            ProviderGone: the body is incomplete.
        """
        if self._whole is not None:
            yield self._whole
            return
        try:
            while data := self._response.read1(READ_BYTES, decode_content=False):
                yield data
        except (HTTPError, OSError, ValueError) as error:
            raise ProviderGone(f"the answer broke off: {error}") from error

    def read(self) -> bytes:
        """Return the whole body, and keep it. Raises ProviderGone."""
        self._whole = b"".join(self.chunks())
        return self._whole

    def close(self) -> None:
        """Return the connection to the pool if everything was read, otherwise close it."""
        self._response.close()

"""Pooled connections to a provider. Bytes are forwarded as they arrive, and an answer has no time limit here.

urllib3 keeps the connections. Nothing is decoded, redirected or retried here: the client decides that, as without the
proxy. When a client has disconnected, another thread ends its call.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError
from urllib3.util import SKIP_HEADER, Timeout, parse_url

CONNECT_SECONDS = 60.0
POOLED = 64
READ_BYTES = 65_536
# Headers that apply to one connection only, and those that the proxy sets itself.
_NOT_PASSED = frozenset(
    (
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te"),
        *("trailer", "transfer-encoding", "upgrade"),
    )
)
_OWN_REQUEST = frozenset(("host", "content-length", "accept-encoding", "expect"))
_OWN_ANSWER = frozenset(("server", "date"))

BODILESS = (204, 304)

Headers = Sequence[tuple[str, str]]


class ProviderGone(OSError):
    """The provider cannot be reached, or ended its answer in the middle."""


class Call:
    """A running call and its connection, which any thread can `end`."""

    def __init__(self) -> None:
        self.socket: socket.socket | None = None
        self.ended = False

    def end(self) -> None:
        """End the connection; a thread that reads from it gets an error."""
        self.ended = True
        if self.socket is not None:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)


_current = threading.local()


class _Noting:
    """A connection that tells the thread's call which socket it uses."""

    sock: Any

    def getresponse(self) -> Any:
        call: Call | None = getattr(_current, "call", None)
        if call is not None:
            call.socket = self.sock
            if call.ended:
                call.end()
        return super().getresponse()  # type: ignore[misc]  # the method of the connection class


class _Http(_Noting, HTTPConnection):
    pass


class _Https(_Noting, HTTPSConnection):
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
                f"{self._root}{self.base}{target}",
                body=None if length == 0 else body,
                headers=sent,
                redirect=False,
                retries=False,
                assert_same_host=False,
                preload_content=False,
                decode_content=False,
            )
        except (HTTPError, OSError) as error:
            raise ProviderGone(f"{self.address} gave no answer: {error}") from error
        finally:
            _current.call = None
        return Answer(response, has_body=method != "HEAD")

    def close(self) -> None:
        """Close all connections that are not in use."""
        self._manager.clear()


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = _Http


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _Https


class Answer:
    """An answer of a provider, which can be read once.

    Raises:
        ProviderGone: it ends in the middle of its head.
    """

    def __init__(self, response: urllib3.BaseHTTPResponse, *, has_body: bool) -> None:
        self._response: Any = response
        self.status = f"{response.status} {response.reason or ''}".rstrip() + ("" if response.reason else " ")
        self.code = response.status
        self.headers = [
            (name, value)
            for name, value in response.headers.items()
            if name.lower() not in _NOT_PASSED and name.lower() not in _OWN_ANSWER
        ]

        framed = {"content-length", "transfer-encoding"} & {name.lower() for name in response.headers}
        self._first = b""
        if has_body and not framed and self.code not in BODILESS:
            # http.client takes a connection that ends within the head for a complete head.
            self._first = next(self.chunks(), b"")
            if not self._first:
                raise ProviderGone("the answer broke off in its head")

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as it arrives.

        Raises:
            ProviderGone: the body is incomplete.
        """
        if self._first:
            yield self._first
        try:
            while data := self._response.read1(READ_BYTES, decode_content=False):
                yield data
        except (HTTPError, OSError, ValueError) as error:
            raise ProviderGone(f"the answer broke off: {error}") from error

    def read(self) -> bytes:
        """Return the whole body. Raises ProviderGone."""
        return b"".join(self.chunks())

    def close(self) -> None:
        """Return the connection to the pool if everything was read, otherwise close it."""
        self._response.close()

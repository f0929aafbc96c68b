"""The proxy as a WSGI application: forwards a call, event by event, and then hands over a copy.

The client sees the same as without the proxy: the provider's status, headers, bytes and errors, and a connection that
ends where the provider's does.
"""

from __future__ import annotations

import logging
import re
import select
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from webapp.access.requests import LOOPBACK_HOSTS, Environ, StartResponse, host_name
from webapp.proxy.callers import SUBSCRIPTION, caller_of, is_subscription
from webapp.proxy.copy_sender import CopySender, now_ms
from webapp.proxy.editing import Body, Refused
from webapp.proxy.scripts import Outcome, Scripts
from webapp.proxy.unpacking import unpacked
from webapp.proxy.upstream import Answer, Call, Headers, Provider, ProviderGone
from webapp.services.proxied.call_copy import CallCopy
from webapp.services.proxied.keys import Protocol, protocol_of

log = logging.getLogger(__name__)

# /proxy[/s/<session name>]/<provider>, followed by the provider's own path.
ROUTE = re.compile(
    r"/proxy(?:/s/(?P<name>[^/]+))?/(?P<provider>openai|anthropic)(?P<path>/[^?]*|)(?P<query>\?.*)?"
)
# The beginning of a target that names its server, as clients send it that take this for a proxy of the network.
_ORIGIN = re.compile(r"^https?://[^/?#]*", re.IGNORECASE)
# Seconds between two checks for disconnected clients.
LOOK_SECONDS = 1.0
# A longer answer is forwarded without a copy.
COPIED_BYTES = 32 * 1024 * 1024
# A conversation is edited and copied up to this size, in bytes: Anthropic takes 32 MB, OpenAI 50 MB of files.
BUFFERED_BYTES = 64 * 1024 * 1024
CODING = "content-encoding"
# The size of the pieces in which a request is forwarded.
PIECE_BYTES = 128 * 1024


class ClientGone(OSError):
    """A client that disconnected before its request was complete."""


class ClientBody:
    """The body of a request: forwarded while it arrives, or read first if it is edited.

    It is buffered for the copy if the call is a conversation, up to `BUFFERED_BYTES`. A longer one is only forwarded.

    Raises:
        ClientGone: it is sent in chunks, and incomplete.
    """

    def __init__(self, environ: Environ, *, copied: bool) -> None:
        self._input = environ["wsgi.input"]
        self._pieces: list[bytes] = []
        # Bytes of the whole, and those that have not arrived; None if only its end will tell.
        self.length: int | None = None
        self._missing: int | None = None
        if environ.get("HTTP_TRANSFER_ENCODING"):
            self._measure()
        else:
            self.length = self._missing = int(environ.get("CONTENT_LENGTH") or 0)
        self.is_buffered = copied and self.length is not None and self.length <= BUFFERED_BYTES

    @property
    def is_whole(self) -> bool:
        """Return whether all of it has arrived and is buffered."""
        return self.is_buffered and not self._missing

    def __iter__(self) -> Iterator[bytes]:
        """Yield what has arrived, then the rest while it arrives. Raises ClientGone."""
        arrived = tuple(self._pieces)
        if not self.is_buffered:
            self._pieces.clear()
        yield from arrived
        while data := self._next():
            if self.is_buffered:
                self._pieces.append(data)
            yield data

    def whole(self) -> bytes:
        """Return all of it, if it is buffered. Raises ClientGone."""
        while data := self._next():
            self._pieces.append(data)
        self._pieces = [b"".join(self._pieces)]
        return self._pieces[0]

    def _measure(self) -> None:
        """Read a body in chunks, so that it is sent on with its length, as most servers want it. A long one is not."""
        size = 0
        while size <= BUFFERED_BYTES:
            data = self._next()
            if not data:
                self.length = size
                return
            self._pieces.append(data)
            size += len(data)

    def _next(self) -> bytes:
        """Return the next piece, b"" at the end."""
        if self._missing == 0:
            return b""
        size = PIECE_BYTES if self._missing is None else min(PIECE_BYTES, self._missing)
        try:
            data = bytes(self._input.read(size))
        except (OSError, ValueError) as error:
            raise ClientGone(f"the request broke off: {error}") from error
        if self._missing is not None:
            if not data:
                raise ClientGone("the request broke off")
            self._missing -= len(data)
        elif not data:
            self._missing = 0
        return data


@dataclass
class RelayedCall:
    """A running call: the client's request, the request to send instead, and a copy of the answer."""

    provider: str
    name: str
    method: str
    path: str
    target: str
    headers: Headers
    body: ClientBody
    protocol: Protocol | None
    at: int = field(default_factory=now_ms)
    outcome: Outcome = field(default_factory=Outcome)
    status: int = 0
    answer_coding: str = ""
    answer: list[bytes] = field(default_factory=list)
    size: int = 0

    def request(self) -> bytes:
        """Return the body, unpacked. Raises ValueError if that is impossible, and ClientGone."""
        return unpacked(self.body.whole(), coding_of(self.headers), BUFFERED_BYTES)

    def keep(self, data: bytes) -> None:
        """Keep a part of the answer for the copy."""
        self.size += len(data)
        if self.protocol is not None and self.size <= COPIED_BYTES:
            self.answer.append(data)


class Relay:
    """The WSGI application. It serves the named `providers`, on this machine's own host names only."""

    def __init__(
        self,
        providers: Mapping[str, Provider],
        copies: CopySender,
        scripts: Scripts,
    ) -> None:
        self._providers, self._copies, self._scripts = providers, copies, scripts
        self._watch = DisconnectWatcher()

    def close(self) -> None:
        """Stop handing over copies, and close all connections."""
        self._watch.close()
        self._copies.close()
        for provider in self._providers.values():
            provider.close()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        refusal = self._refusal(environ)
        if refusal is not None:
            return _say(start_response, *refusal)
        found = ROUTE.fullmatch(raw_target(environ))
        if found is None:
            return _say(
                start_response, "404 Not Found", "expected /proxy/openai/v1/… or /proxy/anthropic/v1/…"
            )
        if environ.get("HTTP_UPGRADE", "").lower() == "websocket":
            return _say(start_response, "426 Upgrade Required", "no websockets here; use HTTP")
        if environ.get("HTTP_TRANSFER_ENCODING", "chunked").strip().lower() != "chunked":
            return _say(start_response, "501 Not Implemented", "the only transfer encoding here is chunked")
        is_post, path = environ["REQUEST_METHOD"] == "POST", found["path"] or "/"
        protocol = protocol_of(found["provider"], path) if is_post else None
        try:
            body = ClientBody(environ, copied=protocol is not None)
        except ClientGone as gone:
            return _say(start_response, "400 Bad Request", str(gone))
        one = RelayedCall(
            found["provider"],
            found["name"] or "",
            environ["REQUEST_METHOD"],
            path,
            path + (found["query"] or ""),
            sent_headers(environ),
            body,
            protocol,
        )
        return self._relay(environ, start_response, one)

    def _refusal(self, environ: Environ) -> tuple[str, str] | None:
        """Return status and reason for refusing a request: browser pages must not use the proxy. None to serve it."""
        host = host_name(environ.get("HTTP_HOST", ""))
        if host not in LOOPBACK_HOSTS:
            return "421 Misdirected Request", f"this proxy does not answer for {host or 'no host'}"
        if "HTTP_ORIGIN" in environ or environ.get("HTTP_SEC_FETCH_SITE", "none") != "none":
            return "403 Forbidden", "pages of a browser cannot use the proxy"
        return None

    def _relay(self, environ: Environ, start_response: StartResponse, one: RelayedCall) -> Iterable[bytes]:
        one.outcome = self._edited(one)
        call = Call()
        client = environ.get("gunicorn.socket") or environ.get("werkzeug.socket")
        self._watch.add(client, call)
        try:
            answer = self._send(one, call)
            one.status, one.answer_coding = answer.code, coding_of(answer.headers)
            self._begin(start_response, answer)
        except BaseException:
            self._watch.remove(client)
            raise
        return self._stream(one, client, answer)

    def _begin(self, start_response: StartResponse, answer: Answer) -> None:
        """Send the head of an answer. Raises ProviderGone if it cannot be sent, as one that is not HTTP."""
        try:
            start_response(answer.status, answer.headers)
        except Exception as error:
            answer.close()
            raise ProviderGone(f"the head of the answer cannot be sent: {error}") from error

    def _send(self, one: RelayedCall, call: Call) -> Answer:
        """Return the provider's answer. A pruned request that it rejects is sent again unchanged.

        Raises:
            ProviderGone: there is no answer; the client's connection ends then too.
        """
        provider, outcome = self._providers[one.provider], one.outcome
        if outcome.data is None:
            return provider.send(call, one.method, one.target, one.headers, one.body, one.body.length)
        data = outcome.data
        headers = [(name, value) for name, value in one.headers if name != CODING]
        answer = provider.send(call, one.method, one.target, headers, (data,), len(data))
        if answer.code != 400:
            return answer
        try:
            said = answer.read()[:500].decode("utf-8", "replace")
        except ProviderGone as gone:
            said = str(gone)
            answer.close()
        self._scripts.refused(outcome.session, outcome.version)
        one.outcome = Outcome(
            reason=f"the provider refused the pruned request: {said}", session=outcome.session
        )
        return provider.send(call, one.method, one.target, one.headers, one.body, one.body.length)

    def _stream(self, one: RelayedCall, client: Any, answer: Answer) -> Iterator[bytes]:
        """Yield the answer as it arrives, with an empty piece first, so that its head is sent at once."""
        whole = False
        try:
            yield b""
            for data in answer.chunks():
                one.keep(data)
                yield data
            whole = True
        finally:
            self._watch.remove(client)
            answer.close()
            self._hand_over(one, whole=whole)

    # -- editing

    def _edited(self, one: RelayedCall) -> Outcome:
        """Return the edited request. If anything goes wrong here, it is sent unchanged."""
        if one.protocol is None:
            return Outcome()
        try:
            return self._apply_script(one, one.protocol)
        except Refused as refused:
            return Outcome(reason=str(refused))
        except ClientGone:
            raise
        except Exception as error:
            log.exception("a request could not be edited")
            return Outcome(reason=f"it could not be edited ({type(error).__name__})")

    def _apply_script(self, one: RelayedCall, protocol: Protocol) -> Outcome:
        """Return the request edited by the script of its session, or why it is sent unchanged. Raises Refused."""
        headers = dict(one.headers)
        named = caller_of(headers, one.name, {}).name
        if not (self._scripts.knows(named) if named else self._scripts.any):
            return Outcome()
        if self._scripts.killed:
            return Outcome(reason="pruning is stopped for everybody")
        if is_subscription(one.provider, headers):
            return Outcome(reason=SUBSCRIPTION)
        if not one.body.is_buffered:
            raise Refused(f"its body is longer than {BUFFERED_BYTES // 1024**2} MiB")
        try:
            data = one.request()
        except ValueError as error:
            raise Refused(f"its body: {error}") from None
        before = self._scripts.before(named, data)
        body = Body.read(data, protocol, before)
        said = {name: place.value for name, place in body.fields.items() if name == "metadata"}
        name = named or caller_of(headers, one.name, said).name
        outcome = self._scripts.apply(name, body)
        self._scripts.sent(named, body, before)
        return outcome

    # -- the copy

    def _hand_over(self, one: RelayedCall, *, whole: bool) -> None:
        """Hand over a copy of a call of a conversation, if its request is complete and it is not too large."""
        headers = dict(one.headers)
        if one.protocol is None or one.size > COPIED_BYTES or not one.body.is_whole:
            return
        try:
            request = one.request().decode("utf-8")
            answer = unpacked(b"".join(one.answer), one.answer_coding, COPIED_BYTES, cut=True)
            caller = caller_of(headers, one.name, {})
            self._copies.put(
                CallCopy(
                    provider=one.provider,
                    path=one.path,
                    session=one.outcome.session or caller.name,
                    parent=caller.parent,
                    status=one.status,
                    request=request,
                    answer=answer.decode("utf-8", "replace"),
                    whole=whole,
                    at=one.at,
                    applied=one.outcome.version,
                    reason=one.outcome.reason,
                    subscription=is_subscription(one.provider, headers),
                )
            )
        except ValueError as error:
            log.warning("a call is not observed: %s", error)
        except Exception:
            log.exception("a call could not be handed over")


class DisconnectWatcher:
    """Ends calls whose clients have disconnected. One thread watches all clients."""

    def __init__(self) -> None:
        self._calls: dict[int, tuple[socket.socket, Call]] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, client: socket.socket | None, call: Call) -> None:
        """Watch a client; None if its socket is unknown."""
        if client is None:
            return
        with self._lock:
            self._calls[id(client)] = (client, call)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
                self._thread.start()

    def remove(self, client: socket.socket | None) -> None:
        """Stop watching a client."""
        with self._lock:
            self._calls.pop(id(client), None)

    def close(self) -> None:
        """End the thread."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(LOOK_SECONDS):
            with self._lock:
                watched = list(self._calls.values())
            for client, call in watched:
                if has_gone(client):
                    call.end()


def has_gone(client: socket.socket) -> bool:
    """Return whether the other side of a connection has closed it."""
    try:
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(client, select.POLLIN)
            ready = bool(poll.poll(0))
        else:
            ready = bool(select.select([client], [], [], 0)[0])
        return ready and client.recv(1, socket.MSG_PEEK) == b""
    except (OSError, ValueError):  # closed by either side
        return True


def raw_target(environ: Environ) -> str:
    """Return path and query exactly as the client sent them."""
    raw = environ.get("RAW_URI") or environ.get("REQUEST_URI")
    if isinstance(raw, str):
        return _ORIGIN.sub("", raw)
    query = environ.get("QUERY_STRING", "")
    return f"{environ.get('PATH_INFO', '')}{'?' if query else ''}{query}"


def sent_headers(environ: Environ) -> list[tuple[str, str]]:
    """Return the headers of a request, in lower case; a repeated one as often as the WSGI server passes it on."""
    came = environ.get("gunicorn.headers")
    if came is not None:
        return [(name.lower(), value) for name, value in came]
    found = [
        (name[5:].replace("_", "-").lower(), value)
        for name, value in environ.items()
        if name.startswith("HTTP_")
    ]
    if environ.get("CONTENT_TYPE"):
        found.append(("content-type", environ["CONTENT_TYPE"]))
    return found


def coding_of(headers: Headers) -> str:
    """Return the compression of a body; "" for none."""
    return next((value for name, value in headers if name.lower() == CODING), "")


def _say(start_response: StartResponse, status: str, message: str) -> list[bytes]:
    """Send the proxy's own answer, in a shape that fits both providers' errors."""
    error = {"type": "error", "error": {"type": "proxy_error", "message": f"coppice proxy: {message}"}}
    body = orjson.dumps(error)
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]

"""Access to the server: programs of this machine, and our own pages in its browsers.

Two laws, for HTTP and Socket.IO alike, checked before anything else sees the request:
a request names a host that is ours (so that no rebound DNS name reaches us), and whatever may change something
comes from our own pages or from a program (a browser says where a page is from; a program says nothing).
A Socket.IO handshake counts as unsafe whatever its method, because what follows on it may change things.
Where a token is set, everything asks for it but the routes of a list, whatever else is added; which route an address
reaches is asked of the table that routes it, so that no spelling leads past the gate. Nothing here knows Flask.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, quote, unquote

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
SOCKET_PREFIX = "/socket.io"
TOKEN_COOKIE = "coppice_token"

HOST = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^:\[\]@,/\s]+)(:\d*)?")

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]
IsOpen = Callable[[Environ], bool]


def nothing(_: Environ) -> bool:
    """Return False: no route is open."""
    return False


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason a request is refused. `type` is a short stable name, `message` says what to do.

    `retry_seconds` is when to try again, 0 where that would change nothing.
    """

    status: str
    type: str
    message: str
    retry_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Gate:
    """Decides which requests are allowed. `hosts` are names without port besides loopback, `origins` whole origins.

    `is_open` returns whether a request reaches a route that answers without the token; all others ask for it.
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    token: str | None = None
    is_open: IsOpen = nothing

    def refusal(self, environ: Environ) -> Refusal | None:
        """Return why the request is refused, None if it is allowed."""
        return self._host_refusal(environ) or self._origin_refusal(environ) or self._token_refusal(environ)

    def allows_origin(self, origin: str | None, environ: Environ) -> bool:
        """Return whether a page from `origin` is one of ours: the host of the request, or a configured one."""
        if origin is None:
            return True
        host = environ.get("HTTP_HOST", "").lower()
        own = {f"http://{host}", f"https://{host}"}  # https: behind a proxy that ends TLS
        return origin.lower() in own | self.origins

    def admits(self, environ: Environ) -> bool:
        """Return whether the request has the token, or none is needed."""
        return self.token is None or self.is_token(sent_token(environ))

    def is_token(self, text: str | None) -> bool:
        """Return whether `text` is the token, in constant time."""
        if text is None or self.token is None:
            return False
        return hmac.compare_digest(text.encode("utf-8", "surrogateescape"), self.token.encode())

    def _host_refusal(self, environ: Environ) -> Refusal | None:
        host = host_name(environ.get("HTTP_HOST", ""))
        if host in LOOPBACK_HOSTS or host in self.hosts:
            return None
        message = (
            f"host {host or '(none)'} is not one of ours; open http://127.0.0.1 with the port instead, "
            f"or start with --allow-host {host or 'NAME'}"
        )
        return Refusal("403 Forbidden", "unknown_host", message)

    def _origin_refusal(self, environ: Environ) -> Refusal | None:
        if environ["REQUEST_METHOD"] in SAFE_METHODS and not is_socket(environ):
            return None
        origin = environ.get("HTTP_ORIGIN")
        if not self.allows_origin(origin, environ):
            message = f"a page from {origin} may not do this; only our own pages and programs may"
            return Refusal("403 Forbidden", "foreign_origin", message)
        site = environ.get("HTTP_SEC_FETCH_SITE", "same-origin")
        if site not in ("same-origin", "none") and (origin is None or origin.lower() not in self.origins):
            return Refusal("403 Forbidden", "foreign_origin", f"a {site} page may not do this")
        return None

    def _token_refusal(self, environ: Environ) -> Refusal | None:
        if self.admits(environ) or self.is_open(environ):
            return None
        message = (
            "this server asks for its token; send `Authorization: Bearer …`, or open the page with ?token=…"
        )
        return Refusal("401 Unauthorized", "token_needed", message)


def host_name(header: str) -> str:
    """Return the host of a `Host` header in lower case, without its port; an IPv6 address keeps its brackets.

    Empty for what is no host at all.
    """
    found = HOST.fullmatch(header.strip().lower())
    return str(found["host"]) if found else ""


def hosts_of(host: str, allowed: Iterable[str]) -> frozenset[str]:
    """Return the host names that requests may use: the allowed ones, and the address of the server.

    All addresses together are no name.
    """
    own = f"[{host}]" if ":" in host else host
    return frozenset(name.lower() for name in (*allowed, *(() if is_every_address(host) else (own,))))


def is_every_address(host: str) -> bool:
    """Return whether a host means all addresses of this machine, as `::` and an empty one do."""
    try:
        return not host or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def is_socket(environ: Environ) -> bool:
    """Return whether the request belongs to Socket.IO."""
    path: str = environ.get("PATH_INFO", "")
    return path.startswith(SOCKET_PREFIX)


def sent_token(environ: Environ) -> str:
    """Return the token of a request, from its bearer header or our cookie; empty if it has none."""
    scheme, _, value = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == "bearer":  # WSGI gives a header's bytes as latin-1
        return str(value).strip().encode("latin-1", "replace").decode("utf-8", "surrogateescape")
    try:
        cookie = SimpleCookie(environ.get("HTTP_COOKIE", "")).get(TOKEN_COOKIE)
    except CookieError:
        return ""
    return unquote(cookie.value) if cookie else ""


class Guarded:
    """A WSGI application behind a gate. The outermost layer, so that Socket.IO's routes are behind it too."""

    def __init__(self, application: WsgiApp, gate: Gate) -> None:
        self.application = application
        self.gate = gate

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request directly if the gate refuses it, or if it only brings the token."""
        refusal = self.gate.refusal(environ)
        if refusal is not None:
            return answer(refusal, environ, start_response)
        if self.gate.is_token(self.brought_token(environ)):
            return keep_token(self.gate.token or "", environ, start_response)
        return self.application(environ, start_response)

    def brought_token(self, environ: Environ) -> str | None:
        """Return the token in the address of a page that was opened with one."""
        if environ["REQUEST_METHOD"] != "GET" or not self.gate.is_open(environ):
            return None
        found = parse_qs(str(environ.get("QUERY_STRING", ""))).get("token")
        return found[-1] if found else None


def keep_token(token: str, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    """Move the token from the address to a cookie that no script and no other site can use."""
    cookie = f"{TOKEN_COOKIE}={quote(token, safe='')}; HttpOnly; Path=/; SameSite=Strict"
    path = "/" + environ.get("PATH_INFO", "").lstrip("/")
    location = quote(path.encode("latin-1"))
    start_response("303 See Other", [("Location", location), ("Set-Cookie", cookie)])
    return [b""]


def answer(refusal: Refusal, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    """Return the refusal as a response: JSON for programs, plain text for a page."""
    path = "/" + environ.get("PATH_INFO", "").lstrip("/")
    body, headers = written(refusal, for_program=path.startswith(("/api", SOCKET_PREFIX)))
    start_response(refusal.status, headers)
    return [body]


def written(refusal: Refusal, *, for_program: bool) -> tuple[bytes, list[tuple[str, str]]]:
    """Return body and headers of a refusal."""
    if for_program:
        error = {"type": refusal.type, "message": refusal.message, "details": []}
        body, mime = json.dumps({"error": error}).encode(), "application/json"
    else:
        body, mime = (refusal.message + "\n").encode(), "text/plain; charset=utf-8"
    headers = [
        ("Content-Type", mime),
        ("Content-Length", str(len(body))),
        ("X-Content-Type-Options", "nosniff"),
        ("Cache-Control", "no-store"),
    ]
    if refusal.status.startswith("401"):
        headers.append(("WWW-Authenticate", 'Bearer realm="coppice"'))
    if refusal.retry_seconds:
        headers.append(("Retry-After", str(refusal.retry_seconds)))
    return body, headers


def too_busy(what: str) -> Refusal:
    """Return the refusal of a request that comes while all that could take it is taken."""
    return Refusal(
        "503 Service Unavailable", "too_busy", f"too many {what} at once; try again in a moment", 1
    )


def content_policy(nonce: str, host: str) -> str:
    """Return the Content-Security-Policy of a page: our own files, the one inline import map that bears `nonce`.

    `host` is the checked `Host` header; older browsers do not take 'self' to cover websockets.
    """
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' 'nonce-{nonce}'",
            f"style-src 'self' 'nonce-{nonce}'",
            "img-src 'self' data:",
            f"connect-src 'self' ws://{host} wss://{host}",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

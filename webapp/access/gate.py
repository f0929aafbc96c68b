"""Access to the server: programs of this machine, and our own pages in its browsers.

The rules, for HTTP and Socket.IO alike, checked before anything else sees the request: a request names a host
that is ours (so that no rebound DNS name reaches us); everything except the open pages is requested by our
own pages or by a program (a browser says where a page is from; a program says nothing); and a POST has what
no form can send. A Socket.IO handshake counts as unsafe whatever its method, because what follows on it may
change things. If tokens are in use, every route needs one except those of a short list. The routing table
decides which route an address reaches, so that no spelling gets past the gate. Nothing here knows Flask, or
where tokens are kept.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any, TypeVar
from urllib.parse import parse_qs, quote

from webapp.access.passes import OPERATOR, VIEWER, Failures, Keyring, Pass, Unasked
from webapp.errors import StoreError

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
SOCKET_PREFIX = "/socket.io"
# Where the gate leaves the pass of a request for those behind it.
PASS = "coppice.pass"
# A header that no form can send and no foreign page may. Its value does not matter.
OWN_HEADER = "HTTP_X_COPPICE"

HOST = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^:\[\]@,/\s]+)(:(?P<port>\d*))?")

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]
# The role that a request needs by the route it reaches; None for an open one.
T = TypeVar("T")
Needs = Callable[[Environ], str | None]


def everything(_: Environ) -> str | None:
    """Return the operator's role: no route is open."""
    return OPERATOR


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

    `closed` requires a token even if none was ever made; `needs` is the role that a request needs by its route.
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    keys: Keyring = field(default_factory=Unasked)
    closed: bool = False
    needs: Needs = everything
    failures: Failures = field(default_factory=Failures)

    def refusal(self, environ: Environ) -> Refusal | None:
        """Return why the request is refused, None if it is allowed; leaves its pass in `environ`. Raises StoreError."""
        needed = VIEWER if is_socket(environ) else self.needs(environ)
        return (
            self._host_refusal(environ)
            or self._origin_refusal(environ, needed)
            or self._pass_refusal(environ, needed)
            or form_refusal(environ)
        )

    def allows_origin(self, origin: str | None, environ: Environ) -> bool:
        """Return whether a page from `origin` is one of ours: the host of the request, or a configured one."""
        if origin is None:
            return True
        host = environ.get("HTTP_HOST", "").lower()
        own = {f"http://{host}", f"https://{host}"}  # https: behind a proxy that ends TLS
        return origin.lower() in own | self.origins

    def is_shared_with(self, environ: Environ) -> bool:
        """Return whether a page of a configured origin may read the answer; Socket.IO answers for itself."""
        origin = environ.get("HTTP_ORIGIN", "").lower()
        return origin in self.origins and not is_socket(environ) and self._host_refusal(environ) is None

    def is_asked(self) -> bool:
        """Return whether a token is needed. Raises StoreError."""
        return self.closed or self.keys.is_asked()

    def admits(self, environ: Environ) -> bool:
        """Return whether the request has a valid token or session, or none is needed. Raises StoreError."""
        return not self.is_asked() or isinstance(self.identify(environ), Pass)

    def still_admits(self, environ: Environ) -> bool:
        """Return whether what was let in by its handshake would be let in now. Raises StoreError."""
        held = environ.get(PASS)
        return not self.is_asked() if held is None else self.keys.still_holds(held)

    def identify(self, environ: Environ) -> Pass | Refusal | None:
        """Return the pass of a request, None if it has none, or why its token is not even looked at.

        Raises:
            StoreError: the tokens cannot be read.
        """
        bearer = sent_bearer(environ)
        if bearer is None:
            return self.keys.resume(sent_session(environ), server_of(environ))
        return self._blocked(environ) or self._counted(environ, self.keys.admit(bearer))

    def begin(self, environ: Environ) -> str | Refusal | None:
        """Return the secret of a session for the token in a page's address.

        None if there is none or it is wrong; a refusal if too many were wrong. Raises StoreError.
        """
        token = brought_token(environ)
        if token is None or self.needs(environ) is not None or not self.is_asked():
            return None
        return self._blocked(environ) or self._counted(environ, self.keys.begin(token, server_of(environ)))

    def _blocked(self, environ: Environ) -> Refusal | None:
        seconds = self.failures.blocked_seconds(environ.get("REMOTE_ADDR", ""))
        if not seconds:
            return None
        message = f"too many wrong tokens from this address; try again in {seconds} s"
        return Refusal("429 Too Many Requests", "too_many_failures", message, seconds)

    def _counted(self, environ: Environ, found: T | None) -> T | None:
        if found is None:
            self.failures.add(environ.get("REMOTE_ADDR", ""))
        return found

    def _host_refusal(self, environ: Environ) -> Refusal | None:
        host = host_name(environ.get("HTTP_HOST", ""))
        if host in LOOPBACK_HOSTS or host in self.hosts:
            return None
        message = (
            f"host {host or '(none)'} is not one of ours; open http://127.0.0.1 with the port instead, "
            f"or start with --allow-host {host or 'NAME'}"
        )
        return Refusal("403 Forbidden", "unknown_host", message)

    def _origin_refusal(self, environ: Environ, needed: str | None) -> Refusal | None:
        if needed is None and environ["REQUEST_METHOD"] in SAFE_METHODS:
            return None
        origin = environ.get("HTTP_ORIGIN")
        if not self.allows_origin(origin, environ):
            message = f"a page from {origin} may not do this; only our own pages and programs may"
            return Refusal("403 Forbidden", "foreign_origin", message)
        site = environ.get("HTTP_SEC_FETCH_SITE", "same-origin")
        if site not in ("same-origin", "none") and (origin is None or origin.lower() not in self.origins):
            return Refusal("403 Forbidden", "foreign_origin", f"a {site} page may not do this")
        return None

    def _pass_refusal(self, environ: Environ, needed: str | None) -> Refusal | None:
        if needed is None or not self.is_asked():
            return None
        found = self.identify(environ)
        if isinstance(found, Refusal):
            return found
        if found is None:
            message = "this server asks for its token; send `Authorization: Bearer …`, or open the page with ?token=…"
            return Refusal("401 Unauthorized", "token_needed", message)
        environ[PASS] = found
        if needed == OPERATOR and found.role != OPERATOR:
            return Refusal("403 Forbidden", "operator_needed", "a viewer may look and change nothing")
        return None


def may_change(environ: Environ) -> bool:
    """Return whether a request that the gate let through may change things."""
    held: Pass | None = environ.get(PASS)
    return held is None or held.role == OPERATOR


def form_refusal(environ: Environ) -> Refusal | None:
    """Return why a POST is refused that a form on a foreign page could send.

    Socket.IO's carry the secret of their connection.
    """
    if environ["REQUEST_METHOD"] != "POST" or is_socket(environ):
        return None
    kind = environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    is_json = kind == "application/json" or kind.endswith("+json")
    if is_json or OWN_HEADER in environ or "HTTP_AUTHORIZATION" in environ:
        return None
    message = f"expected Content-Type application/json or the header X-Coppice: 1, got {kind or 'neither'}"
    return Refusal("415 Unsupported Media Type", "unsupported_type", message)


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


def sent_bearer(environ: Environ) -> str | None:
    """Return the token of a program, None if it sends none."""
    scheme, _, value = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() != "bearer":  # WSGI gives a header's bytes as latin-1
        return None
    return str(value).strip().encode("latin-1", "replace").decode("utf-8", "surrogateescape")


def server_of(environ: Environ) -> str:
    """Return name and port by which the request reached us."""
    return str(environ.get("HTTP_HOST", "")).strip().lower()


def cookie_name(environ: Environ) -> str:
    """Return the name of our cookie. Browsers send it to every port of a host, so that it names its own."""
    found = HOST.fullmatch(server_of(environ))
    port = found["port"] if found else None
    return f"coppice_{port or ('443' if environ.get('wsgi.url_scheme') == 'https' else '80')}"


def sent_session(environ: Environ) -> str:
    """Return the secret of a browser's session; empty if it has none."""
    try:
        cookie = SimpleCookie(environ.get("HTTP_COOKIE", "")).get(cookie_name(environ))
    except CookieError:
        return ""
    return cookie.value if cookie else ""


def brought_token(environ: Environ) -> str | None:
    """Return the token in the address of a page that is opened with one.

    A foreign page may lead here, but not try tokens in the background: those would block this address for all.
    """
    if environ["REQUEST_METHOD"] != "GET":
        return None
    behind = environ.get("HTTP_SEC_FETCH_DEST", "document") != "document"
    if behind and environ.get("HTTP_SEC_FETCH_SITE", "none") not in ("none", "same-origin"):
        return None
    found = parse_qs(str(environ.get("QUERY_STRING", ""))).get("token")
    return found[-1] if found else None


class Guarded:
    """A WSGI application behind a gate. The outermost layer, so that Socket.IO's routes are behind it too."""

    def __init__(self, application: WsgiApp, gate: Gate) -> None:
        self.application = application
        self.gate = gate

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request directly if the gate refuses it, or if it only asks what is allowed or brings a token."""
        if self.gate.is_shared_with(environ):
            if asks_beforehand(environ):
                return allow_beforehand(environ, start_response)
            start_response = shared(environ["HTTP_ORIGIN"], start_response)
        try:
            stopped = self.gate.refusal(environ) or self.gate.begin(environ)
        except StoreError as error:
            stopped = Refusal("503 Service Unavailable", "store_busy", str(error), 1)
        if isinstance(stopped, Refusal):
            return answer(stopped, environ, start_response)
        if stopped is not None:
            return keep_session(stopped, environ, start_response)
        return self.application(environ, start_response)


def asks_beforehand(environ: Environ) -> bool:
    """Return whether a browser asks if a page of another origin may send a request."""
    return environ["REQUEST_METHOD"] == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in environ


def allow_beforehand(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    """Allow what the widget sends: it reads and prunes. The request itself is checked when it comes."""
    headers = [
        ("Access-Control-Allow-Methods", "GET, POST"),
        ("Access-Control-Allow-Headers", "authorization, content-type, x-coppice"),
        ("Access-Control-Max-Age", "600"),
        ("Content-Length", "0"),
    ]
    shared(environ["HTTP_ORIGIN"], start_response)("204 No Content", headers)
    return []


def shared(origin: str, start_response: StartResponse) -> StartResponse:
    """Return `start_response` with the header that lets pages of `origin` read the answer, a refusal too.

    No cookie goes with such a request: where tokens are in use, the page names one.
    """

    def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
        kept = [one for one in headers if one[0].lower() != "access-control-allow-origin"]
        return start_response(
            status, [*kept, ("Access-Control-Allow-Origin", origin), ("Vary", "Origin")], *rest
        )

    return start


def keep_session(secret: str, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    """Lead to the page without the token, with a cookie that no script and no other site can use."""
    root = environ.get("SCRIPT_NAME", "")
    secure = "; Secure" if environ.get("wsgi.url_scheme") == "https" else ""
    cookie = f"{cookie_name(environ)}={secret}; HttpOnly; Path={root or '/'}; SameSite=Strict{secure}"
    path = f"{root}/" + environ.get("PATH_INFO", "").lstrip("/")
    headers = [("Location", quote(path.encode("latin-1"))), ("Set-Cookie", cookie)]
    start_response("303 See Other", [*headers, ("Cache-Control", "no-store"), ("Content-Length", "0")])
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


# The policy of everything that is no page. It goes with each of a page's files, so it is short.
NO_PAGE_POLICY = "default-src 'none'; frame-ancestors 'none'"

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Those that only a page needs.
PAGE_HEADERS = {
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

"""The gate in front of the application, and the answers to requests that it refuses or answers itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any
from urllib.parse import quote

from webapp.access.gate import Gate, Refusal, SessionStart
from webapp.access.requests import SOCKET_PREFIX, Environ, StartResponse, WsgiApp, cookie_name
from webapp.errors import StoreError

CONFIRM_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<meta name="color-scheme" content="light dark"><title>Coppice</title>'
    '<p>A link on another site opens Coppice with a token. <a href="{address}">Open Coppice</a></p></html>'
)


class Guarded:
    """A WSGI application behind a gate. The outermost layer, so that Socket.IO's routes are behind it too."""

    def __init__(self, application: WsgiApp, gate: Gate) -> None:
        self.application = application
        self.gate = gate

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request directly if the gate refuses it, if it is a preflight request, or if it brings a token."""
        if self.gate.may_read_answer(environ):
            if is_preflight(environ):
                return answer_preflight(environ, start_response)
            start_response = shared(environ["HTTP_ORIGIN"], start_response)
        try:
            stopped = self.gate.refusal(environ) or self.gate.begin_session(environ)
        except StoreError as error:
            stopped = Refusal("503 Service Unavailable", "store_busy", str(error), 1)
        if isinstance(stopped, Refusal):
            return answer(stopped, environ, start_response)
        if stopped is not None:
            respond = confirm if stopped.confirm else redirect
            return respond(stopped, environ, start_response)
        return self.application(environ, start_response)


def is_preflight(environ: Environ) -> bool:
    """Return whether a browser asks if a page of another origin may send a request."""
    return environ["REQUEST_METHOD"] == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in environ


def answer_preflight(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
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


def redirect(started: SessionStart, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    """Redirect to the page without the token, with a cookie that no script and no other site can use."""
    root = environ.get("SCRIPT_NAME", "")
    path = f"{root}/" + environ.get("PATH_INFO", "").lstrip("/")
    headers = [("Location", quote(path.encode("latin-1")))]
    if started.secret:
        secure = "; Secure" if environ.get("wsgi.url_scheme") == "https" else ""
        cookie = (
            f"{cookie_name(environ)}={started.secret}; HttpOnly; Path={root or '/'}; SameSite=Strict{secure}"
        )
        headers.append(("Set-Cookie", cookie))
    start_response("303 See Other", [*headers, ("Cache-Control", "no-store"), ("Content-Length", "0")])
    return [b""]


def confirm(_: SessionStart, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    """Answer with a page that links to the same address: that request brings the session the browser has."""
    body = CONFIRM_PAGE.format(address=escape("?" + environ.get("QUERY_STRING", ""))).encode()
    headers = [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
        ("Cache-Control", "no-store"),
    ]
    start_response("200 OK", headers)
    return [body]


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

"""The gate in front of the application, and the answers to requests that it refuses or answers itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from werkzeug import Response

from webapp.access.gate import Gate, Refusal
from webapp.access.requests import SOCKET_PREFIX, Environ, StartResponse, WsgiApp, cookie_name
from webapp.errors import StoreError, error_body

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
            start_response = shared(environ["HTTP_ORIGIN"], start_response)
            if is_preflight(environ):
                return preflight_answer()(environ, start_response)
        try:
            stopped = self.gate.refusal(environ) or self.gate.sign_in(environ)
        except StoreError as error:
            stopped = Refusal("503 Service Unavailable", "store_busy", str(error), 1)
        if isinstance(stopped, Refusal):
            return answer(stopped, environ, start_response)
        if stopped is not None:
            response = confirm_page(environ) if stopped.confirm else redirect(stopped.secret, environ)
            return response(environ, start_response)
        return self.application(environ, start_response)


def is_preflight(environ: Environ) -> bool:
    """Return whether a browser asks if a page of another origin may send a request."""
    return environ["REQUEST_METHOD"] == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in environ


def preflight_answer() -> Response:
    """Allow what the widget sends: it reads and prunes. The request itself is checked when it comes."""
    headers = {
        "Access-Control-Allow-Methods": "GET, POST",
        "Access-Control-Allow-Headers": "authorization, content-type, x-coppice",
        "Access-Control-Max-Age": "600",
    }
    return Response(status=204, headers=headers)


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


def redirect(secret: str, environ: Environ) -> Response:
    """Redirect to the same address without the token, with a cookie that no script and no other site can use.

    Without a `secret` the browser keeps the cookie it has.
    """
    root = environ.get("SCRIPT_NAME", "")
    path = f"{root}/" + environ.get("PATH_INFO", "").lstrip("/")
    query = parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True)
    rest = urlencode([(name, value) for name, value in query if name != "token"])
    address = quote(path.encode("latin-1")) + (f"?{rest}" if rest else "")
    headers = {"Location": address, "Cache-Control": "no-store"}
    response = Response(status=303, headers=headers)
    if secret:
        response.set_cookie(
            cookie_name(environ),
            secret,
            path=root or "/",
            secure=environ.get("wsgi.url_scheme") == "https",
            httponly=True,
            samesite="Strict",
        )
    return response


def confirm_page(environ: Environ) -> Response:
    """Return a page that links to the same address: that request has the browser's cookie."""
    address = escape("?" + environ.get("QUERY_STRING", ""))
    headers = {
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
    return Response(CONFIRM_PAGE.format(address=address), headers=headers, mimetype="text/html")


def answer(refusal: Refusal, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    """Answer with the refusal: JSON for programs, plain text for a page."""
    path = "/" + environ.get("PATH_INFO", "").lstrip("/")
    response = refusal_response(refusal, for_program=path.startswith(("/api", SOCKET_PREFIX)))
    return response(environ, start_response)


def refusal_response(refusal: Refusal, *, for_program: bool) -> Response:
    """Return the response for a refusal."""
    body, mimetype = refusal.message + "\n", "text/plain"
    if for_program:
        body, mimetype = json.dumps(error_body(refusal.type, refusal.message)), "application/json"
    headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
    response = Response(body, refusal.status, headers, mimetype)
    if response.status_code == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="coppice"'
    if refusal.retry_seconds:
        response.retry_after = refusal.retry_seconds
    return response


def too_busy(what: str) -> Refusal:
    """Return the refusal of a request that arrives while everything that could serve it is busy."""
    return Refusal(
        "503 Service Unavailable", "too_busy", f"too many {what} at once; try again in a moment", 1
    )

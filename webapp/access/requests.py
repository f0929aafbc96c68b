"""The host, token and sign-in of a WSGI request. Nothing here decides whether they are good."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
SOCKET_PREFIX = "/socket.io"
HOST = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^:\[\]@,/\s]+)(:(?P<port>\d*))?")

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]


def host_name(header: str) -> str:
    """Return the host of a `Host` header in lower case, without its port; an IPv6 address keeps its brackets.

    Empty if the header is not a host.
    """
    found = HOST.fullmatch(header.strip().lower())
    return str(found["host"]) if found else ""


def hosts_of(host: str, allowed: Iterable[str]) -> frozenset[str]:
    """Return the host names that requests may use: the allowed ones, and the address of the server.

    An address that means all addresses is not among them.
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


def bearer_token(environ: Environ) -> str | None:
    """Return the token of a program, None if it sends none."""
    scheme, _, value = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() != "bearer":  # WSGI gives a header's bytes as latin-1
        return None
    return str(value).strip().encode("latin-1", "replace").decode("utf-8", "surrogateescape")


def server_of(environ: Environ) -> str:
    """Return name and port by which the request reached us."""
    return str(environ.get("HTTP_HOST", "")).strip().lower()


def cookie_name(environ: Environ) -> str:
    """Return the name of our cookie. It contains the port, because browsers send a cookie to every port of a host."""
    found = HOST.fullmatch(server_of(environ))
    port = found["port"] if found else None
    return f"coppice_{port or ('443' if environ.get('wsgi.url_scheme') == 'https' else '80')}"


def sign_in_cookies(environ: Environ) -> list[str]:
    """Return the secrets in the cookies of our name, in the order sent.

    There can be several, and cookies of any form beside them: each server of a host name may set them.
    """
    pairs = (one.strip().partition("=") for one in environ.get("HTTP_COOKIE", "").split(";"))
    name = cookie_name(environ)
    return [value for key, _, value in pairs if key == name and value]


def token_in_address(environ: Environ) -> str | None:
    """Return the token in the address of a page that is opened with one.

    Tokens in background requests of foreign pages are ignored: wrong ones would block this address for everyone.
    """
    if environ["REQUEST_METHOD"] != "GET":
        return None
    behind = environ.get("HTTP_SEC_FETCH_DEST", "document") != "document"
    if behind and environ.get("HTTP_SEC_FETCH_SITE", "none") not in ("none", "same-origin"):
        return None
    found = parse_qs(str(environ.get("QUERY_STRING", ""))).get("token")
    return found[-1] if found else None

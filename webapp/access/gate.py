"""The rules by which a request is let in: programs of this machine, and our own pages in its browsers.

They hold for HTTP and Socket.IO alike and come before everything else. The `Host` is one of ours, so that no rebound
DNS name reaches us. Everything except the open pages comes from our own pages or from a program: a browser says where
a page is from, a program does not. A POST has what no form can send. A Socket.IO handshake counts as unsafe whatever
its method, because what follows on it may change things. If tokens are in use, every route needs one except a short
list of open ones; the routing table says which route an address reaches, so that no spelling of it gets past the gate.
Nothing here knows Flask, or where tokens are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from webapp.access.failures import Failures
from webapp.access.identity import GRANTS, OPERATOR, SENDER, VIEWER, Authenticator, Identity
from webapp.access.requests import (
    LOOPBACK_HOSTS,
    Environ,
    bearer_token,
    host_name,
    is_socket,
    server_of,
    sign_in_cookies,
    token_in_address,
)

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# The key under which the gate leaves the identity of a request for those behind it.
IDENTITY = "coppice.identity"
# The two halves of a refusal: what the holder of a role may do, and whose token a request needs.
ALLOWED = {
    VIEWER: "a viewer's token can look and plan, and change nothing",
    SENDER: "a sender's token can only hand over sessions",
}
WHOSE = {
    OPERATOR: "an operator's",
    VIEWER: "a viewer's or an operator's",
    SENDER: "a sender's or an operator's",
}
# A header that no form can send and no foreign page may. Its value does not matter.
OWN_HEADER = "HTTP_X_COPPICE"

T = TypeVar("T")
# The role that a request needs by the route it reaches; None for an open one.
Needs = Callable[[Environ], str | None]


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
class SignIn:
    """The answer to a page that was opened with a valid token.

    `secret` is that of a new sign-in, "" if the browser keeps the one it has. With `confirm` the user decides: after a
    link on another site a browser does not send its cookie, which the new one might replace.
    """

    secret: str = ""
    confirm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Decides which requests are allowed. `hosts` are names without port besides loopback, `origins` whole origins.

    `closed` requires a token even if none was ever made; `needs` is the role that a request needs by its route.
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    tokens: Authenticator
    closed: bool = False
    needs: Needs
    failures: Failures = field(default_factory=Failures)

    def refusal(self, environ: Environ) -> Refusal | None:
        """Return why the request is refused, None if not; leaves its identity in `environ`. Raises StoreError."""
        needed = VIEWER if is_socket(environ) else self.needs(environ)
        return (
            self._host_refusal(environ)
            or self._origin_refusal(environ, needed)
            or self._identity_refusal(environ, needed)
            or form_refusal(environ)
        )

    def allows_origin(self, origin: str | None, environ: Environ) -> bool:
        """Return whether a page from `origin` is one of ours: the host of the request, or a configured one."""
        if origin is None:
            return True
        host = environ.get("HTTP_HOST", "").lower()
        own = {f"http://{host}", f"https://{host}"}  # https: behind a proxy that ends TLS
        return origin.lower() in own | self.origins

    def may_read_answer(self, environ: Environ) -> bool:
        """Return whether a page of a configured origin may read the answer; Socket.IO answers for itself."""
        origin = environ.get("HTTP_ORIGIN", "").lower()
        return origin in self.origins and not is_socket(environ) and self._host_refusal(environ) is None

    def requires_token(self) -> bool:
        """Return whether a token is needed. Raises StoreError."""
        return self.closed or self.tokens.requires_token()

    def may_view(self, environ: Environ) -> bool:
        """Return whether the request may look: its token allows that, or none is needed. Raises StoreError."""
        if not self.requires_token():
            return True
        found = self.identify(environ)
        return isinstance(found, Identity) and VIEWER in GRANTS[found.role]

    def only_views(self, environ: Environ) -> bool:
        """Return whether the request's token is a viewer's. Raises StoreError."""
        found = self.identify(environ) if self.requires_token() else None
        return isinstance(found, Identity) and found.role == VIEWER

    def is_still_allowed(self, environ: Environ) -> bool:
        """Return whether a connection that was let in by its handshake would be let in now. Raises StoreError."""
        held = environ.get(IDENTITY)
        return not self.requires_token() if held is None else self.tokens.is_still_valid(held)

    def identify(self, environ: Environ) -> Identity | Refusal | None:
        """Return the identity of a request, None if it has none, or a refusal if too many wrong tokens came before.

        Raises:
            StoreError: the tokens cannot be read.
        """
        bearer = bearer_token(environ)
        if bearer is None:
            return self._signed_in(environ)
        return self._blocked(environ) or self._counted(environ, self.tokens.authenticate(bearer))

    def sign_in(self, environ: Environ) -> SignIn | Refusal | None:
        """Sign in with the token in a page's address.

        None if there is none or it is wrong; a refusal if too many were wrong. A browser's sign-in of a wider role is
        kept. Raises StoreError.
        """
        token = token_in_address(environ)
        if token is None or self.needs(environ) is not None or not self.requires_token():
            return None
        stopped = self._blocked(environ)
        if stopped is not None:
            return stopped
        brought, server = self._counted(environ, self.tokens.authenticate(token)), server_of(environ)
        if brought is None or VIEWER not in GRANTS[brought.role]:
            return None
        if environ.get("HTTP_SEC_FETCH_SITE") == "cross-site":
            return SignIn(confirm=True)
        held = self._signed_in(environ)
        if held is not None and GRANTS[brought.role] < GRANTS[held.role]:
            return SignIn()
        secret = self.tokens.sign_in(token, server)
        return None if secret is None else SignIn(secret)

    def _signed_in(self, environ: Environ) -> Identity | None:
        """Return the identity of the browser's sign-in. Raises StoreError."""
        server = server_of(environ)
        identities = (self.tokens.signed_in(secret, server) for secret in sign_in_cookies(environ))
        return next((one for one in identities if one is not None), None)

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
        others = "only our own pages, programs, and pages of an origin given with --allow-origin may"
        if not self.allows_origin(origin, environ):
            message = f"a page from {origin} may not do this; {others}"
            return Refusal("403 Forbidden", "foreign_origin", message)
        site = environ.get("HTTP_SEC_FETCH_SITE", "same-origin")
        if site not in ("same-origin", "none") and (origin is None or origin.lower() not in self.origins):
            return Refusal("403 Forbidden", "foreign_origin", f"a {site} page may not do this; {others}")
        return None

    def _identity_refusal(self, environ: Environ, needed: str | None) -> Refusal | None:
        if needed is None or not self.requires_token():
            return None
        found = self.identify(environ)
        if isinstance(found, Refusal):
            return found
        if found is None:
            message = "this server asks for its token; send `Authorization: Bearer …`, or open the page with ?token=…"
            if bearer_token(environ) is not None:
                message = "this token is unknown or revoked; `coppice token` on the server makes another"
            return Refusal("401 Unauthorized", "token_needed", message)
        environ[IDENTITY] = found
        if needed not in GRANTS[found.role]:
            return Refusal("403 Forbidden", f"{needed}_needed", role_refusal(found.role, needed))
        return None


def role_refusal(role: str, needed: str) -> str:
    """Return why a token of one role is refused where another role is needed."""
    return f"{ALLOWED[role]}; this needs {WHOSE[needed]}"


def may_change(environ: Environ) -> bool:
    """Return whether a request that the gate let through may change things."""
    held: Identity | None = environ.get(IDENTITY)
    return held is None or held.role == OPERATOR


def sending_user(environ: Environ) -> str:
    """Return the user to whose sessions alone a request may append: the name of a sender's token; "" for any other."""
    held: Identity | None = environ.get(IDENTITY)
    return held.name if held is not None and held.role == SENDER else ""


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
    message = (
        "expected Content-Type application/json or, without a body or with uploaded files, the header X-Coppice: 1, "
        f"got {kind or 'neither'}"
    )
    return Refusal("415 Unsupported Media Type", "unsupported_type", message)

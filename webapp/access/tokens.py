"""Tokens, shown once and stored as hashes, and the sign-ins of browsers that were opened with one.

A generated token has 256 random bits, so its hash needs no salt. A browser keeps no token, only the secret of a
sign-in, which expires, is bound to the name and port it was made for, and ends with its token. `COPPICE_TOKEN` is a
token of an operator that is not stored; its sign-ins hold a proof that only the two secrets together make.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable

from webapp.access.identity import OPERATOR, SENDER, VIEWER, Identity
from webapp.errors import Invalid, NotFound
from webapp.services.session.times import now_ms
from webapp.store import Store
from webapp.store.access import TokenRow

ROLES = (OPERATOR, VIEWER, SENDER)
# Makes a token recognisable, to people and to programs that look for leaked secrets.
PREFIX = "coppice_"
RANDOM_BYTES = 32
SIGN_IN_MS = 7 * 24 * 3600 * 1000
CONFIGURED = "COPPICE_TOKEN"
# The proxy beside the server hands over with a token of its own, which is stored and shown nowhere.
PROCESS = "beside"


class AccessTokens:
    """The tokens and sign-ins of one store. `configured` is the token that the configuration names, if any."""

    def __init__(
        self, store: Store, configured: str | None = None, clock: Callable[[], int] = now_ms
    ) -> None:
        self._store, self._configured, self._clock = store, configured, clock
        self._process_token: str | None = None

    # -- for the gate

    def requires_token(self) -> bool:
        """Return whether a token is needed at all. Raises StoreError."""
        return self._configured is not None or self._store.access.has_tokens()

    def make_process_token(self) -> str:
        """Return a token for what this process starts beside itself; it holds as long as the process."""
        self._process_token = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
        return self._process_token

    def authenticate(self, token: str) -> Identity | None:
        """Return the identity of a token, None if it is not valid. Raises StoreError."""
        if self._configured is not None and same(token, self._configured):
            return Identity(OPERATOR, CONFIGURED)
        if self._process_token is not None and same(token, self._process_token):
            return Identity(SENDER, PROCESS)
        row = self._store.access.token(digest(token)) if token.startswith(PREFIX) else None
        return identity_of(row)

    def sign_in(self, token: str, server: str) -> str | None:
        """Sign the holder of a token in; return the secret of the sign-in, None if the token is not valid.

        Raises:
            StoreError: the sign-in cannot be stored.
        """
        admitted = self.authenticate(token)
        if admitted is None or admitted.role == SENDER:
            return None
        secret, now = secrets.token_urlsafe(RANDOM_BYTES), self._clock()
        configured = admitted.key == CONFIGURED
        with self._store.write():
            self._store.access.end_sign_ins(now)
            self._store.access.add_sign_in(
                digest(secret),
                None if configured else int(admitted.key),
                proof(secret, token) if configured else None,
                server,
                now + SIGN_IN_MS,
            )
        return secret

    def signed_in(self, secret: str, server: str) -> Identity | None:
        """Return the identity of a sign-in by its secret, None if it is not valid at this server. Raises StoreError."""
        row = self._store.access.sign_in(digest(secret))
        if row is None or row.server != server or row.expires_at < self._clock():
            return None
        if row.proof is None:
            return identity_of(row.token)
        own = self._configured is not None and hmac.compare_digest(row.proof, proof(secret, self._configured))
        return Identity(OPERATOR, CONFIGURED) if own else None

    def is_still_valid(self, held: Identity) -> bool:
        """Return whether an earlier identity is still valid. Raises StoreError."""
        if held.key == CONFIGURED:
            return self._configured is not None
        if held.key == PROCESS:
            return self._process_token is not None
        return identity_of(self._store.access.token_by_key(int(held.key))) is not None

    # -- for the command line

    def make(self, name: str, role: str = OPERATOR) -> tuple[TokenRow, str]:
        """Make a token; return its row and the token, which is stored nowhere.

        Raises:
            Invalid: the role is unknown.
        """
        if role not in ROLES:
            raise Invalid(f"no such role: {role}; expected one of {', '.join(ROLES)}", "role")
        token = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
        with self._store.write():
            return self._store.access.add_token(digest(token), name, role, self._clock()), token

    def rotate(self, key: int) -> tuple[TokenRow, str]:
        """Revoke a token and make another of its name and role.

        Raises:
            NotFound: there is no such valid token.
        """
        with self._store.write():
            row = self.revoke(key)
            return self.make(row.name, row.role)

    def revoke(self, key: int) -> TokenRow:
        """Revoke a token, and end the sign-ins it began.

        Raises:
            NotFound: there is no such valid token.
        """
        with self._store.write():
            row = self._store.access.token_by_key(key)
            if row is None or not self._store.access.revoke(key, self._clock()):
                raise NotFound("valid token", key)
            return row

    def only(self) -> TokenRow:
        """Return the valid token of a store that has one.

        Raises:
            Invalid: it has several, or none.
        """
        valid = [row for row in self.listed() if row.revoked_at is None]
        if len(valid) != 1:
            there = ", ".join(str(row.key) for row in valid)
            none = "there is no valid token; `coppice token` makes one"
            raise Invalid(f"name the token by its number: {there}" if valid else none)
        return valid[0]

    def listed(self) -> list[TokenRow]:
        """Return every token, oldest first."""
        return list(self._store.access.tokens())

    def forget(self) -> int:
        """Delete every token, so that none is required; return their number."""
        with self._store.write():
            return self._store.access.forget()


def identity_of(row: TokenRow | None) -> Identity | None:
    """Return the identity of a token, None if it is unknown or revoked."""
    return None if row is None or row.revoked_at is not None else Identity(row.role, str(row.key), row.name)


def digest(secret: str) -> bytes:
    """Return the hash by which a secret is stored."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def proof(secret: str, token: str) -> bytes:
    """Return the proof that only both secrets together can produce."""
    return hmac.digest(secret.encode("utf-8", "surrogateescape"), token.encode(), "sha256")


def same(given: str, expected: str) -> bool:
    """Return whether two tokens are the same, in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode())

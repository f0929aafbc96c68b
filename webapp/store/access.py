"""Tokens and sign-ins of browsers, by their hashes; the secrets themselves are never stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from webapp.store.engine import Subject


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One token. `role` is viewer, operator or sender; times are in ms, `revoked_at` None while it is valid."""

    key: int
    name: str
    role: str
    created_at: int
    revoked_at: int | None


@dataclass(frozen=True, slots=True)
class SignInRow:
    """The sign-in of a browser. `token` is None and `proof` set for one with the configured token."""

    token: TokenRow | None
    proof: bytes | None
    server: str
    expires_at: int


COLUMNS = "key, name, role, created_at, revoked_at"


class Access(Subject):
    """The tables of access."""

    def has_tokens(self) -> bool:
        """Return whether a token was ever made; revoked ones count, so that revoking the last one opens nothing."""
        return self._db.value("SELECT 1 FROM access_tokens LIMIT 1") is not None

    def add_token(self, digest: bytes, name: str, role: str, at: int) -> TokenRow:
        """Store a token."""
        sql = f"INSERT INTO access_tokens (hash, name, role, created_at) VALUES (?, ?, ?, ?) RETURNING {COLUMNS}"
        [row] = self._db.rows(sql, (digest, name, role, at))
        return TokenRow(*row)

    def tokens(self) -> Iterator[TokenRow]:
        """Yield every token, oldest first."""
        for row in self._db.rows(f"SELECT {COLUMNS} FROM access_tokens ORDER BY key"):
            yield TokenRow(*row)

    def token(self, digest: bytes) -> TokenRow | None:
        """Return the token with this hash, None if there is none."""
        return self._token("hash", digest)

    def token_by_key(self, key: int) -> TokenRow | None:
        """Return the token with this number, None if there is none."""
        return self._token("key", key)

    def _token(self, column: str, value: bytes | int) -> TokenRow | None:
        row = self._db.row(f"SELECT {COLUMNS} FROM access_tokens WHERE {column} = ?", (value,))
        return None if row is None else TokenRow(*row)

    def revoke(self, key: int, at: int) -> bool:
        """Revoke a token and end its sign-ins; return whether it was valid."""
        self._db.run("DELETE FROM access_sessions WHERE token = ?", (key,))
        sql = "UPDATE access_tokens SET revoked_at = ? WHERE key = ? AND revoked_at IS NULL"
        return self._db.run(sql, (at, key)) > 0

    def forget(self) -> int:
        """Delete every token and sign-in; return the number of tokens."""
        self._db.run("DELETE FROM access_sessions")
        return self._db.run("DELETE FROM access_tokens")

    def add_sign_in(
        self, digest: bytes, token: int | None, proof: bytes | None, server: str, until: int
    ) -> None:
        """Store a sign-in that ends at `until`."""
        self._db.run(
            "INSERT INTO access_sessions (hash, token, proof, server, expires_at) VALUES (?, ?, ?, ?, ?)",
            (digest, token, proof, server, until),
        )

    def sign_in(self, digest: bytes) -> SignInRow | None:
        """Return the sign-in with this hash, None if there is none."""
        sql = "SELECT token, proof, server, expires_at FROM access_sessions WHERE hash = ?"
        row = self._db.row(sql, (digest,))
        if row is None:
            return None
        token, proof, server, until = row
        return SignInRow(None if token is None else self.token_by_key(token), proof, server, until)

    def end_sign_ins(self, before: int) -> None:
        """Delete the sign-ins that ended before a time."""
        self._db.run("DELETE FROM access_sessions WHERE expires_at < ?", (before,))

"""The contract between the gate and the tokens: roles, identities, and authentication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

# A viewer reads. An operator can also change everything. A sender can only deliver copies of calls and lines of
# transcripts.
VIEWER, OPERATOR, SENDER = "viewer", "operator", "sender"
# For each role, the roles whose requests it may make.
GRANTS = {VIEWER: {VIEWER}, OPERATOR: {VIEWER, OPERATOR, SENDER}, SENDER: {SENDER}}


@dataclass(frozen=True, slots=True)
class Identity:
    """The role of an accepted request. `key` identifies its token without revealing it; `name` is its holder."""

    role: str
    key: str
    name: str = ""


class Authenticator(Protocol):
    """Checks tokens and sign-ins for the gate. Every method raises StoreError."""

    def requires_token(self) -> bool:
        """Return whether a token is needed."""

    def authenticate(self, token: str) -> Identity | None:
        """Return the identity of a token."""

    def sign_in(self, token: str, server: str) -> str | None:
        """Return the secret of a new sign-in with a token, None if the token does not allow one."""

    def signed_in(self, secret: str, server: str) -> Identity | None:
        """Return the identity of a sign-in by its secret."""

    def is_still_valid(self, held: Identity) -> bool:
        """Return whether an earlier identity is still valid."""

"""The contract between the gate and the tokens: roles, identities, and authentication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

# A viewer reads, an operator also changes things; a sender hands over copies of calls and lines of transcripts, and
# does nothing else.
VIEWER, OPERATOR, SENDER = "viewer", "operator", "sender"
# What each role may do, as the roles that requests need.
GRANTS = {VIEWER: {VIEWER}, OPERATOR: {VIEWER, OPERATOR, SENDER}, SENDER: {SENDER}}


@dataclass(frozen=True, slots=True)
class Identity:
    """The role of a request that was let in. `key` names its token and does not reveal it; `name` says who has it."""

    role: str
    key: str
    name: str = ""


class Authenticator(Protocol):
    """Checks tokens and browser sessions for the gate. Every method raises StoreError."""

    def requires_token(self) -> bool:
        """Return whether a token is needed."""

    def authenticate(self, token: str) -> Identity | None:
        """Return the identity of a token."""

    def begin_session(self, token: str, server: str) -> str | None:
        """Return the secret of a new session for a token."""

    def resume_session(self, secret: str, server: str) -> Identity | None:
        """Return the identity of a session."""

    def is_still_valid(self, held: Identity) -> bool:
        """Return whether an earlier identity is still valid."""

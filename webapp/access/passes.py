"""The contract between the gate and the keys: roles, passes, and what a keyring answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

# A viewer reads, an operator also changes things; a sender hands over copies of calls and lines of transcripts, and
# does nothing else.
VIEWER, OPERATOR, SENDER = "viewer", "operator", "sender"
# What each role may do, as the roles that requests need.
GRANTS = {VIEWER: {VIEWER}, OPERATOR: {VIEWER, OPERATOR, SENDER}, SENDER: {SENDER}}


@dataclass(frozen=True, slots=True)
class Pass:
    """The role of a request that was let in. `key` names its token and does not reveal it; `name` says who has it."""

    role: str
    key: str
    name: str = ""


class Keyring(Protocol):
    """The tokens, as the gate sees them: is one needed, and the pass of a token or session. All raise StoreError."""

    def is_asked(self) -> bool:
        """Return whether a token is needed."""

    def admit(self, token: str) -> Pass | None:
        """Return the pass of a token."""

    def begin(self, token: str, server: str) -> str | None:
        """Return the secret of a new session for a token."""

    def resume(self, secret: str, server: str) -> Pass | None:
        """Return the pass of a session."""

    def still_holds(self, held: Pass) -> bool:
        """Return whether a pass would still be given."""


class Unasked:
    """A keyring without tokens: none is needed, and none is valid."""

    def is_asked(self) -> bool:
        """Return False."""
        return False

    def admit(self, token: str) -> Pass | None:
        """Return None."""

    def begin(self, token: str, server: str) -> str | None:
        """Return None."""

    def resume(self, secret: str, server: str) -> Pass | None:
        """Return None."""

    def still_holds(self, held: Pass) -> bool:
        """Return False: no pass was ever given."""
        return held is None

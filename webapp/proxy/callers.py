"""The caller of a request: its session, by the names that clients give it, and the kind of key it carries.

Only names are read here. Keys are looked at for their kind and passed on; nothing of them is kept or written anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp.services.proxied.names import clean, id_of, session_in

# Headers by which clients name their session, the first one present counts, and the header that names a sub-agent.
SESSION_HEADERS = ("x-coppice-session", "x-claude-code-session-id", "session-id", "x-session-id")
AGENT_HEADER = "x-claude-code-agent-id"

SUBSCRIPTION = "the key is a subscription's, whose requests are never changed"


@dataclass(frozen=True, slots=True)
class Caller:
    """The name of a request's session, "" where none is given, and of the sub-agent in it."""

    session: str = ""
    agent: str = ""

    @property
    def name(self) -> str:
        """Return the id of the session in the store; "" if it must be found by the keys of the messages."""
        return id_of(f"{self.session}.{self.agent}" if self.session and self.agent else self.session)

    @property
    def parent(self) -> str | None:
        """Return the id of the session above a sub-agent's."""
        return id_of(self.session) if self.session and self.agent else None


def caller_of(headers: Mapping[str, str], named: str, metadata: Mapping[str, Any]) -> Caller:
    """Return the caller: by the path (`named`), else a header, else the body."""
    session = named or next((headers[one] for one in SESSION_HEADERS if headers.get(one)), "")
    return Caller(clean(session or session_in(metadata)), clean(headers.get(AGENT_HEADER, "")))


def is_subscription(provider: str, headers: Mapping[str, str]) -> bool:
    """Return whether a request carries the token of a subscription, and not a key that is paid by use.

    Keys begin with `sk-`; a token of Anthropic that does not, in a header that a login uses, is taken for one too.
    """
    sent = headers.get("authorization", "")
    token = sent.partition(" ")[2].strip() if sent.lower().startswith("bearer ") else ""
    if provider == "anthropic":
        if "oauth-" in headers.get("anthropic-beta", "") or token.startswith("sk-ant-oat"):
            return True
        return bool(token) and not headers.get("x-api-key") and not token.startswith("sk-")
    return token.startswith("eyJ") or "chatgpt-account-id" in headers

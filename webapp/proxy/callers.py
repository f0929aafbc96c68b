"""The caller of a request: its session, named by the client, and the kind of its key.

Only the kind of a key is determined. No part of a key is stored or logged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.agents import AGENTS
from webapp.services.proxied.names import clean, id_of, session_in

_OF_AGENTS = [agent.call_headers for agent in AGENTS.values() if agent.call_headers is not None]
# Headers by which clients name their session, the first one present counts, and those that name a sub-agent.
SESSION_HEADERS = ("x-coppice-session", *(headers.session for headers in _OF_AGENTS))
SUBAGENT_HEADERS = tuple(headers.subagent for headers in _OF_AGENTS if headers.subagent)

SUBSCRIPTION = "the key is a subscription's, whose requests are never changed"


@dataclass(frozen=True, slots=True)
class Caller:
    """The names of a request's session and of the sub-agent in it; "" if not given."""

    session: str
    agent: str

    @property
    def name(self) -> str:
        """Return the id of the stored session; "" if the keys of the messages must identify it."""
        return id_of(f"{self.session}.{self.agent}" if self.session and self.agent else self.session)

    @property
    def parent(self) -> str | None:
        """Return the id of the session that started the sub-agent; None for any other session."""
        return id_of(self.session) if self.session and self.agent else None


def caller_of(headers: Mapping[str, str], named: str, metadata: Mapping[str, Any]) -> Caller:
    """Return the caller named by the path (`named`), otherwise by a header, otherwise by the body."""
    session = named or _first(headers, SESSION_HEADERS) or session_in(metadata)
    return Caller(clean(session), clean(_first(headers, SUBAGENT_HEADERS)))


def _first(headers: Mapping[str, str], names: Sequence[str]) -> str:
    """Return the first of these headers that has a value; "" for none."""
    return next((headers[name] for name in names if headers.get(name)), "")


def is_subscription(provider: str, headers: Mapping[str, str]) -> bool:
    """Return whether a request is paid by a subscription, not by an API key.

    API keys begin with `sk-`. Any other bearer token for Anthropic counts as a subscription's.
    """
    sent = headers.get("authorization", "")
    token = sent.partition(" ")[2].strip() if sent.lower().startswith("bearer ") else ""
    if provider == "anthropic":
        if "oauth-" in headers.get("anthropic-beta", "") or token.startswith("sk-ant-oat"):
            return True
        return bool(token) and not headers.get("x-api-key") and not token.startswith("sk-")
    return token.startswith("eyJ") or "chatgpt-account-id" in headers

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
OWN_HEADER = "x-coppice-session"
# Headers by which agents name their session, the first one present counts, and those that name a sub-agent.
SESSION_HEADERS = tuple(headers.session for headers in _OF_AGENTS)
SUBAGENT_HEADERS = tuple(headers.subagent for headers in _OF_AGENTS if headers.subagent)
THREAD_HEADERS = tuple(headers.thread for headers in _OF_AGENTS if headers.thread)
PARENT_HEADERS = tuple(headers.parent for headers in _OF_AGENTS if headers.parent)

SUBSCRIPTION = "the key is a subscription's, whose requests are never changed"


@dataclass(frozen=True, slots=True)
class Caller:
    """The names of a request's session, of the sub-agent in it, and of the session above it; "" if not given."""

    session: str
    agent: str
    above: str = ""

    @property
    def name(self) -> str:
        """Return the id of the stored session; "" if the keys of the messages must identify it."""
        return id_of(f"{self.session}.{self.agent}" if self.session and self.agent else self.session)

    @property
    def parent(self) -> str | None:
        """Return the id of the session that started the sub-agent; None for any other session."""
        above = self.session if self.agent else self.above
        return id_of(above) if self.session and above else None


def caller_of(headers: Mapping[str, str], named: str, metadata: Mapping[str, Any]) -> Caller:
    """Return the caller named by the path (`named`), otherwise by a header, otherwise by the body."""
    # Older agents have underscores in them.
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    given = named or headers.get(OWN_HEADER, "")
    session, thread = _first(headers, SESSION_HEADERS), _first(headers, THREAD_HEADERS)
    thread = "" if thread == session else thread
    if thread and not given:
        return Caller(clean(thread), "", clean(_first(headers, PARENT_HEADERS) or session))
    agent = _first(headers, SUBAGENT_HEADERS) or thread
    return Caller(clean(given or session or session_in(metadata)), clean(agent))


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

"""The caller of a request: its session, by the names that clients give it, and the kind of key it carries.

Only names are read here. Keys are looked at for their kind and passed on; nothing of them is kept or written anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

# Headers by which clients name their session, the first one present counts, and the header that names a sub-agent.
SESSION_HEADERS = ("x-coppice-session", "x-claude-code-session-id", "session-id", "x-session-id")
AGENT_HEADER = "x-claude-code-agent-id"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._:@+-]+")
_OLD_USER_ID = re.compile(r"_session_([0-9a-f-]{36})$")
LONGEST_NAME = 120

SUBSCRIPTION = "the key is a subscription's, whose requests are never changed"


@dataclass(frozen=True, slots=True)
class Caller:
    """The name of a request's session, "" where none is given, and of the sub-agent in it."""

    session: str = ""
    agent: str = ""

    @property
    def name(self) -> str:
        """Return the id of the session in the store; "" if it must be found by the keys of the messages."""
        if not self.session:
            return ""
        return f"proxy-{self.session}.{self.agent}" if self.agent else f"proxy-{self.session}"

    @property
    def parent(self) -> str | None:
        """Return the id of the session above a sub-agent's."""
        return f"proxy-{self.session}" if self.session and self.agent else None


def caller_of(headers: Mapping[str, str], named: str, metadata: Mapping[str, Any]) -> Caller:
    """Return the caller: by the path (`named`), else a header, else the body."""
    session = named or next((headers[one] for one in SESSION_HEADERS if headers.get(one)), "")
    return Caller(clean(session or _from_body(metadata)), clean(headers.get(AGENT_HEADER, "")))


def _from_body(body: Mapping[str, Any]) -> str:
    """Return the session that a body names: Anthropic's metadata, or the key of OpenAI's prompt cache."""
    metadata = body.get("metadata")
    for field in ("session_id", "user_id"):
        said = metadata.get(field) if isinstance(metadata, Mapping) else None
        if not isinstance(said, str):
            continue
        if said.startswith("{"):
            try:
                inner = orjson.loads(said)
            except orjson.JSONDecodeError:
                continue
            if isinstance(inner.get("session_id"), str):
                return str(inner["session_id"])
        elif field == "session_id":
            return said
        elif found := _OLD_USER_ID.search(said):
            return found[1]
    return ""


def clean(name: str) -> str:
    """Return a name as part of a session's id."""
    return _NOT_IN_NAMES.sub("-", name.strip())[:LONGEST_NAME].strip("-")


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

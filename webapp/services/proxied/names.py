"""Names of sessions at the proxy, as clients give them: the same in proxy and server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from webapp.agents import AGENTS
from webapp.services.session.proxy_state import ID_PREFIX

LONGEST_NAME = 120
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._:@+-]+")
_OF_AGENTS = [agent.call_headers for agent in AGENTS.values() if agent.call_headers is not None]
_USER_IDS = [names.user_id for names in _OF_AGENTS if names.user_id is not None]
_SIDES = [names.side for names in _OF_AGENTS if names.side is not None]


def id_of(name: str) -> str:
    """Return the id of the session with a name in the store; "" for no name."""
    return f"{ID_PREFIX}{name}" if name else ""


def clean(name: str) -> str:
    """Return a name as part of a session's id."""
    return _NOT_IN_NAMES.sub("-", name.strip())[:LONGEST_NAME].strip("-")


def names_of(session_id: str) -> list[str]:
    """Return the names that the proxy may give to a followed session."""
    return [f"{ID_PREFIX}{session_id}", f"{ID_PREFIX}{session_id.replace('.agent-', '.')}"]


def followed_ids(name: str) -> list[str]:
    """Return the ids that the session with a name at the proxy has where its transcript is followed."""
    inner = name.removeprefix(ID_PREFIX)
    above, dot, agent = inner.partition(".")
    return [inner, f"{above}.agent-{agent}"] if dot else [inner] if inner else []


def is_on_the_side(body: Mapping[str, Any]) -> bool:
    """Return whether the client's metadata in a body says that the call is for a title or the like."""
    metadata = body.get("client_metadata")
    said = [one for one in metadata.values() if isinstance(one, str)] if isinstance(metadata, Mapping) else []
    return any(form.search(one) for form in _SIDES for one in said)


def session_in(body: Mapping[str, Any]) -> str:
    """Return the session that the metadata of a body names; "" for none."""
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
        elif found := next(filter(None, (form.search(said) for form in _USER_IDS)), None):
            return found[1]
    return ""

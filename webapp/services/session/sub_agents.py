"""Sessions with their sub-agents, at any depth."""

from __future__ import annotations

from collections.abc import Mapping

from webapp.store import Store


def with_sub_agents(store: Store, session_id: str) -> list[str]:
    """Return the session and its sub-agents at any depth, itself first, each once even if parents form a circle."""
    found, waiting = {session_id: None}, [session_id]
    while waiting:
        new = [one for one in store.sessions.children(waiting.pop()) if one not in found]
        found.update(dict.fromkeys(new))
        waiting += new
    return [*found]


def root_of(session_id: str, parents: Mapping[str, str | None]) -> str:
    """Return the topmost ancestor of a session. `parents` maps each session to the one that started it."""
    seen = {session_id}
    while (parent := parents.get(session_id)) is not None and parent not in seen:
        seen.add(parent)
        session_id = parent
    return session_id

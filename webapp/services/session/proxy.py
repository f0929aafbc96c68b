"""The state of a session whose calls go through the proxy."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from webapp.agents import AGENTS
from webapp.agents.hook_runtime import hints

PROXY = "proxy"  # the source of such sessions
ID_PREFIX = "proxy-"


@dataclass(slots=True)
class ProxyState:
    """The switch of a session and the outcome of its last call.

    `prunes` is the switch. `applied`: the last call was sent pruned; `reason` says why not, if it should have
    been. `subscription`: its key is a subscription's, so nothing is changed. `calls` counts all calls,
    `pruned` those that were sent pruned; `paid` is the cost of these at list prices, `unpruned` their cost as
    the client sent them, in dollars. `full` is the input of the last call as the client sent it, `prompt` the
    source id of the system prompt, `tools` the digest of the tool definitions, `tool_tokens` their size. `name` is
    the name that the proxy has for a session whose transcript is followed; "" for one of its own.
    """

    prunes: bool = False
    applied: bool = False
    reason: str = ""
    subscription: bool = False
    calls: int = 0
    pruned: int = 0
    paid: float = 0.0
    unpruned: float = 0.0
    full: int = 0
    version: str = ""
    prompt: str = ""
    tools: str = ""
    tool_tokens: int = 0
    name: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any] | None) -> ProxyState:
        """Return what `to_dict` wrote; unknown keys are ignored."""
        names = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in (data or {}).items() if name in names})


def is_proxied(source: str, state: ProxyState) -> bool:
    """Return whether calls of a session went through the proxy."""
    return source == PROXY or bool(state.name)


def sends_pruned(state: ProxyState) -> bool:
    """Return whether the proxy sends the calls of a followed session pruned now.

    The transcript may say what a call used before the copy of the call is here; the proxy notes the script before it
    sends the call.
    """
    if not state.name or not state.prunes:
        return state.applied
    return state.applied or bool(hints.read(state.name, hints.ACTIVE, hints.proxy_folder()).get("edits"))


def sends_edited(source: str, session_id: str) -> bool:
    """Return whether the agent's own process sends the calls of a session with our edits.

    Our extension notes the script before each call, so the usage of the call is that of the edited context.
    """
    agent = AGENTS.get(source)
    if agent is None or agent.edit_key is None:
        return False
    return bool(hints.read(session_id, hints.ACTIVE).get("version"))

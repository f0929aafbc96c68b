"""The state of a session whose calls go through the proxy."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

PROXY = "proxy"  # the source of such sessions
ID_PREFIX = "proxy-"


@dataclass(slots=True)
class ProxyState:
    """The switch of a session and the outcome of its last call.

    `prunes` is the switch. `applied`: the last call was sent pruned; `reason` says why not, if it should have
    been. `subscription`: its key is a subscription's, so nothing is changed. `calls` counts all calls,
    `pruned` those that were sent pruned; `paid` is the cost of these at list prices, `unpruned` their cost as
    the client sent them, in dollars. `full` is the input of the last call as the client sent it, `prompt` the
    source id of the system prompt, `tools` the digest of the tool definitions, `tool_tokens` their size.
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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any] | None) -> ProxyState:
        """Return what `to_dict` wrote; unknown keys are ignored."""
        names = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in (data or {}).items() if name in names})

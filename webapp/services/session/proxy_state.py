"""The state of a session whose calls go through the proxy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from webapp.agents import AGENTS
from webapp.agents.hook_runtime import hints

PROXY = "proxy"  # the source of such sessions
ID_PREFIX = "proxy-"


@dataclass(slots=True)
class ProxyState:
    """The switch of a session and the outcome of its last call."""

    prunes: bool = False
    """The switch: calls are to be sent pruned."""
    applied: bool = False
    """The last call was sent pruned."""
    reason: str = ""
    """The reason the last call was not sent pruned although it should have been."""
    subscription: bool = False
    """The last call's key is a subscription's, so that nothing is changed."""
    calls: int = 0
    pruned: int = 0
    """The calls that were sent pruned."""
    paid: float = 0.0
    """The cost of the pruned calls at list prices, in US dollars."""
    unpruned: float = 0.0
    """Their cost as the client sent them."""
    full: int = 0
    """The input of the last call as the client sent it."""
    version: str = ""
    """The version of the edits that the last call was sent with."""
    unapplied: str = ""
    """The version of the edits that the proxy has for the session, if the last call held nothing that they change."""
    copy: str = ""
    """The digest of the last copy of a call that was counted."""
    prompt: str = ""
    """The source id of the system prompt."""
    tools: str = ""
    """The digest of the tool definitions; `tool_tokens` is their size."""
    tool_tokens: int = 0
    aside: bool = False
    """Its call is on the side of a session that is not known yet."""
    name: str = ""
    """The proxy's name for a session whose transcript is followed; "" for a session of its own."""

    @property
    def reaches_agent(self) -> bool:
        """Return whether prunes reach the agent by themselves, at the latest with its next turn."""
        return self.prunes and not self.subscription and self.reason in ("", hints.WAITS)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_dict(cls, data: dict[str, Any] | None) -> ProxyState:
        """Return what `to_dict` wrote; unknown keys are ignored."""
        return cls(**{name: value for name, value in (data or {}).items() if name in cls.__slots__})


def is_proxied(source: str, state: ProxyState) -> bool:
    """Return whether calls of a session went through the proxy."""
    return source == PROXY or bool(state.name)


def sends_pruned(state: ProxyState) -> bool:
    """Return whether the proxy sends the calls of a followed session pruned now.

    The transcript may say what a call used before the copy of the call is here; the proxy notes the script before it
    sends the call, and that there is none before it sends a refused call again. It keeps the script of a history that
    the agent has compacted since.
    """
    if not state.name or not state.prunes:
        return state.applied
    version, has_edits = active_edits(state.name, hints.proxy_folder())
    return state.applied if has_edits is None else has_edits and version != state.unapplied


def active_edits(name: str, folder: str) -> tuple[str, bool | None]:
    """Return the version of a session's active script, "" for none, and whether it has edits, None if unknown."""
    return _script(name, hints.ACTIVE, folder)


def _script(name: str, kind: str, folder: str) -> tuple[str, bool | None]:
    """Return the version of a session's script of a kind, "" for none, and whether it has edits, None if unknown."""
    try:
        about = Path(hints.path(name, kind, folder)).stat()
    except OSError:
        return "", None
    return _read_script(name, kind, folder, about.st_mtime_ns, about.st_ino)


@lru_cache(maxsize=512)
def _read_script(name: str, kind: str, folder: str, _written: int, _inode: int) -> tuple[str, bool | None]:
    """Read a script of a session, once for each time it was written: its file can be megabytes long."""
    script = hints.read(name, kind, folder)
    return hints.text(script, "version"), bool(script["edits"]) if "edits" in script else None


def sends_edited(source: str, session_id: str) -> bool:
    """Return whether the agent's own process sends the calls of a session with our edits.

    Our extension notes the script before each call, so the usage of the call is that of the edited context.
    """
    agent = AGENTS.get(source)
    if agent is None or agent.edit_key is None:
        return False
    return bool(active_edits(session_id, hints.folder())[0])


def sends_older_edits(source: str, session_id: str, state: ProxyState) -> bool:
    """Return whether the edited calls of a session are still sent with another edit script than its present one.

    A prune or an undo takes effect when the next turn begins, so that the running tool loop stays as it is.
    """
    if is_proxied(source, state):
        name, folder = state.name or session_id, hints.proxy_folder()
    elif sends_edited(source, session_id):
        name, folder = session_id, hints.folder()
    else:
        return False
    (present, _), (active, _) = _script(name, hints.EDITS, folder), active_edits(name, folder)
    return "" not in (present, active) and present != active

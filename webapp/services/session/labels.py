"""A session's row in words: its title, its source, its project, and why no agent can resume it."""

from __future__ import annotations

from pathlib import PureWindowsPath

from webapp.agents import AGENTS
from webapp.agents.reading.rows import is_blank
from webapp.services.session.proxy_state import PROXY
from webapp.store.sessions import SessionRow


def shown_title(row: SessionRow) -> str:
    """Return the title; for an untitled sub-agent its agent's own id, for others the session's id."""
    if row.title and not is_blank(row.title):
        return row.title
    _, marker, agent = row.id.rpartition("agent-")
    return f"sub-agent {agent}" if marker and agent and row.parent_id else row.id


def source_label(source: str) -> str:
    """Return the name of a source as pages show it: an agent's label, else the source itself."""
    if (agent := AGENTS.get(source)) is None:
        return {"api": "API", PROXY: "Proxy"}.get(source, source)
    return f"{agent.label} (legacy)" if agent.legacy else agent.label


def project_of(cwd: str | None) -> str | None:
    """Return the name of the folder that an agent works in, on whatever system it runs; None if it is unknown."""
    path = (cwd or "").rstrip("/\\")
    return PureWindowsPath(path).name or path or None


def why_not_resumed(row: SessionRow) -> str | None:
    """Return why no agent can resume from a copy of a session; None if one can."""
    agent, host = AGENTS.get(row.source), row.state.get("host")
    if host:
        return f"its agent runs on another machine, {host}; export it and resume there"
    if agent is None:
        return "only the session of an agent can be resumed in one; a program asks for its context instead"
    if agent.transcripts is None:
        return f"{agent.label} cannot resume from a copy; export the session instead"
    if row.is_sub_agent:
        return "a sub-agent cannot be resumed by itself; resume its parent session"
    if row.state.get("inherits"):
        return "its transcript lacks its first messages, and a copy would too; resume it itself"
    return None

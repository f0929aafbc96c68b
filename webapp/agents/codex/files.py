"""Where Codex keeps its rollouts, and what each file is by its name and its first row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from webapp.agents.reading.finding import home_of, list_files, read_head
from webapp.agents.reading.rows import object_of, optional, text_of
from webapp.agents.records import TranscriptFile

SOURCE = "codex"

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PARENT = re.compile(rb'"(forked_from_id|parent_thread_id)":\s*"([^"\\]+)"')
_NICKNAME = re.compile(rb'"agent_nickname":\s*"([^"\\]+)"')
_ROLE = re.compile(rb'"agent_role":\s*"([^"\\]+)"')
_HEAD = 4096


def roots(env: Mapping[str, str]) -> list[Path]:
    """The folders with rollouts, existing or not: below CODEX_HOME, else below `.codex` in the home folder."""
    configured = env.get("CODEX_HOME", "").strip()
    home = Path(configured).expanduser() if configured else home_of(env) / ".codex"
    return [home / "sessions", home / "archived_sessions"]


def discover(root: Path) -> Iterator[TranscriptFile]:
    """The rollouts below `root`, newest first. Reads the first bytes of each, where a sub-agent names its parent."""
    for found in list_files(root, ".jsonl"):
        ids = _ID.findall(found.path.name)
        if not ids or not found.path.name.startswith("rollout-"):
            continue
        parent, title, kind = origin(read_head(found.path, _HEAD))
        parent = None if parent == ids[-1] else parent
        yield TranscriptFile(found.path, ids[-1], parent, SOURCE, title, kind, found.modified, found.size)


def origin(head: bytes) -> tuple[str | None, str | None, str | None]:
    """(parent's id, title, agent type) as the first row tells; a fork's type is "fork"."""
    first = head.partition(b"\n")[0]
    if b'"session_meta"' not in first:
        return None, None, None
    found = {key: value.decode("utf-8", "replace") for key, value in _PARENT.findall(first)}
    if parent := found.get(b"parent_thread_id"):
        nickname, role = _NICKNAME.search(first), _ROLE.search(first)
        title = nickname[1].decode("utf-8", "replace") if nickname else None
        return parent, title, role[1].decode("utf-8", "replace") if role else "sub-agent"
    return found.get(b"forked_from_id"), None, "fork" if b"forked_from_id" in found else None


def origin_of(meta: dict[str, Any]) -> tuple[str | None, str | None, str | None]:
    """(parent's id, title, agent type) from a session_meta; the same as discovery says."""
    subagent = object_of(meta.get("source")).get("subagent")
    spawn = object_of(object_of(subagent).get("thread_spawn"))
    parent = optional(meta.get("parent_thread_id")) or optional(spawn.get("parent_thread_id"))
    if parent or subagent:
        kind = text_of(spawn.get("agent_role")) or (subagent if isinstance(subagent, str) else "sub-agent")
        return parent or optional(meta.get("forked_from_id")), optional(spawn.get("agent_nickname")), kind
    parent = optional(meta.get("forked_from_id"))
    return parent, None, "fork" if parent else None

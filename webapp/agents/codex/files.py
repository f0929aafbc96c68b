"""Codex's files: their folders, and the session of each rollout by its name and its first row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from webapp.agents.reading.finding import UUID, folder_of, read_head, transcripts_below
from webapp.agents.reading.rows import object_of, optional, text_of
from webapp.agents.records import Origin, TranscriptFile

SOURCE = "codex"

_ID = re.compile(rb'"id"\s*:\s*"([0-9a-fA-F-]{36})"')
_PARENT = re.compile(rb'"(forked_from_id|parent_thread_id)":\s*"([^"\\]+)"')
_NICKNAME = re.compile(rb'"agent_nickname":\s*"([^"\\]+)"')
_ROLE = re.compile(rb'"agent_role":\s*"([^"\\]+)"')
_HEAD = 4096


def roots(env: Mapping[str, str]) -> list[Path]:
    """Return the folders with rollouts, existing or not: below CODEX_HOME, else `.codex` in the home folder."""
    return [_home(env) / "sessions", _home(env) / "archived_sessions"]


def hooks(env: Mapping[str, str]) -> Path:
    """Return the file of the user's hooks, existing or not."""
    return _home(env) / "hooks.json"


def _home(env: Mapping[str, str]) -> Path:
    return folder_of(env, "CODEX_HOME", ".codex")


def discover(root: Path) -> Iterator[TranscriptFile]:
    """Return the rollouts below `root`, newest first. Reads the first bytes of each, which name its parent."""
    return transcripts_below(root, ".jsonl", SOURCE, _describe)


def _describe(path: Path) -> Origin:
    is_rollout = path.name.startswith("rollout-") and UUID.search(path.name)
    return origin(path, read_head(path, _HEAD)) if is_rollout else Origin()


def origin(path: PurePath, head: bytes, on_disk: bool = False) -> Origin:
    """Return the session of a rollout by its name or first row, and its parent. A fork has the type "fork"."""
    first, ids = head.partition(b"\n")[0], UUID.findall(path.name)
    named = b'"session_meta"' in first
    own = _ID.search(first) if named else None
    session = ids[-1] if ids else own[1].decode() if own else None
    found = {key: value.decode("utf-8", "replace") for key, value in _PARENT.findall(first)} if named else {}
    parent, title, kind = found.get(b"forked_from_id"), None, "fork" if b"forked_from_id" in found else None
    if spawned := found.get(b"parent_thread_id"):
        nickname, role = _NICKNAME.search(first), _ROLE.search(first)
        title = nickname[1].decode("utf-8", "replace") if nickname else None
        parent, kind = spawned, role[1].decode("utf-8", "replace") if role else "sub-agent"
    return Origin(session, None if parent == session else parent, title, kind)


def origin_of(meta: dict[str, Any]) -> tuple[str | None, str | None, str | None]:
    """Return the parent's id, the title and the agent type from a session_meta, in the form that discovery uses."""
    subagent = object_of(meta.get("source")).get("subagent")
    spawn = object_of(object_of(subagent).get("thread_spawn"))
    parent = optional(meta.get("parent_thread_id")) or optional(spawn.get("parent_thread_id"))
    if parent or subagent:
        kind = text_of(spawn.get("agent_role")) or (subagent if isinstance(subagent, str) else "sub-agent")
        return parent or optional(meta.get("forked_from_id")), optional(spawn.get("agent_nickname")), kind
    parent = optional(meta.get("forked_from_id"))
    return parent, None, "fork" if parent else None

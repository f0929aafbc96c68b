"""Codex's files: their folders, and the session of each rollout by its name and its first row."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from webapp.agents.codex.earlier_rollouts import FOLDERS, ids_in, replaced
from webapp.agents.codex.names import INDEX, name_of
from webapp.agents.reading import packed
from webapp.agents.reading.finding import UUID, first_row, folder_of, list_files, read_head, transcripts_below
from webapp.agents.reading.rows import object_of, optional, text_of
from webapp.agents.records import Origin, TranscriptFile

SOURCE = "codex"

_FIELDS = ("id", "forked_from_id", "parent_thread_id", "agent_nickname", "agent_role", "subagent")
_FIELD = re.compile(rf'"({"|".join(_FIELDS)})"\s*:\s*"([^"\\]+)"'.encode())
_SUBAGENT = re.compile(rb'"subagent"\s*:\s*\{')
_HEAD = 4096


def roots(env: Mapping[str, str]) -> list[Path]:
    """Return the folders with rollouts and the index of names, existing or not: below CODEX_HOME, else `~/.codex`."""
    return [*roots_beside(_home(env)), _home(env) / INDEX]


def roots_beside(home: Path) -> list[Path]:
    """Return the folders with rollouts below Codex's own folder."""
    return [home / name for name in FOLDERS]


def hooks(env: Mapping[str, str]) -> Path:
    """Return the file of the user's hooks, existing or not."""
    return _home(env) / "hooks.json"


def _home(env: Mapping[str, str]) -> Path:
    return folder_of(env, "CODEX_HOME", ".codex")


def discover(root: Path) -> Iterator[TranscriptFile]:
    """Yield the rollouts below `root`, newest first. Reads the first bytes of each, which name its parent.

    Of a session that was reverted, only the newest rollout is one; it continues the earlier ones.
    """
    found = list(transcripts_below(root, packed.ENDINGS, SOURCE, _describe))
    older = replaced([file.path for file in found])
    yield from (file for file in found if file.path not in older)


def rollouts_of(root: Path, sessions: Collection[str]) -> list[TranscriptFile]:
    """Return the rollouts of these sessions below `root`; only theirs are opened."""
    wanted = [
        one.path
        for one in list_files(root, packed.ENDINGS)
        if (ids_in(one.path.name) or ("",))[0] in sessions
    ]
    older = replaced(wanted)
    return [file for path in wanted if path not in older for file in discover(path)]


def _describe(path: Path) -> Origin:
    is_rollout = path.name.startswith("rollout-") and ids_in(path.name)
    if path.suffix == packed.ENDING and path.with_suffix("").exists():
        return Origin()  # Codex unpacks it to write to it, and removes it then
    return origin(path, read_head(path, _HEAD)) if is_rollout else Origin()


def origin(path: PurePath, head: bytes, on_disk: bool = False) -> Origin:
    """Return the session of a rollout by its name or first row, and its parent.

    The row is long and `head` may cut it off, so its fields are searched for instead of parsed. With `on_disk` the
    title is the user's name for the session, if there is one.
    """
    first, ids = first_row(head), ids_in(path.name)
    first = first if b'"session_meta"' in first else b""
    found = [(name.decode(), value.decode("utf-8", "replace")) for name, value in _FIELD.findall(first)]
    fields = dict(reversed(found))  # the first of a name counts
    if _SUBAGENT.search(first):
        fields.setdefault("subagent", "sub-agent")
    own = next((value for name, value in found if name == "id" and UUID.fullmatch(value)), None)
    about = _origin(ids[0] if ids else own, fields)
    name = name_of(path, about.session_id) if on_disk else None
    return about._replace(title=name or about.title)


def origin_of(meta: dict[str, Any]) -> Origin:
    """Return the session of a session_meta, and its parent."""
    subagent = object_of(meta.get("source")).get("subagent")
    spawn = object_of(object_of(subagent).get("thread_spawn"))
    fields = {name: optional(meta.get(name)) or optional(spawn.get(name)) for name in _FIELDS}
    fields["subagent"] = subagent if isinstance(subagent, str) else "sub-agent" if subagent else None
    return _origin(text_of(meta.get("id")), fields)


def _origin(session: str | None, fields: Mapping[str, str | None]) -> Origin:
    """Return the origin of a session from the fields of its session_meta. A fork has the type "fork"."""
    forked, spawned = fields.get("forked_from_id"), fields.get("parent_thread_id")
    title, kind, parent = None, "fork" if forked else None, forked
    if spawned or fields.get("subagent"):
        title, parent = fields.get("agent_nickname"), spawned or forked
        kind = fields.get("agent_role") or fields.get("subagent") or "sub-agent"
    return Origin(session, None if parent == session else parent, title, kind)

"""Claude Code's files: their folders, and the session of each transcript by its place and name.

`<config>/projects/<project>/<session uuid>.jsonl` is a session. Its sub-agents are below `<session uuid>/`, mostly
in `subagents/agent-<id>.jsonl`; older versions put them beside the session, with its id in their rows. The agent's own
requests (a summary for a compaction, a suggestion) are written the same way and are not sub-agents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath

from webapp.agents.reading.finding import (
    HEAD_BYTES,
    UUID,
    home_of,
    leads_out,
    read_head,
    read_json_file,
    session_in,
    transcripts_below,
)
from webapp.agents.reading.rows import object_of, optional, parse, short_title
from webapp.agents.records import Origin, TranscriptFile

SOURCE = "claude-code"

_OWN_QUESTIONS = re.compile(
    r"agent-a(compact|prompt_suggestion|side_question|session_memory|extract_memories|away_summary|speculation)-"
)


def roots(env: Mapping[str, str]) -> list[Path]:
    """Return the folders with projects, existing or not: CLAUDE_CONFIG_DIR (comma-separated), else the usual two."""
    if configured := env.get("CLAUDE_CONFIG_DIR", "").strip():
        homes = [Path(part.strip()).expanduser() for part in configured.split(",") if part.strip()]
    else:
        config = env.get("XDG_CONFIG_HOME") or str(home_of(env) / ".config")
        homes = [home_of(env) / ".claude", Path(config) / "claude"]
    places = [home if home.name == "projects" else home / "projects" for home in homes]
    return list(dict.fromkeys(places))


def discover(root: Path) -> Iterator[TranscriptFile]:
    """Return the transcripts below `root`, newest first. Opens only sub-agents' first rows and `.meta.json`."""
    return transcripts_below(root, ".jsonl", SOURCE, describe)


def describe(path: Path) -> Origin:
    """Return the session of a file by its place; an empty origin if it belongs to none, or to none known yet."""
    found = named(path)
    if not path.stem.startswith("agent-") or found.session_id is None:
        return found
    head = b"" if found.parent_id else read_head(path)
    parent = found.parent_id or _parent_in(head)
    if parent is None and _is_begun(head):
        return Origin()  # the row that names its parent is still to come
    beside = path.with_suffix(".meta.json")
    about = {} if leads_out(beside, path.parent) else object_of(read_json_file(beside))
    title, kind = optional(about.get("description")), optional(about.get("agentType"))
    session = f"{parent}.{path.stem}" if parent else path.stem
    return Origin(session, parent, short_title(title or ""), kind)


def named(path: PurePath) -> Origin:
    """Return the session of a file by its path, without opening anything."""
    name = path.stem
    if not name.startswith("agent-"):
        return Origin(name if UUID.fullmatch(name) else None)
    if _OWN_QUESTIONS.match(name):
        return Origin(own_question=True)
    parent = next((p.name for p in path.parents if UUID.fullmatch(p.name)), None)
    return Origin(f"{parent}.{name}" if parent else name, parent)


def origin(path: PurePath, head: bytes, on_disk: bool) -> Origin:
    """Return the session of an imported file: by its path, else by its first rows."""
    found, inside = describe(Path(path)) if on_disk else named(path), session_in(head)
    if found.own_question:
        return found
    if found.session_id is None:
        return Origin(inside)
    if path.stem.startswith("agent-") and found.parent_id is None and inside is not None:
        return found._replace(session_id=f"{inside}.{path.stem}", parent_id=inside)
    return found


def _parent_in(head: bytes) -> str | None:
    """Return the session id in the first row that has one."""
    for line in head.split(b"\n")[:20]:
        row = parse(line) if line else ""
        if isinstance(row, dict) and (session := optional(row.get("sessionId"))):
            return session
        if isinstance(row, str) and (found := re.search(rb'"sessionId":"([^"\\]+)"', line)):
            return found[1].decode("utf-8", "replace")
    return None


def _is_begun(head: bytes) -> bool:
    """Return whether a file has no message yet: its first row is still being written, or its rows so far are notes."""
    rows = [parse(line) for line in head.split(b"\n")[:-1] if line.strip()]
    return len(head) < HEAD_BYTES and all(isinstance(row, dict) and "message" not in row for row in rows)


def settings(env: Mapping[str, str]) -> Path:
    """Return the user's settings, existing or not."""
    configured = env.get("CLAUDE_CONFIG_DIR", "").partition(",")[0].strip()
    home = Path(configured).expanduser() if configured else home_of(env) / ".claude"
    return (home.parent if home.name == "projects" else home) / "settings.json"

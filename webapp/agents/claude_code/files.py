"""Where Claude Code keeps its transcripts, and what each file is by its place and name.

`<config>/projects/<project>/<session uuid>.jsonl` is a session. Its sub-agents lie below `<session uuid>/`, mostly
in `subagents/agent-<id>.jsonl`; older versions put them beside the session, with its id in their rows. What the
agent asks itself (a summary for a compaction, a suggestion) is written the same way and is no sub-agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath

from webapp.agents.reading.finding import UUID, home_of, list_files, read_head, read_json_file
from webapp.agents.reading.rows import object_of, optional, parse, short_title
from webapp.agents.records import TranscriptFile

SOURCE = "claude-code"

_OWN_QUESTIONS = re.compile(
    r"agent-a(compact|prompt_suggestion|side_question|session_memory|extract_memories|away_summary|speculation)-"
)


def roots(env: Mapping[str, str]) -> list[Path]:
    """The folders with projects, existing or not: CLAUDE_CONFIG_DIR (several with commas), else the usual two."""
    if configured := env.get("CLAUDE_CONFIG_DIR", "").strip():
        homes = [Path(part.strip()).expanduser() for part in configured.split(",") if part.strip()]
    else:
        config = env.get("XDG_CONFIG_HOME") or str(home_of(env) / ".config")
        homes = [home_of(env) / ".claude", Path(config) / "claude"]
    places = [home if home.name == "projects" else home / "projects" for home in homes]
    return list(dict.fromkeys(places))


def discover(root: Path) -> Iterator[TranscriptFile]:
    """The transcripts below `root`, newest first. Opens only sub-agents' first rows and `.meta.json`."""
    for found in list_files(root, ".jsonl"):
        if (described := describe(found.path)) is not None:
            session, parent, title, kind = described
            yield TranscriptFile(found.path, session, parent, SOURCE, title, kind, found.modified, found.size)


def describe(path: Path) -> tuple[str, str | None, str | None, str | None] | None:
    """(session id, parent's id, title, agent type) of a file by its place; None if it is no session's."""
    found = named(path)
    if found is None or not path.stem.startswith("agent-"):
        return found
    parent = found[1] or _parent_in(path)
    about = object_of(read_json_file(path.with_suffix(".meta.json")))
    title, kind = optional(about.get("description")), optional(about.get("agentType"))
    session = f"{parent}.{path.stem}" if parent else path.stem
    return (session, parent, short_title(title or "") or None, kind)


def named(path: PurePath) -> tuple[str, str | None, str | None, str | None] | None:
    """The same by the path alone: nothing is opened."""
    name = path.stem
    if not name.startswith("agent-"):
        return (name, None, None, None) if UUID.fullmatch(name) else None
    if _OWN_QUESTIONS.match(name):
        return None
    parent = next((p.name for p in path.parents if UUID.fullmatch(p.name)), None)
    return (f"{parent}.{name}" if parent else name, parent, None, None)


def _parent_in(path: Path) -> str | None:
    """The session id in the first row that has one."""
    for line in read_head(path).split(b"\n")[:20]:
        row = parse(line) if line else ""
        if isinstance(row, dict) and (session := optional(row.get("sessionId"))):
            return session
        if isinstance(row, str) and (found := re.search(rb'"sessionId":"([^"\\]+)"', line)):
            return found[1].decode("utf-8", "replace")
    return None

"""pi's files: their folder, the session of each, and how its rows are recognised.

`<agent folder>/sessions/<folder by working directory>/<time>_<session id>.jsonl`; the first row names the session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from webapp.agents.reading.finding import (
    first_row,
    folder_of,
    home_of,
    read_first_row,
    read_json_file,
    transcripts_below,
)
from webapp.agents.reading.rows import object_of, optional, parse, text_of
from webapp.agents.records import Origin, TranscriptFile

SOURCE = "pi"

_HEAD = 4096
_ENTRIES = frozenset(
    {"message", "compaction", "branch_summary", "custom_message", "model_change", "session_info"}
)


def roots(env: Mapping[str, str]) -> list[Path]:
    """Return the folders with sessions: PI_CODING_AGENT_SESSION_DIR alone, else that of pi's settings and the usual.

    The settings are in the agent's folder, which PI_CODING_AGENT_DIR moves. A relative folder is another one for each
    project, and is not searched.
    """
    if sessions := env.get("PI_CODING_AGENT_SESSION_DIR", "").strip():
        return [Path(sessions).expanduser()]
    agent = folder_of(env, "PI_CODING_AGENT_DIR", ".pi", "agent")
    named = text_of(object_of(read_json_file(agent / "settings.json")).get("sessionDir"))
    chosen = home_of(env) / named.removeprefix("~/") if named.startswith("~/") else Path(named)
    return [*dict.fromkeys([*([chosen] if chosen.is_absolute() else []), agent / "sessions"])]


def extension(env: Mapping[str, str]) -> Path:
    """Return the file of our extension, existing or not."""
    return folder_of(env, "PI_CODING_AGENT_DIR", ".pi", "agent") / "extensions" / "coppice.ts"


def discover(root: Path) -> Iterator[TranscriptFile]:
    """Return the sessions below `root`, newest first. Reads the first row of each."""
    return transcripts_below(root, ".jsonl", SOURCE, lambda path: origin(path, read_first_row(path, _HEAD)))


def origin(path: PurePath, head: bytes, on_disk: bool = False) -> Origin:
    """Return the session of a file by its first row. A session that was made from another one is its fork."""
    row = object_of(parse(first_row(head)))
    session = optional(row.get("id")) if row.get("type") == "session" else None
    parent = PurePath(text_of(row.get("parentSession")).replace("\\", "/")).stem.rpartition("_")[2]
    if session is None or not parent or parent == session:
        return Origin(session)
    return Origin(session, parent, None, "fork")


def match_score(row: dict[str, Any]) -> int:
    """Return how surely a row is pi's: 2 as a session's first row or an entry of its tree, else 0."""
    kind = text_of(row.get("type"))
    first = kind == "session" and "id" in row and "timestamp" in row
    entry = kind in _ENTRIES and ("parentId" in row or "role" in object_of(row.get("message")))
    return 2 if first or entry else 0

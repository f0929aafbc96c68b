"""The names that users give to Codex's sessions, which it does not write into their rollouts.

`session_index.jsonl`, beside the folders of rollouts, has a row for each renaming; the last one of a session counts.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path, PurePath

from webapp.agents.codex.earlier_rollouts import FOLDERS
from webapp.agents.reading.finding import read_file
from webapp.agents.reading.readers import look_of
from webapp.agents.reading.rows import object_of, parse, short_title, text_of

INDEX = "session_index.jsonl"


def name_of(rollout: PurePath, session: str | None) -> str | None:
    """Return the name of the session in a rollout; None if it has none, or if the rollout is not in Codex's folder."""
    folder = next((p for p in rollout.parents if p.name in FOLDERS), None)
    return names_in(Path(folder.parent) / INDEX).get(session or "") if folder is not None else None


def names_in(index: Path) -> dict[str, str]:
    """Return the names of sessions by their ids, those given last at the end; none if there is no index."""
    look = look_of(index)
    return {} if look is None else _names_in(index, *look)


@lru_cache(maxsize=4)
def _names_in(index: Path, _size: int, _changed_at: int) -> dict[str, str]:
    names: dict[str, str] = {}
    try:
        content = read_file(index)
    except OSError:
        return names
    for line in content.splitlines():
        row = object_of(parse(line))  # a torn or unknown row names nothing
        session, name = text_of(row.get("id")), short_title(text_of(row.get("thread_name")))
        if session and name:
            names.pop(session, None)
            names[session] = name
    return names

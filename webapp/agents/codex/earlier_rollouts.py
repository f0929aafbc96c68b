"""Rollouts that continue an earlier one, of the same session or of another one.

After a revert Codex writes the session on in a new file, `rollout-<time>-<session>_<rollout>.jsonl`, and leaves the one
before as it was. The first row of the new file says with which bytes of that one the session begins (`history_base`);
that one can continue another in turn. A fork names its parent's rollout in the same way. (Seen in 0.171.0.)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from webapp.agents.reading import packed
from webapp.agents.reading.finding import UUID, open_file, walk
from webapp.agents.reading.rows import count_of, object_of, parse, text_of
from webapp.agents.reading.tail import MAX_LINE, MOST_BYTES, Line, first_blocks, lines_of

_REVERTED = re.compile(rf"({UUID.pattern})_({UUID.pattern})", re.IGNORECASE)
FOLDERS = ("sessions", "archived_sessions")


class Segment(NamedTuple):
    """The rows of a session in an earlier file: those in its first `size` bytes. `is_own`: the file is its own, too."""

    path: Path
    size: int
    is_own: bool

    def lines(self) -> Iterator[Line]:
        """Yield its lines, without the first one, which is about the file."""
        return (line for line in lines_in(self.path, self.size) if line.number > 1)


def lines_in(path: Path, size: int = MOST_BYTES) -> Iterator[Line]:
    """Yield the lines in the first bytes of a rollout."""
    with open_file(path) as file:
        yield from (item for item in lines_of(first_blocks(file, size)) if isinstance(item, Line))


def ids_in(name: str) -> tuple[str, str] | None:
    """Return the ids of the session and of the rollout in the name of a file, which differ after a revert."""
    if (found := _REVERTED.search(name)) is not None:
        return found[1], found[2]
    ids = UUID.findall(name)
    return (ids[-1], ids[-1]) if ids else None


def replaced(paths: Collection[PurePath]) -> set[PurePath]:
    """Return the rollouts of reverted sessions that a newer one of the same session continues."""
    newest: dict[str, str] = {}
    for path in paths:
        if (found := _REVERTED.search(path.name)) is not None:
            newest[found[1]] = max(path.name, newest.get(found[1], ""))
    return {path for path in paths if (ids := ids_in(path.name)) and path.name < newest.get(ids[0], "")}


class Beginning(NamedTuple):
    """The rows before those of a file: `segments`, oldest first.

    Before them come those of a rollout that was not found, if there is one, whose id is `missing`.
    """

    segments: list[Segment]
    missing: str = ""


def beginning_of(path: Path | None, about: dict[str, Any]) -> Beginning:
    """Return what comes before the rows of a file with that session_meta."""
    segments: list[Segment] = []
    session, seen = text_of(about.get("id")), {path}
    while base := object_of(about.get("history_base")):
        rollout = text_of(base.get("thread_id"))
        at = _rollout(path, rollout) if path is not None else None
        first = _first_row(at) if at is not None and at not in seen else None
        if at is None or first is None:
            return Beginning(segments, rollout)
        seen.add(at)
        is_own = first.get("id") == session
        segments.insert(0, Segment(at, count_of(base.get("end_byte_offset")), is_own))
        about = first
    return Beginning(segments)


def earlier_rollouts(path: Path | None) -> list[Path]:
    """Return the earlier rollouts of a reverted session whose newest one is `path`, oldest first."""
    if path is None or _REVERTED.search(path.name) is None:
        return []
    session = (ids_in(path.name) or ("",))[0]
    found = (one for one, ids in _rollouts_beside(path) if ids[0] == session and one.name < path.name)
    return sorted(found, key=lambda one: one.name)


def _rollout(path: Path, rollout: str) -> Path | None:
    """Return the file of a rollout in the folders of sessions beside `path`, or None."""
    return next((one for one, ids in _rollouts_beside(path) if ids[1] == rollout), None)


def _rollouts_beside(path: Path) -> Iterator[tuple[Path, tuple[str, str]]]:
    """Yield the rollouts in the folders of sessions beside `path`, with their ids."""
    home = next((folder.parent for folder in path.parents if folder.name in FOLDERS), None)
    if home is None:
        return
    for folder in FOLDERS:
        for entry, _ in walk(str(home / folder)):
            ids = ids_in(entry.name) if entry.name.endswith(packed.ENDINGS) else None
            if ids is not None:
                yield Path(entry.path), ids


def _first_row(path: Path) -> dict[str, Any] | None:
    """Return the facts in the first row of a rollout; None if it cannot be read."""
    try:
        with open_file(path) as file:
            return object_of(object_of(parse(file.readline(MAX_LINE))).get("payload"))
    except OSError:
        return None

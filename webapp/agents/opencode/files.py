"""OpenCode's sessions on disk: in databases, and in older versions in trees of small JSON files.

Until 0.5 each project has a tree, later there is one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from webapp.agents.opencode import version2
from webapp.agents.reading.databases import ForeignTables, open_foreign
from webapp.agents.reading.finding import folder_of, leads_out, list_files, read_json_file
from webapp.agents.reading.rows import object_of, optional, parse_value, short_title, text_of, when
from webapp.agents.records import TranscriptFile

log = logging.getLogger(__name__)

SOURCE = "opencode"
# After a change of a database, the sessions active within this time of the newest one are read.
LATE_SECONDS = 24 * 3600.0

_LOG = "-wal"

Row = dict[str, Any]


def roots(env: Mapping[str, str]) -> list[Path]:
    """Return the data folder, existing or not: below XDG_DATA_HOME, else `.local/share` in the home folder.

    OPENCODE_DB can name a database anywhere else, in full or below the data folder. It comes with its write-ahead log,
    in which its changes are first.
    """
    data = folder_of(env, "XDG_DATA_HOME", ".local", "share") / "opencode"
    named = env.get("OPENCODE_DB", "").strip()
    if not named or named == ":memory:":
        return [data]
    return [data, data / named, data / f"{named}{_LOG}"]


def config_folder(env: Mapping[str, str]) -> Path:
    """Return the folder of the user's configuration, existing or not."""
    return folder_of(env, "XDG_CONFIG_HOME", ".config") / "opencode"


def plugin(env: Mapping[str, str]) -> Path:
    """Return the file of our plugin, existing or not."""
    return config_folder(env) / "plugin" / "coppice.js"


def discover(root: Path) -> Iterator[TranscriptFile]:
    """Yield the sessions in databases and in the tree below `root`, each newest first; one in both comes once.

    A `root` can be a database.
    """
    if root.is_file():
        yield from in_database(root) if not root.name.endswith(_LOG) else ()
        return
    known: set[str] = set()
    for database in sorted(root.glob("opencode*.db")):
        if leads_out(database, root):
            continue
        for file in in_database(database):
            known.add(file.session_id)
            yield file
    for tree in (root / "storage", *sorted(root.glob("project/*/storage"))):
        for file in _in_tree(tree) if not leads_out(tree, root) else ():
            if file.session_id not in known:
                known.add(file.session_id)
                yield file


def archives_at(path: Path) -> list[Path]:
    """Return the databases and trees (folders with `session` and `message`, as in `tree_paths`) at or below a path."""
    if not path.is_dir():
        return [path] if path.suffix == ".db" else []
    trees = {place.parent for place in [path / "session", *path.rglob("session")] if place.is_dir()}
    found = sorted(t for t in trees if (t / "message").is_dir() or (t / "session" / "message").is_dir())
    return [*sorted(path.rglob("opencode*.db")), *found]


def sessions_in(archive: Path) -> Iterator[TranscriptFile]:
    """Yield the sessions of a database or a tree, newest first; log why a database cannot be read."""
    return _in_tree(archive) if archive.is_dir() else in_database(archive, show_unreadable=False)


def _sessions_folder(tree: Path) -> Path:
    older = tree / "session" / "info"
    return older if older.is_dir() else tree / "session"


def tree_paths(session_file: Path, session: str) -> tuple[Path, Path, Path]:
    """Return the tree of a session's file, the folder of its messages, and the folder of all parts' folders.

    Newer versions have one tree, with a folder for each project in `session`. Until 0.5 each project has a tree, with
    sessions in `session/info` and their messages and parts beside that folder.
    """
    folder = session_file.parent.parent
    tree = folder.parent
    if session_file.parent.name == "info":
        return tree, folder / "message" / session, folder / "part" / session
    return tree, tree / "message" / session, tree / "part"


def _in_tree(tree: Path) -> Iterator[TranscriptFile]:
    for found in list_files(_sessions_folder(tree), ".json", within=tree):
        info = read_json_file(found.path)
        if isinstance(info, dict) and (described := _described(found.path, info)) is not None:
            yield described


def sessions_of(path: Path, root: Path) -> Iterator[TranscriptFile]:
    """Yield the sessions that a changed file belongs to: all of a database, newest first; one of a tree."""
    if path == root:
        yield from in_database(path.with_name(path.name.removesuffix(_LOG)))
        return
    if path.name.endswith((".db", ".db-wal")):
        database = path.with_name(path.name.removesuffix("-wal"))
        if path.name.startswith("opencode") and not leads_out(database, path.parent):
            yield from in_database(database)
        return
    tree = next((p for p in path.parents if (p / "session").is_dir()), None)
    if tree is None or path.suffix != ".json":
        return
    info = object_of(read_json_file(path))
    wanted = optional(info.get("sessionID")) or (text_of(info.get("id")) if "session" in path.parts else "")
    for found in _sessions_folder(tree).rglob(f"{glob_safe(wanted)}.json") if wanted else []:
        if leads_out(found, tree):
            continue
        described = _described(found, object_of(read_json_file(found)))
        if described is not None and described.session_id == wanted:
            yield described


def recent_sessions_of(path: Path, root: Path) -> list[TranscriptFile]:
    """Return the sessions that a changed file can belong to; of a database those active within a day of the newest."""
    found = list(sessions_of(path, root))
    newest = max((file.modified for file in found), default=0.0)
    return [file for file in found if file.modified >= newest - LATE_SECONDS]


def glob_safe(name: str) -> str:
    """Return a name with the special characters of patterns replaced."""
    return "".join("?" if c in "*?[]/\\" else c for c in name)


def in_database(database: Path, *, show_unreadable: bool = True) -> Iterator[TranscriptFile]:
    """Yield the sessions of a database, newest first.

    A database with unknown tables gives one session, which says so to somebody who waits for the agent's sessions, or
    without `show_unreadable` a warning in the log.
    """
    try:
        with open_foreign(database) as tables:
            fault = unknown_schema(tables.names())
            sessions = session_rows(tables) if fault is None else []
    except OSError:
        return
    if fault is not None and not show_unreadable:
        log.warning("%s: %s", database, fault)
    elif fault is not None:
        at = database.stat().st_mtime
        name, title = f"opencode-unreadable-{database.stem}", f"{database.name} cannot be read"
        yield TranscriptFile(database, name, None, SOURCE, title, modified=at, shared=True)
    sessions.sort(key=lambda info: -_updated(info))
    yield from (file for info in sessions if (file := _described(database, info)) is not None)


def session_rows(tables: ForeignTables, where: Mapping[str, Any] | None = None) -> list[Row]:
    """Return the sessions of a database in the form of the tree's files, each once; the newer table has precedence."""
    found = {
        text_of(row.get("id")): row
        for name in ("session", version2.SESSIONS)
        for row in tables.rows(name, where)
    }
    return [_session_row(row) for row in found.values()]


def _session_row(row: Row) -> Row:
    """Return a row of the table `session` in the form of the tree's session files."""
    return {
        "id": row.get("id"),
        "parentID": row.get("parent_id"),
        "projectID": row.get("project_id"),
        "directory": row.get("directory"),
        "title": row.get("title"),
        "version": row.get("version"),
        **{
            name: parse_value(json_column(row[name]))[0] for name in ("permission", "revert") if row.get(name)
        },
        "time": {"created": row.get("time_created"), "updated": row.get("time_updated")},
    }


def json_column(column: Any) -> bytes:
    """Return the text of a column with JSON; b"" if it has none."""
    text = column.encode("utf-8", "replace") if isinstance(column, str) else column
    return text if isinstance(text, bytes) else b""


def unknown_schema(names: set[str]) -> str | None:
    """Return why the tables of a database cannot be read; None if they can, or if there are none."""
    if not names or (names & {"session", version2.SESSIONS} and names & {"message", version2.MESSAGES}):
        return None
    shown = ", ".join(sorted(names)[:6])
    return f"unknown schema: expected the tables session and message or {version2.MESSAGES}, got {shown}"


def _described(path: Path, info: Row) -> TranscriptFile | None:
    session = optional(info.get("id"))
    if session is None:
        return None
    parent, modified = optional(info.get("parentID")), _updated(info)
    title = short_title(text_of(info.get("title")))
    kind = "sub-agent" if parent else None
    cwd = optional(info.get("directory"))
    return TranscriptFile(path, session, parent, SOURCE, title, kind, modified, shared=True, cwd=cwd)


def _updated(info: Row) -> float:
    at = when(object_of(info.get("time")).get("updated"))
    return at.timestamp() if at else 0.0

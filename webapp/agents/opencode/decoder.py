"""OpenCode's sessions: tables in a database, of two generations, or, in older versions, a tree of small JSON files.

A session is read from the newer tables (`version2`) once they have a row of it, else from the older ones, which newer
versions leave unchanged. A database with unknown tables is shown as a session that cannot be read.

Sessions change in place: `read` compares a session with the `state` of the last read. The database is opened read-only.
A compaction is an assistant's message marked as summary: everything before it leaves the context, except a tail that
the request for the compaction names. A message that cannot be read keeps its last version; only a message that is gone
has left the context.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from webapp.agents.opencode import version2
from webapp.agents.opencode.items import messages_of, model_of, unknown_in, usage_of
from webapp.agents.reading.databases import ForeignTables, open_foreign
from webapp.agents.reading.facts import SessionFacts
from webapp.agents.reading.finding import (
    folder_of,
    leads_out,
    list_files,
    read_file,
    read_json_file,
    reason_of,
)
from webapp.agents.reading.readers import FRESH_SECONDS, Position, Reader, WholeReader
from webapp.agents.reading.rows import (
    count_of,
    lacking,
    object_of,
    optional,
    parse,
    parse_value,
    short_title,
    text_of,
    when,
)
from webapp.agents.reading.tail import guarded
from webapp.agents.reading.updates import History
from webapp.agents.records import Compaction, Entry, EntryKind, Problem, Record, TranscriptFile, Unknown

SOURCE = "opencode"
# After a change of a database, the sessions active within this time of the newest one are read.
LATE_SECONDS = 24 * 3600.0

Row = dict[str, Any]
Changed = list[tuple[Row, list[Row] | None]]  # messages in order, with their parts; None: as they were


@dataclass(slots=True)
class _Seen:
    """A session as it is now: `marks` of readable messages, and what could not be read, by name.

    `info` is None if the session itself cannot be read. `newest` is the time of the newest file that cannot be read.
    `is_second`: its messages are in the newer tables.
    """

    marks: dict[str, Any]
    info: Row | None = None
    messages: Changed = field(default_factory=list)
    broken: dict[str, tuple[list[float], str]] = field(default_factory=dict)  # (mark, reason)
    newest: float = -inf
    is_second: bool = False


class Original(NamedTuple):
    """A session as stored by OpenCode: its facts and its messages with their parts, in the first generation's form."""

    info: Row
    messages: list[tuple[Row, list[Row]]]
    is_second: bool


def roots(env: Mapping[str, str]) -> list[Path]:
    """Return the data folder, existing or not: below XDG_DATA_HOME, else `.local/share` in the home folder."""
    return [folder_of(env, "XDG_DATA_HOME", ".local", "share") / "opencode"]


def plugin(env: Mapping[str, str]) -> Path:
    """Return the file of our plugin, existing or not."""
    return folder_of(env, "XDG_CONFIG_HOME", ".config") / "opencode" / "plugin" / "coppice.js"


def discover(root: Path) -> Iterator[TranscriptFile]:
    """Yield the sessions in databases and in the tree below `root`, each newest first; one in both comes once."""
    known: set[str] = set()
    for database in sorted(root.glob("opencode*.db")):
        if leads_out(database, root):
            continue
        for file in in_database(database):
            known.add(file.session_id)
            yield file
    if not leads_out(root / "storage", root):
        yield from (file for file in _in_tree(root / "storage") if file.session_id not in known)


def archives_at(path: Path) -> list[Path]:
    """Return the databases and trees (folders with `session` and `message`) at or below a path."""
    if not path.is_dir():
        return [path] if path.suffix == ".db" else []
    trees = {place.parent for place in [path / "session", *path.rglob("session")] if place.is_dir()}
    return [*sorted(path.rglob("opencode*.db")), *sorted(t for t in trees if (t / "message").is_dir())]


def sessions_in(archive: Path) -> Iterator[TranscriptFile]:
    """Yield the sessions of a database or a tree, newest first."""
    return _in_tree(archive) if archive.is_dir() else in_database(archive)


def _in_tree(tree: Path) -> Iterator[TranscriptFile]:
    for found in list_files(tree / "session", ".json", within=tree):
        info = read_json_file(found.path)
        if isinstance(info, dict) and (described := _described(found.path, info)) is not None:
            yield described


def sessions_of(path: Path) -> Iterator[TranscriptFile]:
    """Yield the sessions that a changed file belongs to: all of a database, newest first; one of a tree."""
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
    for found in (tree / "session").rglob(f"{glob_safe(wanted)}.json") if wanted else []:
        if leads_out(found, tree):
            continue
        described = _described(found, object_of(read_json_file(found)))
        if described is not None and described.session_id == wanted:
            yield described


def worked_on(path: Path) -> list[TranscriptFile]:
    """Return the sessions that a changed file can belong to; of a database those active within a day of the newest."""
    found = list(sessions_of(path))
    newest = max((file.modified for file in found), default=0.0)
    return [file for file in found if file.modified >= newest - LATE_SECONDS]


def reader(file: TranscriptFile, position: Position) -> Reader:
    """Return the reader of a session, which yields nothing while one of its files is half written."""
    return WholeReader(file, position, lambda file, state: read(file, state, time.time() - FRESH_SECONDS))


def glob_safe(name: str) -> str:
    """Return a name with the special characters of patterns replaced."""
    return "".join("?" if c in "*?[]/\\" else c for c in name)


def in_database(database: Path) -> Iterator[TranscriptFile]:
    """Yield the sessions of a database, newest first."""
    try:
        with open_foreign(database) as tables:
            fault = _unknown_schema(tables.names())
            rows = [_session_row(row) for row in _session_rows(tables)] if fault is None else []
    except OSError:
        return
    if fault is not None:
        at = database.stat().st_mtime
        title = f"{database.name} cannot be read"
        yield TranscriptFile(database, _unreadable(database), None, SOURCE, title, modified=at, shared=True)
    rows.sort(key=lambda row: -_updated(row))
    yield from (file for row in rows if (file := _described(database, row)) is not None)


def _session_rows(tables: ForeignTables, where: Mapping[str, Any] | None = None) -> list[Row]:
    """Return the rows of sessions, each once; if one is in both tables, the row of the newer table."""
    found = {
        text_of(row.get("id")): row
        for name in ("session", version2.SESSIONS)
        for row in tables.rows(name, where)
    }
    return [*found.values()]


def _unknown_schema(names: set[str]) -> str | None:
    """Return why the tables of a database cannot be read; None if they can, or if there are none."""
    if not names or (names & {"session", version2.SESSIONS} and names & {"message", version2.MESSAGES}):
        return None
    shown = ", ".join(sorted(names)[:6])
    return f"unknown schema: expected the tables session and message or {version2.MESSAGES}, got {shown}"


def _unreadable(database: Path) -> str:
    return f"opencode-unreadable-{database.stem}"


def _described(path: Path, info: Row) -> TranscriptFile | None:
    session = optional(info.get("id"))
    if session is None:
        return None
    parent, modified = optional(info.get("parentID")), _updated(info)
    title = short_title(text_of(info.get("title")))
    kind = "sub-agent" if parent else None
    return TranscriptFile(path, session, parent, SOURCE, title, kind, modified, shared=True)


def _updated(info: Row) -> float:
    at = when(object_of(info.get("time")).get("updated"))
    return at.timestamp() if at else 0.0


def read(file: TranscriptFile, state: dict[str, Any], being_written: float = inf) -> Iterator[Record]:
    """Yield what changed in a session since `state`, which is changed along; {} reads it all.

    `state` is JSON-ready and belongs to this session. Anything unreadable is a Problem, reported once, and changes
    nothing. If an unreadable file of the session was written at `being_written` or later (seconds since 1970), nothing
    is yielded and `state` stays.
    """
    look = _look(file.path)
    if state.get("look") == look and file.path.suffix != ".json":
        return
    try:
        seen = _seen(file.path, file.session_id, dict(state.get("marks", {})))
    except OSError as error:
        yield Problem(None, f"the database cannot be read: {str(error).lower()}")
        return
    if seen.newest >= being_written:
        return
    earlier = state.get("broken", {}) if seen.info is not None else {}
    yield from (
        Problem(None, f"{name}: {why}")
        for name, (mark, why) in seen.broken.items()
        if earlier.get(name) != mark
    )
    if seen.info is not None:
        state["look"], state["marks"] = look, seen.marks
        state["broken"] = {name: mark for name, (mark, _) in seen.broken.items()}
        yield from _Comparison(state).changes(seen.info, seen.messages)


def original(path: Path, session: str) -> Original | None:
    """Return a session from a database, or from its own file in a tree; None if it cannot be read."""
    try:
        seen = _seen(path, session, {})
    except OSError:
        return None
    if not seen.info:
        return None
    return Original(seen.info, [(message, parts or []) for message, parts in seen.messages], seen.is_second)


def _seen(path: Path, session: str, marks: dict[str, Any]) -> _Seen:
    """Return a session as it is now; `marks` are those of its last read. Raises OSError for a database."""
    seen = _Seen(marks)
    if path.suffix == ".json":
        _from_tree(path, session, seen)
    else:
        with open_foreign(path) as tables:
            _from_tables(tables, session, seen)
    return seen


def _look(path: Path) -> list[list[int]]:
    """Return sizes and times of a database and its write-ahead log."""
    seen = []
    for part in (path, path.with_name(path.name + "-wal")):
        try:
            about = part.stat()
            seen.append([about.st_size, about.st_mtime_ns])
        except OSError:
            seen.append([0, 0])
    return seen


class _Comparison:
    """The comparison of a session with `state`, what was read of it before, which is changed along."""

    def __init__(self, state: dict[str, Any]) -> None:
        self._history, self._known = History(state), state.setdefault("facts", {})
        self._facts = SessionFacts(self._known)
        self._names: dict[str, list[str]] = state.setdefault("names", {})
        self._wanted: list[str] = []  # the context so far

    def changes(self, info: Row, messages: Changed) -> Iterator[Record]:
        """Yield the records of a session's messages, in order."""
        yield from self._facts.changed(
            title=short_title(text_of(info.get("title"))),
            cwd=optional(info.get("directory")),
            version=optional(info.get("version")),
            parent=optional(info.get("parentID")),
        )
        for message, parts in messages:
            message_id = text_of(message.get("id"))
            if parts is not None:
                row = partial(self._message, message, parts)
                yield from guarded(None, row, f"message {message_id[:40]}")
            kept = self._history.summaries.get(message_id)
            if kept is not None:
                self._wanted = [n for n in kept if self._history.knows(n)]
            self._wanted += [n for n in self._names.get(message_id, []) if self._history.knows(n)]
        yield from self._history.cut(self._wanted)

    def _message(self, message: Row, parts: list[Row]) -> Iterator[Record]:
        message_id, at = text_of(message.get("id")), when(object_of(message.get("time")).get("created"))
        said = list(messages_of(message, parts))
        if message_id not in self._names:  # reported once, however often the message changes
            yield from (Unknown(None, kind) for kind in unknown_in(parts))
            if tokens := object_of(message.get("tokens")):
                yield from (Unknown(None, field) for field in lacking(tokens, "input", kind="usage"))
            if not parts and message.get("role") == "user":
                yield Unknown(None, "message without parts")
        self._names[message_id] = [name for name, _ in said]
        model, is_answer = model_of(message), message.get("role") == "assistant"
        if is_answer:
            yield from self._facts.changed(model=model)
        is_summary = is_answer and message.get("summary") is True and bool(said)
        if is_summary and message_id not in self._history.summaries:
            yield self._compaction(message, at)
        asked = next((p for p in parts if p.get("type") == "compaction"), None)
        if asked is not None and message.get("role") == "user":
            self._known["asked"] = [bool(asked.get("auto")), text_of(asked.get("tail_start_id"))]
        kind: EntryKind = "compaction_summary" if is_summary else "message"
        for record in self._history.put(message_id, said, at, usage_of(message), model, None, kind):
            yield record
            if isinstance(record, Entry):
                yield from self._facts.first_words(record.own_words)

    def _compaction(self, message: Row, at: datetime | None) -> Compaction:
        automatic, tail = self._known.pop("asked", [message.get("auto") is True, ""])
        names = enumerate(self._wanted)
        start = next((n for n, name in names if name.partition(":")[0] == tail), len(self._wanted))
        kept = self._wanted[start:]
        message_id = text_of(message.get("id"))
        self._history.summaries[message_id] = kept
        self._history.live[:] = kept
        ids = tuple(self._history.source_of(name) for name in kept)
        trigger = "auto" if automatic else "manual"
        return Compaction(at, trigger, None, f"compaction {message_id}", None, "", ids)


# The tree of JSON files


def _from_tree(path: Path, session: str, seen: _Seen) -> None:
    """Read a session's file in the tree, its messages, and the parts of those that changed."""
    storage = path.parent.parent.parent
    seen.info = _json(path, seen)
    if seen.info is None:
        return
    loose = _loose_parts(storage, seen)
    for found in list_files(storage / "message" / session, ".json", within=storage):
        message = _json(found.path, seen)
        message_id = found.path.stem if message is None else text_of(message.get("id"))
        if not message_id:
            continue
        own = list_files(storage / "part" / message_id, ".json", within=storage)
        files = sorted(own, key=lambda f: f.path.name)
        files += loose.get(message_id, [])
        before = seen.marks.get(message_id)
        mark = [[found.modified, found.size, _created(message or {})], *([f.modified, f.size] for f in files)]
        if message is not None and before == mark:
            seen.messages.append((message, None))
            continue
        parts = [row for f in files if (row := _json(f.path, seen)) is not None]
        torn = message is None or len(parts) < len(files) or (None in loose and before is not None)
        if not torn and message is not None:
            seen.marks[message_id] = mark
            seen.messages.append((message, parts))
        elif before is not None:
            seen.messages.append(({"id": message_id, "time": {"created": before[0][-1]}}, None))
    seen.messages.sort(key=lambda m: (_created(m[0]), text_of(m[0].get("id"))))


def _created(message: Row) -> int:
    return count_of(object_of(message.get("time")).get("created"))


def _loose_parts(storage: Path, seen: _Seen) -> dict[str | None, list[Any]]:
    """Return the parts outside the folders of their messages, as in the oldest layout; unreadable ones under None."""
    folder = storage / "part"
    found: dict[str | None, list[Any]] = {}
    try:
        names = {entry.name for entry in folder.iterdir() if entry.suffix == ".json"}
    except OSError:
        return found
    if names:
        for file in sorted(list_files(folder, ".json", within=storage), key=lambda f: f.path.name):
            if file.path.parent == folder:
                row = _json(file.path, seen)
                found.setdefault(None if row is None else text_of(row.get("messageID")), []).append(file)
    return found


def _json(path: Path, seen: _Seen) -> Row | None:
    """Return the object in a file, or None and record the reason."""
    written, size = 0.0, 0
    try:
        about = path.stat()
        written, size = about.st_mtime, about.st_size
        row = parse(read_file(path))
    except OSError as error:
        row = reason_of(error)
    if isinstance(row, str):
        seen.broken[f"{path.parent.name}/{path.name}"] = ([written, size], row)
        seen.newest = max(seen.newest, written)
        return None
    return row


# The database


def _from_tables(tables: ForeignTables, session: str, seen: _Seen) -> None:
    """Read a session in the database, its messages, and the parts of those that changed."""
    fault = _unknown_schema(tables.names())
    if fault is not None:
        seen.info, seen.broken["tables"] = {}, ([], fault)
        return
    seen.info = next((_session_row(row) for row in _session_rows(tables, {"id": session})), None)
    if seen.info is None:
        seen.broken[f"session {session[:40]}"] = ([], "is not in the database any more")
        return
    if newer := version2.rows_of(tables, session):
        seen.is_second = True
        _from_second(newer, seen)
        return
    parts: dict[str, list[Row]] = {}
    newest: dict[str, list[int]] = {}
    for row in tables.rows("part", {"session_id": session}):
        message_id = text_of(row.get("message_id"))
        mark = newest.setdefault(message_id, [0, 0])
        mark[:] = [mark[0] + 1, max(mark[1], count_of(row.get("time_updated")))]
        parts.setdefault(message_id, []).append(row)
    for row in sorted(tables.rows("message", {"session_id": session}), key=_order):
        message_id = text_of(row.get("id"))
        mark = [count_of(row.get("time_updated")), *newest.get(message_id, [0, 0])]
        if mark[0] > 0 and seen.marks.get(message_id) == mark:
            seen.messages.append(({"id": message_id}, None))
            continue
        data = _data(row, seen)
        own = [found for part in parts.get(message_id, []) if (found := _data(part, seen)) is not None]
        if data is not None and len(own) == len(parts.get(message_id, [])):
            seen.marks[message_id] = mark
            seen.messages.append((data, own))
        elif message_id in seen.marks:
            seen.messages.append(({"id": message_id}, None))


def _from_second(rows: list[Row], seen: _Seen) -> None:
    """Read the messages of a session in the newer tables that changed."""
    for row in rows:
        message_id, mark = text_of(row.get("id")), version2.mark_of(row)
        known = seen.marks.get(message_id)
        data = _data(row, seen) if known != mark else None
        if data is not None:
            seen.marks[message_id] = mark
            seen.messages.append(version2.as_first(row, data))
        elif known is not None:
            seen.messages.append(({"id": message_id}, None))


def _order(row: Row) -> tuple[int, str]:
    return count_of(row.get("time_created")), text_of(row.get("id"))


def _data(row: Row, seen: _Seen) -> Row | None:
    """Return the JSON in a row's `data`, with its id, or None and record the reason."""
    name = text_of(row.get("id"))
    found = parse(_column(row.get("data")))
    if isinstance(found, str):
        seen.broken[f"row {name[:40]}"] = ([count_of(row.get("time_updated"))], found)
        return None
    return found | {"id": name}


def _column(column: Any) -> bytes:
    """Return the text of a column with JSON; b"" if it has none."""
    text = column.encode("utf-8", "replace") if isinstance(column, str) else column
    return text if isinstance(text, bytes) else b""


def _session_row(row: Row) -> Row:
    """Return a row of the table `session` in the form of the tree's session files."""
    return {
        "id": row.get("id"),
        "parentID": row.get("parent_id"),
        "projectID": row.get("project_id"),
        "directory": row.get("directory"),
        "title": row.get("title"),
        "version": row.get("version"),
        "permission": parse_value(_column(row.get("permission")))[0] if row.get("permission") else None,
        "time": {"created": row.get("time_created"), "updated": row.get("time_updated")},
    }

"""OpenCode's sessions: tables in a database, or, in older versions, a tree of small JSON files.

Nothing is appended as lines: `read` compares a session with what its `state` says was given out before. The database
is opened by whoever may (`Tables` says what is needed of it), read-only. A compaction is an assistant's message
marked as summary: what came before it leaves the context, but for a tail that the request for it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from webapp.transcripts.finding import home_of, list_files, read_json_file
from webapp.transcripts.history import History
from webapp.transcripts.opencode_items import messages_of, model_of, unknown_in, usage_of, words_of
from webapp.transcripts.records import (
    Compaction,
    Entry,
    EntryKind,
    Meta,
    Problem,
    Record,
    TranscriptFile,
    Unknown,
)
from webapp.transcripts.rows import count_of, object_of, optional, parse, short_title, text_of, when

SOURCE = "opencode"

Row = dict[str, Any]


class Tables(Protocol):
    """A database that is only read."""

    def rows(self, table: str, where: Mapping[str, Any] | None = None) -> Iterable[Row]:
        """The rows of a table whose columns equal `where`, in the order of their ids; none without such a table."""


OpenDatabase = Callable[[Path], AbstractContextManager[Tables]]


def roots(env: Mapping[str, str]) -> list[Path]:
    """OpenCode's data folder, existing or not: below XDG_DATA_HOME, else below `.local/share` in the home folder."""
    configured = env.get("XDG_DATA_HOME", "").strip()
    data = Path(configured).expanduser() if configured else home_of(env) / ".local" / "share"
    return [data / "opencode"]


def discover(root: Path, open_database: OpenDatabase | None = None) -> Iterator[TranscriptFile]:
    """The sessions in the databases and the tree below `root`, newest first of each; a session of both comes once."""
    known: set[str] = set()
    for database in sorted(root.glob("opencode*.db")) if open_database is not None else []:
        for file in in_database(database, open_database):
            known.add(file.session_id)
            yield file
    for found in list_files(root / "storage" / "session", ".json"):
        info = read_json_file(found.path)
        described = _described(found.path, info) if isinstance(info, dict) else None
        if described is not None and described.session_id not in known:
            yield described


def find_below(folder: Path, open_database: OpenDatabase) -> Iterator[TranscriptFile]:
    """The sessions of every database and every tree, whatever its name, at or below a folder that is imported."""
    for database in sorted({*folder.glob("opencode*.db"), *folder.rglob("opencode*.db")}):
        yield from in_database(database, open_database)
    for tree in trees_below(folder):
        for found in list_files(tree / "session", ".json"):
            info = read_json_file(found.path)
            if isinstance(info, dict) and (described := _described(found.path, info)) is not None:
                yield described


def trees_below(folder: Path) -> list[Path]:
    """The folders at or below one that hold a tree: `session` and `message` side by side."""
    inside = (place.parent for place in folder.rglob("session") if (place.parent / "message").is_dir())
    return sorted(
        {*inside, *([folder] if (folder / "session").is_dir() and (folder / "message").is_dir() else [])}
    )


def sessions_of(path: Path, open_database: OpenDatabase) -> Iterator[TranscriptFile]:
    """The sessions that a changed file of OpenCode belongs to: all of a database, newest first; one of a tree."""
    if path.name.endswith((".db", ".db-wal")):
        if path.name.startswith("opencode"):
            yield from in_database(path.with_name(path.name.removesuffix("-wal")), open_database)
        return
    tree = next((p for p in path.parents if (p / "session").is_dir()), None)
    if tree is None or path.suffix != ".json":
        return
    info = object_of(read_json_file(path))
    wanted = optional(info.get("sessionID")) or (text_of(info.get("id")) if "session" in path.parts else "")
    for found in (tree / "session").rglob(f"{glob_safe(wanted)}.json") if wanted else []:
        described = _described(found, object_of(read_json_file(found)))
        if described is not None and described.session_id == wanted:
            yield described


def glob_safe(name: str) -> str:
    """A name without the signs that mean something in a pattern."""
    return "".join("?" if c in "*?[]/\\" else c for c in name)


def in_database(database: Path, open_database: OpenDatabase | None) -> Iterator[TranscriptFile]:
    """The sessions of a database, newest first; none of one that cannot be read."""
    if open_database is None:
        return
    try:
        with open_database(database) as tables:
            rows = [_session_row(row) for row in tables.rows("session")]
    except OSError:
        return
    rows.sort(key=lambda row: -_updated(row))
    yield from (file for row in rows if (file := _described(database, row)) is not None)


def _described(path: Path, info: Row) -> TranscriptFile | None:
    session = optional(info.get("id"))
    if session is None:
        return None
    parent, modified = optional(info.get("parentID")), _updated(info)
    title = short_title(text_of(info.get("title")))
    return TranscriptFile(path, session, parent, SOURCE, title, "sub-agent" if parent else None, modified)


def _updated(info: Row) -> float:
    at = when(object_of(info.get("time")).get("updated"))
    return at.timestamp() if at else 0.0


def read(
    file: TranscriptFile, state: dict[str, Any], open_database: OpenDatabase | None = None
) -> Iterator[Record]:
    """What changed in a session since `state`, which is changed along; {} reads it all.

    `state` is JSON-ready and belongs to this session. What cannot be read is a Problem and changes nothing.
    """
    look = _look(file.path)
    if look is not None and state.get("look") == look and file.path.suffix != ".json":
        return
    if file.path.suffix == ".json":
        info, messages, problems = _from_tree(file.path, state)
    elif open_database is None:
        yield Problem(None, "the database of OpenCode was not opened: nothing was handed in to open it with")
        return
    else:
        try:
            with open_database(file.path) as tables:
                info, messages, problems = _from_tables(tables, file.session_id, state)
        except OSError as error:
            yield Problem(None, f"the database cannot be read: {str(error).lower()}")
            return
    state["look"] = look
    yield from problems
    yield from _changes(info, messages, state)


def _look(path: Path) -> list[list[int]] | None:
    """What a database and its write-ahead log look like from outside."""
    seen = []
    for part in (path, path.with_name(path.name + "-wal")):
        try:
            about = part.stat()
            seen.append([about.st_size, about.st_mtime_ns])
        except OSError:
            seen.append([0, 0])
    return seen


def _changes(
    info: Row, messages: list[tuple[Row, list[Row] | None]], state: dict[str, Any]
) -> Iterator[Record]:
    """The records of a session's messages, in order; parts None: as they were."""
    history, facts = History(state), state.setdefault("facts", {})
    names: dict[str, list[str]] = state.setdefault("names", {})
    yield from _told(facts, "title", short_title(text_of(info.get("title"))))
    yield from _told(facts, "cwd", optional(info.get("directory")))
    yield from _told(facts, "version", optional(info.get("version")))
    yield from _told(facts, "parent", optional(info.get("parentID")))
    wanted: list[str] = []
    for message, parts in messages:
        message_id = text_of(message.get("id"))
        if parts is not None:
            yield from _message(message, parts, history, facts, names, wanted)
        kept = state.get("summaries", {}).get(message_id)
        if kept is not None:
            wanted = [n for n in kept if history.knows(n)]
        wanted += names.get(message_id, [])
    yield from history.cut(wanted)


def _message(
    message: Row,
    parts: list[Row],
    history: History,
    facts: Row,
    names: dict[str, list[str]],
    wanted: list[str],
) -> Iterator[Record]:
    message_id, at = text_of(message.get("id")), when(object_of(message.get("time")).get("created"))
    said = list(messages_of(message, parts))
    if message_id not in names:  # told once, however often the message changes
        yield from (Unknown(None, kind) for kind in unknown_in(parts))
        if not parts and message.get("role") == "user":
            yield Unknown(None, "message without parts")
    names[message_id] = [name for name, _ in said]
    model = model_of(message)
    if message.get("role") == "assistant":
        yield from _told(facts, "model", model)
    is_summary = message.get("role") == "assistant" and message.get("summary") is True and bool(said)
    if is_summary and message_id not in history.summaries:
        yield from _compaction(message, history, facts, wanted)
    asked = next((p for p in parts if p.get("type") == "compaction"), None)
    if asked is not None and message.get("role") == "user":
        facts["asked"] = [bool(asked.get("auto")), text_of(asked.get("tail_start_id"))]
    kind: EntryKind = "compaction_summary" if is_summary else "message"
    for record in history.put(message_id, said, at, usage_of(message), model, None, kind):
        yield record
        if isinstance(record, Entry) and (words := words_of(record.message)):
            yield from _told(facts, "title", None if facts.get("title") else short_title(words))


def _compaction(message: Row, history: History, facts: Row, wanted: list[str]) -> Iterator[Record]:
    automatic, tail = facts.pop("asked", [False, ""])
    start = next((n for n, name in enumerate(wanted) if name.partition(":")[0] == tail), len(wanted))
    kept = wanted[start:]
    message_id = text_of(message.get("id"))
    history.summaries[message_id] = kept
    history.live[:] = kept
    at = when(object_of(message.get("time")).get("created"))
    ids = tuple(history.source_of(name) for name in kept)
    trigger = "auto" if automatic else "manual"
    yield Compaction(at, trigger, None, f"compaction {message_id}", None, "", ids)


def _told(facts: Row, key: str, value: str | None) -> Iterator[Record]:
    if value and facts.get(key) != value:
        facts[key] = value
        said: Row = {key: value}
        yield Meta(**said)


# The tree of JSON files


def _from_tree(
    path: Path, state: dict[str, Any]
) -> tuple[Row, list[tuple[Row, list[Row] | None]], list[Record]]:
    """(session, messages with those parts that changed, problems) of a session's file in the tree."""
    storage = path.parent.parent.parent
    problems: list[Record] = []
    info = object_of(read_json_file(path))
    marks: dict[str, Any] = state.setdefault("marks", {})
    messages: list[tuple[Row, list[Row] | None]] = []
    loose = _loose_parts(storage / "part")
    for found in list_files(storage / "message" / text_of(info.get("id")), ".json"):
        message = _json(found.path, problems)
        message_id = text_of(message.get("id"))
        if not message_id:
            continue
        files = sorted(list_files(storage / "part" / message_id, ".json"), key=lambda f: f.path.name)
        files += loose.get(message_id, [])
        mark = [[found.modified, found.size], *([f.modified, f.size] for f in files)]
        if marks.get(message_id) == mark:
            messages.append((message, None))
            continue
        marks[message_id] = mark
        messages.append((message, [_json(f.path, problems) for f in files]))
    messages.sort(
        key=lambda m: (count_of(object_of(m[0].get("time")).get("created")), text_of(m[0].get("id")))
    )
    return info, messages, problems


def _loose_parts(folder: Path) -> dict[str, list[Any]]:
    """Parts that lie beside the folders of their messages, as in the oldest layout."""
    found: dict[str, list[Any]] = {}
    try:
        names = {entry.name for entry in folder.iterdir() if entry.suffix == ".json"}
    except OSError:
        return found
    if names:
        for file in sorted(list_files(folder, ".json"), key=lambda f: f.path.name):
            if file.path.parent == folder:
                message_id = text_of(object_of(read_json_file(file.path)).get("messageID"))
                found.setdefault(message_id, []).append(file)
    return found


def _json(path: Path, problems: list[Any]) -> Row:
    try:
        row = parse(path.read_bytes())
    except OSError as error:
        row = f"cannot be read: {(error.strerror or 'unknown reason').lower()}"
    if isinstance(row, str):
        problems.append(Problem(None, f"{path.parent.name}/{path.name}: {row}"))
        return {}
    return row


# The database


def _from_tables(
    tables: Tables, session: str, state: dict[str, Any]
) -> tuple[Row, list[tuple[Row, list[Row] | None]], list[Record]]:
    """(session, messages with those parts that changed, problems) of a session in the database."""
    problems: list[Record] = []
    info = next((_session_row(row) for row in tables.rows("session", {"id": session})), {})
    marks: dict[str, Any] = state.setdefault("marks", {})
    parts: dict[str, list[Row]] = {}
    newest: dict[str, list[int]] = {}
    for row in tables.rows("part", {"session_id": session}):
        message_id = text_of(row.get("message_id"))
        mark = newest.setdefault(message_id, [0, 0])
        mark[:] = [mark[0] + 1, max(mark[1], count_of(row.get("time_updated")))]
        parts.setdefault(message_id, []).append(row)
    messages: list[tuple[Row, list[Row] | None]] = []
    for row in sorted(tables.rows("message", {"session_id": session}), key=_order):
        message_id = text_of(row.get("id"))
        mark = [count_of(row.get("time_updated")), *newest.get(message_id, [0, 0])]
        unchanged = mark[0] > 0 and marks.get(message_id) == mark
        data = {} if unchanged else _data(row, problems)
        marks[message_id] = mark
        own = None if unchanged else [_data(part, problems) for part in parts.get(message_id, [])]
        messages.append((data | {"id": message_id}, own))
    return info, messages, problems


def _order(row: Row) -> tuple[int, str]:
    return count_of(row.get("time_created")), text_of(row.get("id"))


def _data(row: Row, problems: list[Record]) -> Row:
    """The JSON in a row's `data`, with its id."""
    data = row.get("data")
    found = parse(data.encode("utf-8", "replace") if isinstance(data, str) else data or b"")
    if isinstance(found, str):
        problems.append(Problem(None, f"row {text_of(row.get('id'))[:40]}: {found}"))
        return {}
    return found | {"id": text_of(row.get("id"))}


def _session_row(row: Row) -> Row:
    """A row of the table `session` in the shape of the tree's session files."""
    return {
        "id": row.get("id"),
        "parentID": row.get("parent_id"),
        "directory": row.get("directory"),
        "title": row.get("title"),
        "version": row.get("version"),
        "time": {"created": row.get("time_created"), "updated": row.get("time_updated")},
    }

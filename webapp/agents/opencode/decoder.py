"""OpenCode's sessions: tables in a database, of two generations, or, in older versions, a tree of small JSON files.

A session is read from the newer tables (`version2`) once they have a message of it, else from the older ones, which
newer versions leave unchanged. A database with unknown tables is shown as a session that cannot be read.

Sessions change in place: `read` compares a session with the `state` of the last read. The database is opened read-only.
A compaction is an assistant's message marked as summary, once it is complete: everything before it leaves the context,
except a tail that the request for the compaction names. A message that cannot be read keeps its last version; only a
message that is gone has left the context.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from scoring.messages import Message
from webapp.agents.opencode import version2
from webapp.agents.opencode.files import Row, json_column, session_rows, tree_paths, unknown_schema
from webapp.agents.opencode.items import is_summary, messages_of, model_of, unread, usage_of, usages_of
from webapp.agents.opencode.native import is_encrypted
from webapp.agents.reading.databases import ForeignTables, open_foreign
from webapp.agents.reading.finding import list_files, read_file, reason_of
from webapp.agents.reading.known_meta import KnownMeta
from webapp.agents.reading.readers import FRESH_SECONDS, Position, Reader, WholeReader, look_of
from webapp.agents.reading.record_history import History, HistoryState, is_state
from webapp.agents.reading.rows import (
    count_of,
    list_of,
    object_of,
    optional,
    parse,
    short_title,
    text_of,
    when,
)
from webapp.agents.reading.tail import guarded
from webapp.agents.records import (
    COMPACTION_SUMMARY,
    Compaction,
    Entry,
    EntryKind,
    Problem,
    Record,
    TranscriptFile,
    Unknown,
    UsageReport,
)

Changed = list[tuple[Row, list[Row] | None]]  # messages in order, with their parts; None: as they were


@dataclass(slots=True)
class _Snapshot:
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


@dataclass(frozen=True)
class _State(HistoryState):
    """`names` are those of the messages of each row, `asked` how the compaction to come was asked for.

    `unread` are the things in each row that were reported as not read.
    """

    look: list[list[int]] = field(default_factory=list)
    marks: dict[str, list[Any]] = field(default_factory=dict)
    broken: dict[str, Any] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    unread: dict[str, list[str]] = field(default_factory=dict)
    asked: tuple[bool, str] | None = None


_STATE = TypeAdapter(_State)


class Original(NamedTuple):
    """A session as stored by OpenCode: its facts and its messages with their parts, in the first generation's form."""

    info: Row
    messages: list[tuple[Row, list[Row]]]
    is_second: bool


def reader(file: TranscriptFile, position: Position) -> Reader:
    """Return the reader of a session, which yields nothing while one of its files is half written."""
    return WholeReader(
        file,
        position,
        lambda file, state: read(file, state, time.time() - FRESH_SECONDS),
        partial(is_state, shape=_STATE),
    )


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
        snapshot = _snapshot(file.path, file.session_id, dict(state.get("marks", {})))
    except OSError as error:
        yield Problem(None, f"the database cannot be read: {str(error).lower()}")
        return
    if snapshot.newest >= being_written:
        return
    _leave_out_begun(snapshot)
    earlier = state.get("broken", {}) if snapshot.info is not None else {}
    yield from (
        Problem(None, f"{name}: {why}")
        for name, (mark, why) in snapshot.broken.items()
        if earlier.get(name) != mark
    )
    if snapshot.info is not None:
        state["look"], state["marks"] = look, snapshot.marks
        state["broken"] = {name: mark for name, (mark, _) in snapshot.broken.items()}
        yield from _Comparison(state, snapshot.info).changes(snapshot.messages)


def records_of(info: Row, messages: list[tuple[Row, list[Row]]]) -> Iterator[Record]:
    """Yield the records of a session from its facts and its messages with their parts, in order."""
    yield from _Comparison({}, info).changes(list(messages))


def original(path: Path, session: str) -> Original | None:
    """Return a session from a database, or from its own file in a tree; None if it cannot be read."""
    try:
        snapshot = _snapshot(path, session, {})
    except OSError:
        return None
    if not snapshot.info:
        return None
    return Original(
        snapshot.info, [(message, parts or []) for message, parts in snapshot.messages], snapshot.is_second
    )


def _snapshot(path: Path, session: str, marks: dict[str, Any]) -> _Snapshot:
    """Return a session as it is now; `marks` are those of its last read. Raises OSError for a database."""
    snapshot = _Snapshot(marks)
    if path.suffix == ".json":
        _from_tree(path, session, snapshot)
    else:
        with open_foreign(path) as tables:
            _from_tables(tables, session, snapshot)
    return snapshot


def _leave_out_begun(snapshot: _Snapshot) -> None:
    """Leave out a last message of the user whose parts are not written yet: they are rows of their own."""
    message, parts = snapshot.messages[-1] if snapshot.messages else ({}, None)
    if parts == [] and message.get("role") == "user" and not snapshot.is_second:
        snapshot.messages.pop()
        snapshot.marks.pop(text_of(message.get("id")), None)


def _look(database: Path) -> list[list[int]]:
    """Return sizes and times of a database and its write-ahead log."""
    log = database.with_name(database.name + "-wal")
    return [look_of(database) or [0, 0], look_of(log) or [0, 0]]


class _Comparison:
    """The comparison of a session with `state`, what was read of it before, which is changed along."""

    def __init__(self, state: dict[str, Any], info: Row) -> None:
        self._history, self._state, self._info = History(state), state, info
        self._title = short_title(text_of(info.get("title")))
        self._meta = KnownMeta(state.setdefault("facts", {}), has_title=self._title is not None)
        self._names: dict[str, list[str]] = state.setdefault("names", {})
        self._unread: dict[str, list[str]] = state.setdefault("unread", {})
        self._wanted: list[str] = []  # the context so far

    def changes(self, messages: Changed) -> Iterator[Record]:
        """Yield the records of a session's messages, in order; behind them its title, which can be newer than all.

        What left the context or came back comes before what was said since then, whose usage agrees with it.
        """
        info = self._info
        yield from self._meta.changed(
            cwd=optional(info.get("directory")),
            version=optional(info.get("version")),
            parent=optional(info.get("parentID")),
        )
        sent = dict.fromkeys(self._sent(messages))
        for message_id in sent:
            self._add(message_id)
        yield from self._history.cut(self._wanted)
        self._wanted = []
        for message, parts in messages:
            message_id = text_of(message.get("id"))
            if parts is not None:
                row = partial(self._message, message, parts)
                yield from guarded(None, row, f"message {message_id[:40]}")
            if message_id in sent:
                self._add(message_id)
        yield from self._history.cut(self._wanted)
        yield from self._meta.changed(title=self._title)

    def _sent(self, messages: Changed) -> Iterator[str]:
        """Yield the ids of the messages that the user did not take back, in order; of one, parts can stay.

        The others are deleted when the next message is sent.
        """
        reverted = object_of(self._info.get("revert"))
        for message, _ in messages:
            message_id = text_of(message.get("id"))
            is_target = reverted.get("messageID") == message_id
            if not is_target or reverted.get("partID"):
                yield message_id
            if is_target:
                return

    def _add(self, message_id: str) -> None:
        """Add a message to the context, or replace the context by what a summary kept."""
        kept = self._history.summaries.get(message_id)
        if kept is not None:
            self._wanted = [n for n in kept if self._history.knows(n)]
        self._wanted += [n for n in self._names.get(message_id, []) if self._history.knows(n)]

    def _message(self, message: Row, parts: list[Row]) -> Iterator[Record]:
        message_id, at = text_of(message.get("id")), when(object_of(message.get("time")).get("created"))
        said = list(messages_of(message, parts))
        yield from self._newly_unread(message_id, unread(message, parts))
        self._names[message_id] = [name for name, _ in said]
        model, is_answer = model_of(message), message.get("role") == "assistant"
        if is_answer:
            # Until 0.5 only answers name the folder.
            folder = optional(self._info.get("directory")) or object_of(message.get("path")).get("cwd")
            yield from self._meta.changed(model=model, cwd=optional(folder))
        spent = usage_of(message | {"tokens": message["spent"]}) if "spent" in message else None
        if spent is not None:
            yield UsageReport(spent, at, f"compaction {message_id}", model, apart=True)
        is_compaction = is_summary(message) and bool(said)
        is_new = is_compaction and message_id not in self._history.summaries
        compaction = self._compaction(message, at) if is_new else None
        if compaction is not None and "window" in message:
            yield replace(compaction, replacement=tuple(self._window(message_id, said, at)))
            return
        if compaction is not None:
            yield compaction
        elif not is_compaction:
            self._history.summaries.pop(message_id, None)  # it failed while it was written
        asked = next((p for p in parts if p.get("type") == "compaction"), None)
        if asked is not None and message.get("role") == "user":
            self._state["asked"] = [bool(asked.get("auto")), text_of(asked.get("tail_start_id"))]
        kind: EntryKind = "compaction_summary" if is_compaction else "message"
        usages = usages_of(message, parts)
        for name in dict.fromkeys([*(_call_of(name) for name, _ in said), *usages]):
            of_call = [one for one in said if _call_of(one[0]) == name]
            for record in self._history.put(name, of_call, at, usages.get(name), model, None, kind):
                yield record
                if isinstance(record, Entry):
                    yield from self._meta.first_words(record.own_words)

    def _newly_unread(self, message_id: str, kinds: Iterator[str]) -> Iterator[Unknown]:
        """Yield what is not read of a message, each once, however often the message changes."""
        before = list(self._unread.get(message_id, ()))
        for kind in kinds:
            if kind in before:
                before.remove(kind)
            else:
                self._unread.setdefault(message_id, []).append(kind)
                yield Unknown(None, kind)

    def _window(
        self, message_id: str, said: list[tuple[str, Message]], at: datetime | None
    ) -> Iterator[Entry]:
        """Yield the context that a provider made; the summary is what it says itself."""
        for made in self._history.put(message_id, said, at, None, None, None):
            if isinstance(made, Entry):
                is_its_own = made.message.role == "assistant"
                yield replace(made, kind=COMPACTION_SUMMARY) if is_its_own else made

    def _compaction(self, message: Row, at: datetime | None) -> Compaction:
        automatic, tail = self._state.pop("asked", None) or (message.get("auto") is True, "")
        names = enumerate(self._wanted)
        start = next((n for n, name in names if name.partition(":")[0] == tail), len(self._wanted))
        kept = self._wanted[start:]
        message_id = text_of(message.get("id"))
        self._history.summaries[message_id] = kept
        self._history.live[:] = kept
        ids = tuple(self._history.source_of(name) for name in kept)
        trigger = "auto" if automatic else "manual"
        unreadable = is_encrypted(message.get("window", []))
        return Compaction(at, trigger, None, f"compaction {message_id}", kept=ids, unreadable=unreadable)


def _call_of(name: str) -> str:
    """Return the name of a call by that of one of its messages: its answer or its results."""
    return name.removesuffix(":results")


# The tree of JSON files


def _from_tree(path: Path, session: str, snapshot: _Snapshot) -> None:
    """Read a session's file in the tree, its messages, and the parts of those that changed."""
    storage, its_messages, all_parts = tree_paths(path, session)
    snapshot.info = _json(path, snapshot)
    if snapshot.info is None:
        return
    loose = _loose_parts(all_parts, storage, snapshot)
    for found in list_files(its_messages, ".json", within=storage):
        message = _json(found.path, snapshot)
        message_id = found.path.stem if message is None else text_of(message.get("id"))
        if not message_id:
            continue
        own = list_files(all_parts / message_id, ".json", within=storage)
        files = sorted(own, key=lambda f: f.path.name)
        files += loose.get(message_id, [])
        before = snapshot.marks.get(message_id)
        mark = [[found.modified, found.size, _created(message or {})], *([f.modified, f.size] for f in files)]
        if message is not None and before == mark:
            snapshot.messages.append((message, None))
            continue
        parts = [row for f in files if (row := _json(f.path, snapshot)) is not None]
        torn = message is None or len(parts) < len(files) or (None in loose and before is not None)
        if not torn and message is not None:
            snapshot.marks[message_id] = mark
            snapshot.messages.append((message, parts))
        elif before is not None:
            created = next(iter(list_of(before[0])[-1:]), 0) if before else 0
            snapshot.messages.append(({"id": message_id, "time": {"created": created}}, None))
    snapshot.messages.sort(key=lambda m: (_created(m[0]), text_of(m[0].get("id"))))


def _created(message: Row) -> int:
    return count_of(object_of(message.get("time")).get("created"))


def _loose_parts(folder: Path, storage: Path, snapshot: _Snapshot) -> dict[str | None, list[Any]]:
    """Return the parts outside the folders of their messages, as in the oldest layout; unreadable ones under None."""
    found: dict[str | None, list[Any]] = {}
    try:
        names = {entry.name for entry in folder.iterdir() if entry.suffix == ".json"}
    except OSError:
        return found
    if names:
        for file in sorted(list_files(folder, ".json", within=storage), key=lambda f: f.path.name):
            if file.path.parent == folder:
                row = _json(file.path, snapshot)
                found.setdefault(None if row is None else text_of(row.get("messageID")), []).append(file)
    return found


def _json(path: Path, snapshot: _Snapshot) -> Row | None:
    """Return the object in a file, or None and record the reason."""
    written, size = 0.0, 0
    try:
        about = path.stat()
        written, size = about.st_mtime, about.st_size
        row = parse(read_file(path))
    except OSError as error:
        row = reason_of(error)
    if isinstance(row, str):
        snapshot.broken[f"{path.parent.name}/{path.name}"] = ([written, size], row)
        snapshot.newest = max(snapshot.newest, written)
        return None
    return row


# The database


def _from_tables(tables: ForeignTables, session: str, snapshot: _Snapshot) -> None:
    """Read a session in the database, its messages, and the parts of those that changed."""
    fault = unknown_schema(tables.names())
    if fault is not None:
        snapshot.info, snapshot.broken["tables"] = {}, ([], fault)
        return
    snapshot.info = next(iter(session_rows(tables, {"id": session})), None)
    if snapshot.info is None:
        snapshot.broken[f"session {session[:40]}"] = ([], "is not in the database any more")
        return
    if newer := version2.rows_of(tables, session):
        snapshot.is_second = True
        _from_second(newer, snapshot)
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
        if mark[0] > 0 and snapshot.marks.get(message_id) == mark:
            snapshot.messages.append(({"id": message_id}, None))
            continue
        data = _data(row, snapshot)
        own = [found for part in parts.get(message_id, []) if (found := _data(part, snapshot)) is not None]
        if data is not None and len(own) == len(parts.get(message_id, [])):
            snapshot.marks[message_id] = mark
            snapshot.messages.append((data, own))
        elif message_id in snapshot.marks:
            snapshot.messages.append(({"id": message_id}, None))


def _from_second(rows: list[Row], snapshot: _Snapshot) -> None:
    """Read the messages of a session in the newer tables that changed."""
    for row in rows:
        message_id, mark = text_of(row.get("id")), version2.mark_of(row)
        known = snapshot.marks.get(message_id)
        data = _data(row, snapshot) if known != mark else None
        if data is not None:
            snapshot.marks[message_id] = mark
            snapshot.messages.append(version2.as_first(row, data))
        elif known is not None:
            snapshot.messages.append(({"id": message_id}, None))


def _order(row: Row) -> tuple[int, str]:
    return count_of(row.get("time_created")), text_of(row.get("id"))


def _data(row: Row, snapshot: _Snapshot) -> Row | None:
    """Return the JSON in a row's `data`, with its id, or None and record the reason."""
    name = text_of(row.get("id"))
    found = parse(json_column(row.get("data")))
    if isinstance(found, str):
        snapshot.broken[f"row {name[:40]}"] = ([count_of(row.get("time_updated"))], found)
        return None
    return found | {"id": name}

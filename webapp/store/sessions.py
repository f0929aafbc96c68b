"""Sessions: one row each, and the markers that deleted followed sessions leave behind.

No session is its own ancestor: a parent that would close a circle is left out, because sessions in a circle cannot be
reached from the top.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

import orjson

from scoring.errors import json_string
from webapp.errors import Conflict, Invalid, NotFound
from webapp.store.engine import Subject
from webapp.store.indexed_text import unindex_entries
from webapp.store.keys import SESSION_TABLES, is_long, of_session, refuse_long
from webapp.store.sql import listed, quoted

# The type of a session that goes on from a point of its parent.
FORK = "fork"
# Columns of JSON, and the value to use if one is damaged: a bad value must not hide its session or the others.
JSON_COLUMNS: dict[str, Callable[[], Any]] = {
    "settings": dict, "notes": list, "state": dict, "envelope": type(None),
}  # fmt: skip


@dataclass(slots=True)
class SessionRow:
    """One session as stored; migrations.py explains the columns. JSON columns are decoded.

    `damaged` are descriptions of damaged values, which are left out.
    """

    key: int
    id: str
    title: str | None
    source: str
    kind: Literal["followed", "managed"]
    model: str | None
    parent_id: str | None
    agent_type: str | None
    path: str | None
    cwd: str | None
    wire_format: str | None
    envelope: Any
    created_at: int
    last_activity_at: int
    version: int
    next_seq: int
    next_no: int
    next_operation: int
    next_sample: int
    last_entry_id: bytes | None
    tail_hash: str | None
    automatic: int | None
    settings: dict[str, Any]
    window: int | None
    turns: int
    prunes: int
    operations: int
    malformed: int
    unknown: int
    notes: list[str]
    state: dict[str, Any]
    deleted_at: int | None
    damaged: tuple[str, ...] = ()

    @property
    def followed(self) -> bool:
        """Return True if it has an agent's context besides the pruned view."""
        return self.kind == "followed"

    @property
    def is_sub_agent(self) -> bool:
        """Return True if another session started it for a task; a fork goes on by itself."""
        return self.parent_id is not None and self.agent_type != FORK


class KnownColumns(TypedDict, total=False):
    """The columns that may be known when a session begins."""

    title: str | None
    model: str | None
    parent_id: str | None
    agent_type: str | None
    path: str | None
    cwd: str | None
    wire_format: str | None
    envelope: Mapping[str, Any] | None
    settings: Mapping[str, Any]
    state: Mapping[str, Any]


class Columns(KnownColumns, total=False):
    """The columns to write; those left out have their default, or keep their value."""

    id: str
    source: str
    kind: Literal["followed", "managed"]
    created_at: int
    last_activity_at: int
    version: int
    malformed: int
    unknown: int
    notes: list[str]
    deleted_at: int | None


class ObservedOverheads(NamedTuple):
    """The overheads of an agent as a session's real calls showed them, in tokens of the session's model."""

    key: int
    child: bool
    agent_type: str | None
    cwd: str | None
    model: str | None
    unseen: int
    second: int
    restored: int
    calls: int
    compactions: int
    opening: str
    agent_version: str


# The number of sessions of an agent that are read for its overheads; the newest are the most accurate.
MOST_OBSERVED = 200
_TEXTS = ("opening", "agent_version")
_NUMBERS = ("unseen", "second", "restored", "calls", "compactions")

COLUMNS = tuple(f.name for f in fields(SessionRow) if f.name != "damaged")
DAMAGED = "its stored {} is damaged and left out; run `coppice verify`"


def _kinds_of(kind: str) -> tuple[tuple[type, ...], Any]:
    """Return the types that a column of this annotation holds, and the replacement of a value of another type."""
    known, blank = {"int": (int, 0), "str": (str, ""), "bytes": (bytes, b"")}[kind.partition(" ")[0]]
    return ((known, type(None)), None) if kind.endswith("None") else ((known,), blank)


# SQLite takes a value of any type in any column.
_KINDS = {
    one.name: _kinds_of(str(one.type))
    for one in fields(SessionRow)
    if one.name not in ("kind", "damaged", *JSON_COLUMNS)
}
_SELECT = f"SELECT {listed(COLUMNS)} FROM sessions"


class Sessions(Subject):
    """Rows of `sessions`."""

    def create(self, **columns: Unpack[Columns]) -> SessionRow:
        """Create a session.

        Raises:
            Invalid: the id cannot be part of an address.
            Conflict: the id is taken, or belongs to a session that was deleted.
        """
        if "/" in columns["id"] or columns["id"] in ("", ".", ".."):
            shown = json_string(columns["id"][:80])
            message = (
                f"a session's id is part of addresses; expected no slash, and neither . nor .., got {shown}"
            )
            raise Invalid(message, "id")
        refuse_long(columns["id"], "the id of a session", "id")
        if self._db.value("SELECT 1 FROM sessions WHERE id = ?", (columns["id"],)):
            raise Conflict(f"a session {columns['id']} exists already or was deleted")
        if self._is_below(columns.get("parent_id"), columns["id"]):
            columns["parent_id"] = None
        names = tuple(columns)
        places = ", ".join("?" * len(names))
        self._db.run(f"INSERT INTO sessions ({listed(names)}) VALUES ({places})", _encoded(columns))
        return self.get(columns["id"])

    def get(self, session_id: str) -> SessionRow:
        """Return the session.

        Raises:
            NotFound: the id is unknown, or the session was deleted.
        """
        if (found := self.live(session_id)) is None:
            raise NotFound("session", session_id)
        return found

    def live(self, session_id: str) -> SessionRow | None:
        """Return the session, or None if the id is unknown or the session was deleted."""
        found = self.find(session_id)
        return found if found is not None and found.deleted_at is None else None

    def find(self, session_id: str) -> SessionRow | None:
        """Return the session or its marker, or None."""
        row = self._db.row(f"{_SELECT} WHERE id = ?", (session_id,))
        return _decoded(row) if row else None

    def version(self, key: int) -> int | None:
        """Return the version of the session with this number, or None."""
        found: int | None = self._db.value("SELECT version FROM sessions WHERE key = ?", (key,))
        return found

    def by_key(self, key: int) -> SessionRow:
        """Return the session with this number."""
        row = self._db.row(f"{_SELECT} WHERE key = ?", (key,))
        if row is None:
            raise NotFound("session", key)
        return _decoded(row)

    def by_keys(self, keys: Collection[int]) -> dict[int, SessionRow]:
        """Return the sessions with these numbers, by number; unknown ones are missing."""
        rows = self._db.rows_in(f"{_SELECT} WHERE key IN ({{}})", list(keys))
        return {row.key: row for row in map(_decoded, rows)}

    def all(self) -> list[SessionRow]:
        """Return every session that was not deleted, latest activity first."""
        rows = self._db.rows(f"{_SELECT} WHERE deleted_at IS NULL ORDER BY last_activity_at DESC, key DESC")
        return [_decoded(row) for row in rows]

    def everything(self) -> list[SessionRow]:
        """Return every session and every marker, oldest first."""
        return [_decoded(row) for row in self._db.rows(f"{_SELECT} ORDER BY key")]

    def page(self, last: SessionRow | None, limit: int) -> tuple[list[SessionRow], int]:
        """Return at most `limit` sessions after `last`, latest activity first, and the number of all sessions.

        A followed file that has neither messages nor broken lines is left out.
        """
        shown = "deleted_at IS NULL AND NOT (kind = 'followed' AND next_no = 1 AND malformed = 0)"
        behind, values = "", []
        if last is not None:
            behind, values = "AND (last_activity_at, key) < (?, ?)", [last.last_activity_at, last.key]
        sql = f"{_SELECT} WHERE {shown} {behind} ORDER BY last_activity_at DESC, key DESC LIMIT ?"
        rows = self._db.rows(sql, (*values, limit))
        total = self._db.value(f"SELECT count(*) FROM sessions WHERE {shown}")
        return [_decoded(row) for row in rows], int(total or 0)

    def children(self, session_id: str) -> list[str]:
        """Return the ids of the sub-agents that this session started; its forks are none."""
        sql = (
            "SELECT id FROM sessions WHERE parent_id = ? AND (agent_type IS NULL OR agent_type <> ?) "
            "AND deleted_at IS NULL ORDER BY key"
        )
        return [row[0] for row in self._db.rows(sql, (session_id, FORK))]

    def _is_below(self, parent: str | None, session_id: str) -> bool:
        """Return True if `parent` is the session itself or one below it."""
        sql = (
            "WITH RECURSIVE above (id) AS (SELECT parent_id FROM sessions WHERE id = ? UNION SELECT s.parent_id "
            "FROM sessions s JOIN above ON above.id = s.id) SELECT 1 FROM above WHERE id = ?"
        )
        return parent is not None and (
            parent == session_id or self._db.value(sql, (parent, session_id)) is not None
        )

    def observed_overheads(self, source: str) -> list[ObservedOverheads]:
        """Return the overheads that the newest sessions of an agent showed, newest first.

        Forks are left out: their transcripts can lack what their parents said, which is no overhead, and those that
        have it show the overhead of their parents.
        """
        # The keys first: a sort by whole rows would read the state of every session. LIKE looks for the text as our
        # JSON has it, which sessions without a call lack: those are not read.
        sql = (
            "SELECT state, key, parent_id, agent_type, cwd, model FROM sessions WHERE key IN (SELECT key FROM sessions "
            "WHERE source = ? AND (agent_type IS NULL OR agent_type <> ?) AND deleted_at IS NULL "
            "ORDER BY last_activity_at DESC, id LIMIT ?) AND state LIKE ? ORDER BY last_activity_at DESC, id"
        )
        rows = self._db.rows(sql, (source, FORK, MOST_OBSERVED, '%"known":true%'))
        found = ((_overheads(state), rest) for state, *rest in rows)
        return [
            ObservedOverheads(key, parent is not None, *columns, *overheads)
            for overheads, (key, parent, *columns) in found
            if overheads is not None
        ]

    def with_entry(self, source_id: str) -> list[SessionRow]:
        """Return the sessions whose log has an entry with this source id."""
        keys = "SELECT key >> 32 FROM entries WHERE source_id = ?"
        sql = f"{_SELECT} WHERE key IN ({keys}) AND deleted_at IS NULL ORDER BY key"
        return [_decoded(row) for row in self._db.rows(sql, (source_id,))]

    def with_call(self, source: str, call_key: str) -> list[SessionRow]:
        """Return the sessions of a source in which this call was reported."""
        reported = "EXISTS (SELECT 1 FROM calls WHERE calls.session = sessions.key AND call_key = ?)"
        sql = f"{_SELECT} WHERE source = ? AND deleted_at IS NULL AND {reported} ORDER BY key"
        return [_decoded(row) for row in self._db.rows(sql, (source, call_key))]

    def update(self, key: int, **columns: Unpack[Columns]) -> None:
        """Set columns of one session; a parent that is one of its descendants is left out."""
        if (parent := columns.get("parent_id")) is not None and self._is_below(parent, self.by_key(key).id):
            del columns["parent_id"]
        if columns:
            sets = ", ".join(f"{quoted(name)} = ?" for name in columns)
            self._db.run(f"UPDATE sessions SET {sets} WHERE key = ?", (*_encoded(columns), key))

    def remove(self, row: SessionRow, marker_at: int | None) -> None:
        """Delete a session and everything that belongs to it; with `marker_at` its id stays as a marker.

        An id that is too long to come back needs none.
        """
        unindex_entries(self._db, row.key, row.next_seq)
        for table in SESSION_TABLES:
            where, values = of_session(table, row.key)
            self._db.run(f"DELETE FROM {table} WHERE {where}", values)
        self._db.run("DELETE FROM webhook_deliveries WHERE session_id = ?", (row.id,))
        if marker_at is None or is_long(row.id):
            self._db.run("DELETE FROM sessions WHERE key = ?", (row.key,))
            return
        columns: dict[str, Any] = {
            **dict.fromkeys(("title", "parent_id", "cwd", "last_entry_id", "tail_hash")),
            **dict.fromkeys(("next_seq", "turns", "prunes", "operations", "malformed", "unknown"), 0),
            **{name: empty() for name, empty in JSON_COLUMNS.items()},
        }
        self.update(row.key, deleted_at=marker_at, **columns)


@lru_cache(maxsize=2 * MOST_OBSERVED)
def _overheads(state: str) -> tuple[Any, ...] | None:
    """Return the overheads in a session's stored state, the last columns of `ObservedOverheads`; None without any.

    Messages that the session inherits would look like an overhead.
    Cached, because each append before a session's first call reads the same states.
    """
    try:
        found = orjson.loads(state)
        calibration = found.get("calibration") or {}
        if not calibration.get("known") or found.get("inherits"):
            return None
    except (ValueError, TypeError, AttributeError):
        return None
    numbers = [calibration.get(name) or 0 for name in _NUMBERS]
    return (*numbers, *(found.get(name) or "" for name in _TEXTS))


def _encoded(columns: Mapping[str, Any]) -> Sequence[Any]:
    return [
        orjson.dumps(value).decode() if name in JSON_COLUMNS and value is not None else value
        for name, value in columns.items()
    ]


def _decoded(row: tuple[Any, ...]) -> SessionRow:
    values = dict(zip(COLUMNS, row, strict=True))
    damaged: list[str] = []
    for name, (kinds, blank) in _KINDS.items():
        if type(values[name]) not in kinds:
            values[name] = blank
            damaged.append(DAMAGED.format(name))
    for name, empty in JSON_COLUMNS.items():
        if (text := values[name]) is None and name == "envelope":
            continue
        try:
            values[name] = orjson.loads(text)
            sound = name == "envelope" or type(values[name]) is empty
        except (ValueError, TypeError):
            sound = False
        if not sound:
            values[name] = empty()
            damaged.append(DAMAGED.format(name))
    return SessionRow(**values, damaged=tuple(damaged))

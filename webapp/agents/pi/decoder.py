"""pi's sessions: rows of JSON that form a tree by `id` and `parentId`; the first layout was a list.

The context is the path from the first row to the newest one. A row whose parent is not the row before it goes back, or
to another branch. A compaction replaces the path before it with its summary and the rows it keeps. A session made from
another one (`parentSession`) begins with copies of its rows, all older than the first row of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from scoring.messages import Message
from scoring.models import name_at
from webapp.agents.pi.messages import (
    BRANCH,
    COMPACTED,
    custom_message,
    message_of,
    summary,
    unread,
    usage_of,
)
from webapp.agents.reading.known_meta import KnownMeta
from webapp.agents.reading.rows import (
    count_of,
    lacking,
    list_of,
    object_of,
    optional,
    parse,
    short_title,
    text_of,
    when,
)
from webapp.agents.reading.tail import Line
from webapp.agents.records import (
    Compaction,
    Entry,
    EntryKind,
    Problem,
    Record,
    Rewind,
    Unknown,
    UsageReport,
)

# Rows of which nothing is sent.
_UNSENT = frozenset({"thinking_level_change", "label", "custom", "context_edit"})


@dataclass(slots=True)
class _Row:
    """A row of the tree: its entry, the rows a compaction keeps after its summary.

    An edit has the row that it changes and its new content, or None to leave it out. `shown` is the edit whose content
    the row's entry has.
    """

    parent: str | None
    entry: str | None = None
    kept: tuple[str, ...] | None = None
    message: Message | None = None
    edits: str | None = None
    content: Message | None = None
    shown: str | None = None


class Decoder:
    """Decodes the rows of one session."""

    def __init__(self) -> None:
        self._rows: dict[str, _Row] = {}
        self._order: list[str] = []  # of all rows, as the first layout counts them
        self._tip: str | None = None
        self._live: list[str] = []  # the rows in the context
        self._meta = KnownMeta()
        self._forked_at: datetime | None = None  # while the rows are the parent's

    def feed(self, line: Line) -> Iterator[Record]:
        """Yield the records of one line."""
        row = parse(line.data)
        if isinstance(row, str):
            yield Problem(line.number, row)
            return
        kind, at = text_of(row.get("type")), when(row.get("timestamp"))
        if kind == "session":
            self._order.append("")
            self._forked_at = at if row.get("parentSession") else None
            yield from self._meta.changed(model=_model_of(row), cwd=optional(row.get("cwd")))
            return
        row_id = optional(row.get("id")) or f"line {line.number}"
        if row_id in self._rows:
            return  # a copy
        self._order.append(row_id)
        if self._forked_at is not None and (at is None or at >= self._forked_at):
            self._forked_at = None
        parent, before = self._parent(row), self._tip
        self._rows[row_id], self._tip = _Row(parent), row_id
        if kind == "context_edit":
            self._edit(row_id, row)
        if parent != before or kind == "context_edit":
            yield from self._changed(row_id, line.data, at)
        yield from self._row(line, row_id, row, kind, at)

    def _row(
        self, line: Line, row_id: str, row: dict[str, Any], kind: str, at: datetime | None
    ) -> Iterator[Record]:
        if kind == "message":
            yield from self._message(line, row_id, object_of(row.get("message")), at)
        elif kind == "compaction":
            yield from (Unknown(line.number, field) for field in lacking(row, "summary"))
            yield from self._spent(f"compaction {row_id}", row, at)
            yield from self._compaction(line.data, row_id, row, at)
        elif kind == "usage":
            yield from self._spent(row_id, row, at)
        elif kind == "custom_message":
            yield from (Unknown(line.number, field) for field in unread({"role": "custom", **row}))
            yield self._entry(row_id, custom_message(row), at, line.data)
        elif kind == "branch_summary":
            yield from (Unknown(line.number, field) for field in lacking(row, "summary"))
            yield from self._spent(row_id, row, at)
            yield self._entry(row_id, summary(BRANCH, row), at, line.data)
        elif kind == "model_change":
            yield from self._meta.changed(model=_model_of(row))
        elif kind == "session_info":
            yield from self._meta.changed(title=short_title(text_of(row.get("name"))))
        elif kind not in _UNSENT:
            yield Unknown(line.number, kind or "row without type")

    # The tree

    def _parent(self, row: dict[str, Any]) -> str | None:
        """Return the parent of a row: by default, or if the named one is unknown, the row before it."""
        parent = row.get("parentId", self._tip)
        known = parent is None or (isinstance(parent, str) and parent in self._rows)
        return parent if known else self._tip

    def _edit(self, row_id: str, edit: dict[str, Any]) -> None:
        """Note an edit of an earlier row: after it the row is left out, or its content is replaced."""
        row, target, new = self._rows[row_id], text_of(edit.get("targetId")), edit.get("replacement")
        if target in self._rows and self._rows[target].message is not None:
            row.edits, row.content = target, None if new is None else custom_message(object_of(new))

    def _changed(self, row_id: str, raw: bytes, at: datetime | None) -> Iterator[Record]:
        """Yield what a row changes that continues from another row than the newest, or that is an edit.

        These are versions of rows that another edit, or none, applies to, and a rewind.
        """
        live = self._context(row_id)
        for name, edit in live.items():
            row = self._rows[name]
            if row.shown != edit and row.message is not None:
                content = None if edit is None else self._rows[edit].content
                new = row_id if edit == row_id else f"{row_id}.{name}"
                message = row.message if content is None else _edited(row.message, content)
                own = raw if edit == row_id else None
                yield Entry(message, new, None, None, at, raw=own, supersedes=row.entry)
                row.entry, row.shown = new, edit
        if list(live) != self._live:
            self._live = list(live)
            ids = self._ids(self._live)
            yield Rewind(ids[-1] if ids else None, row_id, at, "", ids)

    def _ids(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the newest entries of rows."""
        return tuple(entry for name in names if (entry := self._rows[name].entry) is not None)

    def _path(self, row_id: str | None) -> list[str]:
        """Return the rows from the first one to this one."""
        path: list[str] = []
        while row_id is not None:
            path.append(row_id)
            row_id = self._rows[row_id].parent
        return path[::-1]

    def _context(self, row_id: str | None) -> dict[str, str | None]:
        """Return the rows that are sent after this row, each with the newest edit that applies to it."""
        live, edits = list[str](), dict[str, str]()
        for name in self._path(row_id):
            row = self._rows[name]
            if row.kept is not None:
                live = [name, *row.kept]
            elif row.entry is not None:
                live.append(name)
            elif row.edits is not None:
                edits[row.edits] = name
        left_out = {target for target, edit in edits.items() if self._rows[edit].content is None}
        return {name: edits.get(name) for name in live if name not in left_out}

    # Messages

    def _message(
        self, line: Line, row_id: str, said: dict[str, Any], at: datetime | None
    ) -> Iterator[Record]:
        message = message_of(said)
        if isinstance(message, str):
            yield Unknown(line.number, message)
            if said.get("role") == "assistant":
                yield from self._meta.changed(model=_model_of(said))
                yield from self._spent(row_id, said, at)
        elif message is not None:
            yield from (Unknown(line.number, field) for field in unread(said))
        if not isinstance(message, Message):
            return
        if not message.parts or message.role == "tool":  # of a tool, what it asked models for
            yield from self._spent(row_id, said, at)
        if not message.parts:
            return
        model = _model_of(said) if message.role == "assistant" else None
        yield from self._meta.changed(model=model)
        usage = usage_of(object_of(said.get("usage"))) if message.role == "assistant" else None
        entry = self._entry(row_id, message, at, line.data)
        yield replace(entry, model=model, usage=usage, call_key=row_id if usage else None)
        yield from self._meta.first_words(entry.own_words)

    def _spent(self, name: str, row: dict[str, Any], at: datetime | None) -> Iterator[Record]:
        """Yield the usage of a call that is no part of the conversation, unless it is the parent's."""
        usage = usage_of(object_of(row.get("usage")))
        if usage is not None and self._forked_at is None:
            yield UsageReport(usage, at, name, _model_of(row), apart=True)

    def _entry(
        self,
        row_id: str,
        message: Message,
        at: datetime | None,
        raw: bytes | None,
        kind: EntryKind = "message",
    ) -> Entry:
        row = self._rows[row_id]
        before = self._rows[self._live[-1]].entry if self._live else None
        row.entry, row.message = row_id, message
        self._live.append(row_id)
        inherited = self._forked_at is not None
        return Entry(message, row_id, before, None, at, kind=kind, raw=raw, inherited=inherited)

    # Compaction

    def _compaction(
        self, raw: bytes, row_id: str, row: dict[str, Any], at: datetime | None
    ) -> Iterator[Record]:
        before, tail = count_of(row.get("tokensBefore")) or None, row.get("retainedTail")
        kept = self._kept(row_id, row)
        if isinstance(tail, list):
            replacement = self._retained(raw, row_id, row, tail, at)
            yield Compaction(at, "unknown", before, row_id, replacement)
            return
        self._live, self._rows[row_id].kept = [], kept
        live = [name for name in self._context(row_id) if name != row_id]
        yield Compaction(at, "unknown", before, row_id, kept=self._ids(live))
        yield self._entry(row_id, summary(COMPACTED, row), at, raw, "compaction_summary")
        self._live += live

    def _kept(self, row_id: str, row: dict[str, Any]) -> tuple[str, ...]:
        """Return the rows from the first kept one up to the compaction, without older summaries.

        System messages stay if the compaction repeats them.
        """
        first, index = text_of(row.get("firstKeptEntryId")), row.get("firstKeptEntryIndex")
        if isinstance(index, int) and 0 <= index < len(self._order):
            first = self._order[index]
        path = self._path(row_id)
        start = path.index(first) if first in path else len(path)
        sent = [name for name in path[start:] if self._rows[name].entry and self._rows[name].kept is None]
        system = [name for name in self._live if self._is_system(name)] if row.get("systemMessage") else []
        return (*system, *(name for name in sent if not self._is_system(name)))

    def _is_system(self, name: str) -> bool:
        message = self._rows[name].message
        return message is not None and message.role == "system"

    def _retained(
        self, raw: bytes, row_id: str, row: dict[str, Any], tail: list[Any], at: datetime | None
    ) -> tuple[Entry, ...]:
        """Return the new context of a compaction that contains the messages it keeps."""
        known: dict[Message, list[str]] = {}
        for name in self._path(row_id):
            one = self._rows[name]
            if one.entry is not None and one.message is not None:
                known.setdefault(one.message, []).append(name)
        self._live = []
        entries = [self._entry(row_id, summary(COMPACTED, row), at, raw, "compaction_summary")]
        for number, said in enumerate(map(object_of, list_of(tail))):
            message = message_of(said)
            if isinstance(message, Message) and message.parts:
                ids = known.get(message)
                name = ids.pop(0) if ids else f"{row_id}.{number}"
                one = self._rows.setdefault(name, _Row(row_id, name, None, message))
                entries.append(Entry(message, one.entry, self._ids(self._live)[-1], None, at))
                self._live.append(name)
        self._rows[row_id].kept = tuple(self._live[1:])
        return tuple(entries)


def _model_of(row: dict[str, Any]) -> str | None:
    """Return the model of a message, a call or a change of models, after a host with windows or prices of its own."""
    named = text_of(row.get("model")) or text_of(row.get("modelId"))
    return name_at(text_of(row.get("provider")), named) or None


def _edited(message: Message, new: Message) -> Message:
    """Return a message with new content; a result stays the result of its call."""
    result = next(iter(message.results), None)
    parts = new.parts if result is None else (replace(result, text=new.text, media=new.media),)
    return replace(message, parts=parts)

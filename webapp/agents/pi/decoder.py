"""pi's sessions: rows of JSON that form a tree by `id` and `parentId`; the first layout was a list.

The context is the path from the first row to the newest one. A row whose parent is not the row before it goes back, or
to another branch. A compaction replaces the path before it with its summary and the rows it keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from scoring.messages import Message
from webapp.agents.pi.messages import (
    BRANCH,
    COMPACTED,
    custom_message,
    message_of,
    summary,
    unread,
    usage_of,
)
from webapp.agents.reading.facts import SessionFacts
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
from webapp.agents.reading.tail import Line
from webapp.agents.records import (
    Compaction,
    Entry,
    EntryKind,
    Problem,
    Record,
    Rewind,
    Unknown,
)

# Rows of which nothing is sent.
_UNSENT = frozenset({"thinking_level_change", "label", "custom", "usage"})


@dataclass(slots=True)
class _Row:
    """A row of the tree: its entry, the rows a compaction keeps after its summary, the row that an edit removes."""

    parent: str | None
    entry: str | None = None
    kept: tuple[str, ...] | None = None
    omits: str | None = None
    message: Message | None = None


class Decoder:
    """Decodes the rows of one session."""

    def __init__(self) -> None:
        self._rows: dict[str, _Row] = {}
        self._order: list[str] = []  # of all rows, as the first layout counts them
        self._tip: str | None = None
        self._live: list[str] = []  # the entries in the context
        self._facts = SessionFacts()

    def feed(self, line: Line) -> Iterator[Record]:
        """Yield the records of one line."""
        row = parse(line.data)
        if isinstance(row, str):
            yield Problem(line.number, row)
            return
        kind, at = text_of(row.get("type")), when(row.get("timestamp"))
        if kind == "session":
            self._order.append("")
            yield from self._facts.changed(model=optional(row.get("modelId")), cwd=optional(row.get("cwd")))
            return
        row_id = optional(row.get("id")) or f"line {line.number}"
        if row_id in self._rows:
            return  # a copy
        self._order.append(row_id)
        yield from self._turn_to(self._parent(row), row_id, at)
        yield from self._row(line, row_id, row, kind, at)

    def _row(
        self, line: Line, row_id: str, row: dict[str, Any], kind: str, at: datetime | None
    ) -> Iterator[Record]:
        if kind == "message":
            yield from self._message(line, row_id, object_of(row.get("message")), at)
        elif kind == "compaction":
            yield from self._compaction(line.data, row_id, row, at)
        elif kind == "custom_message":
            yield self._entry(row_id, custom_message(row), at, line.data)
        elif kind == "branch_summary":
            yield self._entry(row_id, summary(BRANCH, row), at, line.data)
        elif kind == "context_edit":
            yield from self._edit(line.data, row_id, row, at)
        elif kind == "model_change":
            yield from self._facts.changed(model=optional(row.get("modelId")))
        elif kind == "session_info":
            yield from self._facts.changed(title=short_title(text_of(row.get("name"))))
        elif kind not in _UNSENT:
            yield Unknown(line.number, kind or "row without type")

    # The tree

    def _parent(self, row: dict[str, Any]) -> str | None:
        """Return the parent of a row: by default, or if the named one is unknown, the row before it."""
        parent = row.get("parentId", self._tip)
        known = parent is None or (isinstance(parent, str) and parent in self._rows)
        return parent if known else self._tip

    def _turn_to(self, parent: str | None, row_id: str, at: datetime | None) -> Iterator[Record]:
        """Add a row to the tree; yield a rewind if the conversation continues from a row that is not the newest."""
        turned, self._tip = parent != self._tip, row_id
        self._rows[row_id] = _Row(parent)
        if turned and (live := self._context(parent)) != self._live:
            yield self._rewound(live, row_id, at)

    def _rewound(self, live: list[str], row_id: str, at: datetime | None) -> Rewind:
        self._live = live
        return Rewind(live[-1] if live else None, row_id, at, "", tuple(live))

    def _path(self, row_id: str | None) -> list[_Row]:
        """Return the rows from the first one to this one."""
        path: list[_Row] = []
        while row_id is not None:
            path.append(self._rows[row_id])
            row_id = path[-1].parent
        return path[::-1]

    def _context(self, row_id: str | None) -> list[str]:
        """Return the entries that are sent after this row."""
        live: list[str] = []
        for row in self._path(row_id):
            if row.entry is not None and row.kept is not None:
                live = [row.entry, *row.kept]
            elif row.entry is not None:
                live.append(row.entry)
            elif row.omits is not None:
                live = [entry for entry in live if entry != self._rows[row.omits].entry]
        return live

    # Messages

    def _message(
        self, line: Line, row_id: str, said: dict[str, Any], at: datetime | None
    ) -> Iterator[Record]:
        message = message_of(said)
        if isinstance(message, str):
            yield Unknown(line.number, message)
        elif message is not None:
            yield from (Unknown(line.number, field) for field in unread(said))
        if not isinstance(message, Message) or not message.parts:
            return
        model = optional(said.get("model")) if message.role == "assistant" else None
        yield from self._facts.changed(model=model)
        usage = usage_of(object_of(said.get("usage"))) if message.role == "assistant" else None
        entry = self._entry(row_id, message, at, line.data)
        yield replace(entry, model=model, usage=usage, call_key=row_id if usage else None)
        yield from self._facts.first_words(entry.own_words)

    def _entry(
        self,
        row_id: str,
        message: Message,
        at: datetime | None,
        raw: bytes | None,
        kind: EntryKind = "message",
    ) -> Entry:
        row = self._rows[row_id]
        before = self._live[-1] if self._live else None
        row.entry, row.message = row_id, message
        self._live.append(row_id)
        return Entry(message, row_id, before, None, at, kind=kind, raw=raw)

    def _edit(self, raw: bytes, row_id: str, edit: dict[str, Any], at: datetime | None) -> Iterator[Record]:
        """Yield an edit of an earlier row: from now on it is left out, or its content is replaced."""
        target = self._rows.get(text_of(edit.get("targetId")))
        if target is None or target.entry not in self._live or target.message is None:
            return
        if edit.get("replacement") is None:
            self._rows[row_id].omits = text_of(edit.get("targetId"))
            yield self._rewound([entry for entry in self._live if entry != target.entry], row_id, at)
            return
        new = custom_message(object_of(edit.get("replacement")))
        parts = new.parts
        if result := next(iter(target.message.results), None):
            parts = (replace(result, text=new.text, media=new.media),)
        before, target.message = target.entry, replace(target.message, parts=parts)
        self._live[self._live.index(before)] = target.entry = row_id
        yield Entry(target.message, row_id, None, None, at, raw=raw, supersedes=before)

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
        self._live = []
        yield Compaction(at, "unknown", before, row_id, None, "", kept)
        yield self._entry(row_id, summary(COMPACTED, row), at, raw, "compaction_summary")
        self._rows[row_id].kept = kept
        self._live += kept

    def _kept(self, row_id: str, row: dict[str, Any]) -> tuple[str, ...]:
        """Return the entries from the first kept row up to the compaction, without older summaries."""
        first, index = text_of(row.get("firstKeptEntryId")), row.get("firstKeptEntryIndex")
        if isinstance(index, int) and 0 <= index < len(self._order):
            first = self._order[index]
        path = self._path(row_id)
        start = next((n for n, one in enumerate(path) if one is self._rows.get(first)), len(path))
        return tuple(one.entry for one in path[start:] if one.entry is not None and one.kept is None)

    def _retained(
        self, raw: bytes, row_id: str, row: dict[str, Any], tail: list[Any], at: datetime | None
    ) -> tuple[Entry, ...]:
        """Return the new context of a compaction that contains the messages it keeps."""
        known: dict[Message, list[str]] = {}
        for one in self._path(row_id):
            if one.entry is not None and one.message is not None:
                known.setdefault(one.message, []).append(one.entry)
        self._live = []
        entries = [self._entry(row_id, summary(COMPACTED, row), at, raw, "compaction_summary")]
        for number, said in enumerate(map(object_of, list_of(tail))):
            message = message_of(said)
            if isinstance(message, Message) and message.parts:
                ids = known.get(message)
                name = ids.pop(0) if ids else f"{row_id}.{number}"
                entries.append(Entry(message, name, self._live[-1], None, at))
                self._live.append(name)
        self._rows[row_id].kept = tuple(self._live[1:])
        return tuple(entries)

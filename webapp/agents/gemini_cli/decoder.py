"""Gemini CLI's sessions, in both layouts: lines that are appended, and a JSON document that is rewritten.

Lines: first the session's facts, then records; `{"$set": …}` changes facts (or sets a new list of messages),
`{"$rewindTo": id}` removes that message and all after it from the context. `read` reads documents as a whole and
yields what changed since its `state`.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from scoring.errors import json_string
from scoring.messages import Message
from webapp.agents.gemini_cli.files import cwd_of
from webapp.agents.gemini_cli.items import (
    is_summary,
    kind_of,
    messages_of,
    unread,
    usage_of,
    without_loaded,
)
from webapp.agents.reading.content import Content
from webapp.agents.reading.finding import read_file, reason_of
from webapp.agents.reading.json_elements import read_object
from webapp.agents.reading.known_meta import KnownMeta
from webapp.agents.reading.readers import LineReader, Position, Reader, WholeReader
from webapp.agents.reading.record_history import History, HistoryState, is_state
from webapp.agents.reading.rows import (
    is_json_document,
    list_of,
    object_of,
    optional,
    parse,
    short_title,
    text_of,
    when,
)
from webapp.agents.reading.tail import Line, guarded
from webapp.agents.reading.tail import decode as decode_lines
from webapp.agents.records import (
    COMPACTION_SUMMARY,
    Compaction,
    Entry,
    EntryKind,
    Problem,
    Record,
    Rewind,
    TranscriptFile,
    Unknown,
)

MAX_DOCUMENT = 64 << 20


@dataclass(frozen=True)
class _State(HistoryState):
    """`look` are the size and time of the document, `answered` the records with the results of calls.

    `names` are the first names of messages that were written again under new ones. `reports` is True for a sub-agent,
    whose summary is its report to the agent that started it.
    """

    look: list[int] = field(default_factory=list)
    answered: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    reports: bool = False


_STATE = TypeAdapter(_State)


class _Read(NamedTuple):
    """A record and its messages."""

    record: dict[str, Any]
    said: list[tuple[str, Message]]


def reader(file: TranscriptFile, position: Position) -> Reader:
    """Return the reader of a session: the newer layout grows by lines, the older one is a document."""
    if file.path.suffix == ".json":
        return WholeReader(file, position, read, partial(is_state, shape=_STATE))
    return LineReader(file, position, lambda file: Decoder(cwd=cwd_of(file.path)))


class Decoder:
    """Decodes one session. `state` holds all that was read of it, JSON-ready, and can be stored.

    `cwd` is its working directory, if that is known from elsewhere.
    """

    def __init__(self, state: dict[str, Any] | None = None, cwd: str | None = None) -> None:
        state = {} if state is None else state
        self._cwd, self._state = cwd, state
        self._history, self._meta = History(state), KnownMeta(state.setdefault("facts", {}))
        # The record with the results of each call, since the last record that has the call.
        self._answered: dict[str, str] = state.setdefault("answered", {})
        # The first name of each message that was written again under a new one.
        self._names: dict[str, str] = state.setdefault("names", {})

    def feed(self, line: Line) -> Iterator[Record]:
        """Yield the records of one line."""
        row = parse(line.data)
        if isinstance(row, str):
            yield Problem(line.number, row)
            return
        if "$rewindTo" in row:
            yield from self._rewind(line.number, row.get("$rewindTo"))
        elif "$set" in row or ("sessionId" in row and "type" not in row):
            facts = object_of(row["$set"]) if "$set" in row else row
            if isinstance(facts.get("messages"), list):
                yield from self._whole(facts, facts["messages"], line.number)
            else:
                yield from self._session(facts)
        elif text_of(row.get("id")):
            said = self._said(row)
            yield from self._record(row, said, line.number, line.data)
            yield from self._history.bring_back(name for name, _ in said)  # written again after a rewind
        else:
            yield Unknown(line.number, text_of(row.get("type")) or "row without id")

    def document(self, value: dict[str, Any]) -> Iterator[Record]:
        """Yield what changed in a document since the last one."""
        lists = (value[key] for key in ("messages", "history") if isinstance(value.get(key), list))
        messages = next(lists, None)
        if messages is None:
            yield Problem(1, "no list of messages in the document")
            return
        yield from self._whole(value, messages, None)

    def _whole(self, about: dict[str, Any], messages: list[Any], line_no: int | None) -> Iterator[Record]:
        """Yield the changes by the facts about a session and all its messages; the title can be newer than all."""
        yield from self._session({**about, "summary": None})
        yield from self._replace(messages, line_no, when(about.get("lastUpdated")))
        yield from self._session(about)

    def _session(self, about: dict[str, Any]) -> Iterator[Record]:
        """Yield the facts about the session that are new."""
        folders = [f for f in list_of(about.get("directories")) if isinstance(f, str)]
        model = None if self._meta.model else optional(object_of(about.get("meta")).get("model"))
        self._state["reports"] = self._state.get("reports", False) or about.get("kind") == "subagent"
        title = "" if self._state["reports"] else short_title(text_of(about.get("summary")))
        yield from self._meta.changed(cwd=next(iter(folders), self._cwd), model=model, title=title)

    def _rewind(self, line_no: int, target: Any) -> Iterator[Record]:
        name = text_of(target)
        keep = self._history.before(self._names.get(name) or self._names.get(f"{name}:results", name))
        if keep is None:
            yield Problem(line_no, f"rewind to {json_string(name[:40])}, which is not in the conversation")
            return
        yield from self._history.cut(keep)

    def _said(self, record: dict[str, Any]) -> list[tuple[str, Message]]:
        """Return the messages of a record, and note which calls it answers."""
        record_id = text_of(record.get("id"))
        said = list(messages_of(record, record_id, self._answered))
        for _, message in said:
            for call in message.calls:
                self._answered.pop(call.id, None)
        self._answered |= {r.call_id: record_id for _, message in said for r in message.results}
        return [(self._names.get(name, name), message) for name, message in said]

    def _record(
        self, record: dict[str, Any], said: list[tuple[str, Message]], line_no: int | None, raw: bytes | None
    ) -> Iterator[Record]:
        """Yield what is new in one record, and the facts in it about the session."""
        kind = kind_of(record)
        if kind in ("user", "model"):
            yield from (Unknown(line_no, field) for field in unread(record))
        elif kind != "notice":
            yield Unknown(line_no, kind or "record without type")
        at = when(record.get("timestamp") or record.get("ts"))
        model = optional(record.get("model")) or self._meta.model
        usage = usage_of(object_of(record.get("tokens"))) if kind == "model" else None
        content: EntryKind = "compaction_summary" if is_summary(record) else "message"
        name = text_of(record.get("id"))
        name = self._names.get(name, name)  # by which its call is known
        for found in self._history.put(name, said, at, usage, model, raw, content):
            yield found
            if isinstance(found, Entry):
                yield from self._meta.changed(model=found.model)
                yield from self._meta.first_words(without_loaded(found.own_words or ""))

    def _replace(self, messages: list[Any], line_no: int | None, at: datetime | None) -> Iterator[Record]:
        """Yield the changes by a whole list of messages; one that begins with a new summary is a compaction."""
        summaries = [text_of(record.get("id")) for record in map(object_of, messages) if is_summary(record)]
        new = next((name for name in summaries if name not in self._history.summaries), None)
        self._history.summaries |= {name: [] for name in summaries}
        known = self._history.sources() if new is not None else {}
        found = list(self._replaced(messages, line_no))
        if new is not None and any(isinstance(record, Rewind) for record in found):
            kept = tuple(known[name] for name in self._history.live if name in known)
            yield Compaction(at, "unknown", None, f"compaction {new}", kept=kept)
            found = [record for record in found if not isinstance(record, Rewind)]
        yield from found

    def _replaced(self, messages: list[Any], line_no: int | None) -> Iterator[Record]:
        """Yield the new and newer versions of a list of messages, and the context in order."""
        wanted, read = list[str](), dict[int, _Read]()
        for number, one in enumerate(messages):
            record = object_of(one)
            record = record | {"id": text_of(record.get("id")) or f"n{number}"}
            yield from guarded(line_no, partial(self._read, record, number, read), f"message {number}")
        # A compression keeps the last messages under new ids.
        kept = (pair for record, said in read.values() if not is_summary(record) for pair in said)
        self._names |= self._history.same(list(kept))
        for number, (record, said) in read.items():
            again = [(self._names.get(name, name), message) for name, message in said]
            yield from guarded(
                line_no, partial(self._replace_one, record, again, line_no, wanted), f"message {number}"
            )
        yield from self._history.cut(wanted)

    def _read(self, record: dict[str, Any], number: int, read: dict[int, _Read]) -> Iterator[Record]:
        """Add the messages of a record in a list to `read`."""
        read[number] = _Read(record, self._said(record))
        yield from ()

    def _replace_one(
        self, record: dict[str, Any], said: list[tuple[str, Message]], line_no: int | None, wanted: list[str]
    ) -> Iterator[Record]:
        """Yield what is new in one message of a list, and add its names to the `wanted` context."""
        history = self._history
        names = [name for name, _ in said]
        if history.live[: len(wanted)] == wanted and any(not history.knows(name) for name in names):
            # New messages come after those wanted so far, and after what the record had before.
            yield from history.cut([*wanted, *(name for name in names if name in history.live)])
        for found in self._record(record, said, line_no, None):
            if isinstance(found, Entry) and found.kind == COMPACTION_SUMMARY and wanted:
                # It is sent behind what the agent says at the beginning of each session.
                yield replace(found, parent=history.source_of(wanted[-1]))
            else:
                yield found
        wanted += names


def read(file: TranscriptFile, state: dict[str, Any]) -> Iterator[Record]:
    """Yield what changed in a session of the older layout since `state`, which is changed along; {} reads it all.

    `state` is JSON-ready and belongs to this file. A half-written document is a Problem and changes nothing.
    """
    try:
        about = file.path.stat()
        look = [about.st_size, about.st_mtime_ns]
        if state.get("look") == look:
            return
        data = read_file(file.path) if about.st_size <= MAX_DOCUMENT else b""
    except OSError as error:
        yield Problem(None, reason_of(error))
        return
    state["look"] = look
    if not data:
        if look[0]:
            yield Problem(None, f"file of {look[0]:,} bytes skipped; the largest allowed is {MAX_DOCUMENT:,}")
        return
    document = parse(data.removeprefix(codecs.BOM_UTF8))
    if isinstance(document, str):
        yield Problem(1, document)
        return
    yield from Decoder(state, cwd_of(file.path)).document(document)


def decode(content: Content, file: TranscriptFile | None = None) -> Iterator[Record]:
    """Yield the records of an imported file: lines, or a document, in which only bad messages are left out."""
    cwd = cwd_of(file.path) if file is not None else None
    if not is_json_document(content.head()):
        yield from decode_lines(content, Decoder(cwd=cwd))
        return
    document, problems = read_object(content.whole())
    yield from problems
    if document is not None:
        yield from Decoder(cwd=cwd).document(document)

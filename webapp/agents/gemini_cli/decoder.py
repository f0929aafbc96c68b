"""Gemini CLI's sessions, in both layouts: lines that are appended, and a JSON document that is rewritten.

Lines: first the session's facts, then records; `{"$set": …}` changes facts (or sets a new list of messages),
`{"$rewindTo": id}` removes that message and all after it from the context. `read` reads documents as a whole and
yields what changed since its `state`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from webapp.agents.gemini_cli.items import kind_of, messages_of, unread, usage_of
from webapp.agents.reading import json_elements
from webapp.agents.reading.finding import folder_of, list_files, read_file, read_head, session_in
from webapp.agents.reading.readers import LineReader, Position, Reader, WholeReader
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
from webapp.agents.reading.tail import decode as decode_lines
from webapp.agents.reading.tail import guarded
from webapp.agents.reading.text import Content
from webapp.agents.reading.updates import History, changed_fact
from webapp.agents.records import Entry, Origin, Problem, Record, TranscriptFile, Unknown

SOURCE = "gemini-cli"
MAX_DOCUMENT = 64 << 20


def roots(env: Mapping[str, str]) -> list[Path]:
    """Return the folder with projects, existing or not: below GEMINI_CLI_HOME, else below the home folder."""
    return [folder_of(env, "GEMINI_CLI_HOME") / ".gemini" / "tmp"]


def discover(root: Path) -> Iterator[TranscriptFile]:
    """Yield the sessions below `root`, newest first. Reads the first bytes of each, which contain its id."""
    for found in list_files(root, (".jsonl", ".json")):
        path = found.path
        folders = [p.name for p in path.parents]
        if "chats" not in folders[:2] or (path.suffix == ".json" and not path.name.startswith("session-")):
            continue
        parent = folders[0] if folders[0] != "chats" else None
        own = session_in(read_head(path, 4096)) or path.stem
        session = f"{parent}.agent-{path.stem}" if parent else own
        kind = "sub-agent" if parent else None
        yield TranscriptFile(path, session, parent, SOURCE, None, kind, found.modified)


def origin(path: PurePath, head: bytes, on_disk: bool) -> Origin:
    """Return the session of an imported file by its first bytes."""
    return Origin(session_in(head))


def reader(file: TranscriptFile, position: Position) -> Reader:
    """Return the reader of a session: the newer layout grows by lines, the older one is a document."""
    if file.path.suffix == ".json":
        return WholeReader(file, position, read)
    return LineReader(file, position, Decoder)


class Decoder:
    """Decodes the lines of one session."""

    def __init__(self, file: TranscriptFile | None = None) -> None:
        self._history = History({})
        self._facts = _Facts({"title": file.title if file else None})

    def feed(self, line_no: int, line: bytes) -> Iterator[Record]:
        """Yield the records of one line (without line end). Lines count from 1 and come in order."""
        row = parse(line)
        if isinstance(row, str):
            yield Problem(line_no, row)
            return
        if "$rewindTo" in row:
            yield from self._rewind(line_no, row.get("$rewindTo"))
        elif "$set" in row:
            changes = object_of(row["$set"])
            yield from self._facts.changed(changes)
            if isinstance(changes.get("messages"), list):
                yield from _replaced(self._history, self._facts, changes["messages"], line_no)
        elif "sessionId" in row and "type" not in row:
            yield from self._facts.changed(row)
        elif text_of(row.get("id")):
            yield from _record(self._history, self._facts, row, line_no, line)
            names = [name for name, _ in messages_of(row, text_of(row.get("id")))]
            yield from self._history.bring_back(names)  # written again after a rewind
        else:
            yield Unknown(line_no, text_of(row.get("type")) or "row without id")

    def _rewind(self, line_no: int, target: Any) -> Iterator[Record]:
        keep = self._history.before(text_of(target))
        if keep is None:
            yield Problem(line_no, f"rewind to {text_of(target)[:40]!r}, which is not in the conversation")
            return
        yield from self._history.cut(keep)


class _Facts:
    """The known facts about the session; `state` keeps them between reads."""

    def __init__(self, state: dict[str, Any]) -> None:
        self._state = state

    @property
    def model(self) -> str | None:
        """Return the model of the last answer."""
        return optional(self._state.get("model"))

    def changed(self, facts: dict[str, Any]) -> Iterator[Record]:
        """Yield the session's facts that are new."""
        folders = [f for f in list_of(facts.get("directories")) if isinstance(f, str)]
        model = optional(object_of(facts.get("meta")).get("model"))
        yield from changed_fact(self._state, "cwd", folders[0] if folders else None)
        if not self._state.get("model"):
            yield from changed_fact(self._state, "model", model)
        yield from changed_fact(self._state, "title", short_title(text_of(facts.get("summary"))))

    def seen(self, record: Record) -> Iterator[Record]:
        """Yield the facts in an entry about the session: its model, and a title from the user's first words."""
        if not isinstance(record, Entry):
            return
        yield from changed_fact(self._state, "model", record.model)
        if (words := record.own_words) and not self._state.get("title"):
            yield from changed_fact(self._state, "title", short_title(words))


def _record(
    history: History, facts: _Facts, record: dict[str, Any], line_no: int | None, raw: bytes | None
) -> Iterator[Record]:
    """Yield what is new in one record, and the facts in it about the session."""
    kind, record_id = kind_of(record), text_of(record.get("id"))
    if kind not in ("user", "model"):
        if kind != "notice":
            yield Unknown(line_no, kind or "record without type")
        return
    yield from (Unknown(line_no, field) for field in unread(record))
    at = when(record.get("timestamp") or record.get("ts"))
    model = optional(record.get("model")) or facts.model
    usage = usage_of(object_of(record.get("tokens")))
    for found in history.put(record_id, messages_of(record, record_id), at, usage, model, raw):
        yield found
        yield from facts.seen(found)


def _replaced(history: History, facts: _Facts, messages: list[Any], line_no: int | None) -> Iterator[Record]:
    """Yield the changes by a whole list of messages: new and newer versions, and the context in order."""
    wanted: list[str] = []
    for number, one in enumerate(messages):
        record = object_of(one)
        record = record | {"id": text_of(record.get("id")) or f"n{number}"}
        yield from guarded(
            line_no, partial(_listed, history, facts, record, line_no, wanted), f"message {number}"
        )
    yield from history.cut(wanted)


def _listed(
    history: History, facts: _Facts, record: dict[str, Any], line_no: int | None, wanted: list[str]
) -> Iterator[Record]:
    """Yield what is new in one message of a list, and add its names to the `wanted` context."""
    names = [name for name, _ in messages_of(record, record["id"])]
    if history.live[: len(wanted)] == wanted and any(not history.knows(name) for name in names):
        yield from history.cut(wanted.copy())  # new messages come after those wanted so far
    yield from _record(history, facts, record, line_no, None)
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
        yield Problem(None, f"cannot be read: {(error.strerror or 'unknown reason').lower()}")
        return
    state["look"] = look
    if not data:
        if look[0]:
            yield Problem(None, f"file of {look[0]:,} bytes skipped; the largest allowed is {MAX_DOCUMENT:,}")
        return
    yield from read_document(data, state)


def read_document(data: bytes, state: dict[str, Any]) -> Iterator[Record]:
    """Yield what changed in a document, given as bytes."""
    document = parse(data.removeprefix(b"\xef\xbb\xbf"))
    if isinstance(document, str):
        yield Problem(1, document)
        return
    yield from _read_value(document, state)


def decode(content: Content, file: TranscriptFile | None = None) -> Iterator[Record]:
    """Yield the records of an imported file: lines, or a document, in which only bad messages are left out."""
    if not is_json_document(content.head()):
        yield from decode_lines(content, Decoder())
        return
    document = json_elements.read_document(content.whole())
    if document is None or not isinstance(document.value, dict):
        yield Problem(1, "no list of messages in the document")
        return
    for number, reason in document.faults:
        yield Problem(None, reason if number is None else f"message {number}: {reason}")
    yield from _read_value(document.value, {})


def _read_value(document: dict[str, Any], state: dict[str, Any]) -> Iterator[Record]:
    messages = next((document[k] for k in ("messages", "history") if isinstance(document.get(k), list)), None)
    if messages is None:
        yield Problem(1, "no list of messages in the document")
        return
    facts = _Facts(state.setdefault("facts", {}))
    yield from facts.changed(document)
    yield from _replaced(History(state), facts, messages, None)

"""Follows transcript files: what came since the last look goes into the log, and how far that was is remembered.

One file is one session; sub-agents inside it get their own. A file is read in portions that end at a line, and its
mark is stored after each, so that after a crash at most one portion is read again, which adds nothing. Nothing here
waits or runs by itself: the watcher decides when which file is looked at.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webapp.agents.claude_code import decoder as claude_code
from webapp.agents.codex import decoder as codex
from webapp.agents.gemini_cli import decoder as gemini_cli
from webapp.agents.opencode import decoder as opencode
from webapp.agents.reading.databases import open_foreign
from webapp.agents.reading.tail import FileTail, Line, Mark, Restarted, catch_up, fed
from webapp.agents.records import Meta, Problem, Record, TranscriptFile, Unknown
from webapp.errors import CoppiceError
from webapp.events import ProblemReported
from webapp.services.ingest.ingest import Ingest
from webapp.services.ingest.record_batches import BATCH_BYTES
from webapp.services.session.codec import json_bytes
from webapp.services.session.environment import Environment

AGENTS = (claude_code, codex, gemini_cli, opencode)
PORTION_RECORDS = 400
# Open decoders; they remember what they saw. Another one is made and fed again when an older file grows.
DECODERS_KEPT = 48
# A file that was written to within so many seconds may be half written.
FRESH_SECONDS = 5.0
LATE_SECONDS = 24 * 3600.0


@dataclass(slots=True)
class _Open:
    """A file that is being followed."""

    file: TranscriptFile
    tail: FileTail
    decoder: Any
    caught_up: bool
    held: list[Record] = field(default_factory=list)  # facts that wait for the session's first message


class Following:
    """Feeds files into the log."""

    def __init__(
        self,
        desk: Environment,
        ingest: Ingest,
        extra: tuple[Path, ...] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._desk, self._store, self._ingest = desk, desk.store, ingest
        self._extra, self._env = extra, env or {}
        self._files: dict[Path, TranscriptFile] = {}
        self._open: OrderedDict[Path, _Open] = OrderedDict()
        self._lock = threading.Lock()

    # -- which files

    def roots(self) -> list[Path]:
        """The folders that are followed, existing or not."""
        found = [root for agent in AGENTS for root in agent.roots(self._env)]
        return list(dict.fromkeys([*found, *self._extra]))

    def discover(self) -> list[TranscriptFile]:
        """All transcripts below the roots, newest first."""
        found: dict[str, TranscriptFile] = {}
        for agent in AGENTS:
            for root in dict.fromkeys([*agent.roots(self._env), *self._extra]):
                for file in _discovered(agent, root):
                    found.setdefault(name_of(file), file)
        with self._lock:
            self._files.update({file.path: file for file in found.values()})
        return sorted(found.values(), key=lambda file: -file.modified)

    def files_at(self, path: Path) -> list[TranscriptFile]:
        """The transcripts that a changed file is or belongs to; of a database those that were worked on of late."""
        known = self._files.get(path)
        if known is not None and known.source != opencode.SOURCE:
            return [known]
        for agent in AGENTS:
            for root in [*agent.roots(self._env), *self._extra]:
                if not path.is_relative_to(root):
                    continue
                if agent is opencode:
                    found = _of_late(opencode.sessions_of(path, open_foreign))
                else:
                    found = [f for f in _discovered(agent, path.parent) if f.path == path]
                if found:
                    with self._lock:
                        self._files.update({file.path: file for file in found})
                    return found
        return []

    # -- reading one

    def look(self, file: TranscriptFile, stop: threading.Event | None = None) -> int:
        """Brings into the log what the file says that the log does not hold; how many messages that were.

        A file of a session that was deleted adds nothing. What cannot be read is noted on the session. Once `stop` is
        set it ends with the portion it is at; the rest is there for the next look.
        """
        if self._unchanged(file):
            return 0
        if self._deleted(file):
            return 0
        if is_whole(file):
            return self._look_whole(file)
        opened = self._opened(file)
        added = 0
        for portion in self._portions(opened):
            added += self._take(opened, portion)
            if stop is not None and stop.is_set():
                break
        return added

    def _take(self, opened: _Open, portion: list[Record]) -> int:
        """Brings a portion of a file into the log, with what was held before it."""
        file = opened.file
        opened.held += portion
        if opened.held and not self._begun(file, opened.held):
            return 0
        records, opened.held = opened.held, []
        whole = opened.tail.unreadable  # its fault is not counted again after a restart
        took = self._ingest.append_records(file.session_id, records, whole_file=whole) if records else None
        self._remember(opened)
        return len(took.nos) if took is not None else 0

    def _deleted(self, file: TranscriptFile) -> bool:
        found = self._store.sessions.find(file.session_id)
        return found is not None and found.deleted_at is not None

    def _begun(self, file: TranscriptFile, records: list[Record]) -> bool:
        """Whether there is a session for what a file says; it is made when there is something to show in it."""
        if all(isinstance(record, Meta | Unknown) for record in records):
            return self._store.sessions.find(file.session_id) is not None
        row = self._ingest.ensure(
            file.session_id, file.source, parent_id=file.parent_id, path=str(file.path), title=file.title,
            agent_type=file.agent_type,
        )  # fmt: skip
        return row is not None

    def _look_whole(self, file: TranscriptFile) -> int:
        """The same for a session that is written anew or kept in a database: compared with what was read before."""
        key = name_of(file)
        stored = self._store.small.file(key)
        state: dict[str, Any] = stored[1].get("state", {}) if stored is not None else {}
        before = json_bytes(state)
        if file.source == opencode.SOURCE:
            records = list(opencode.read(file, state, open_foreign, time.time() - FRESH_SECONDS))
        else:
            records = list(gemini_cli.read(file, state))
        if records and all(isinstance(record, Problem) for record in records) and self._fresh(file):
            return 0  # caught while it is being written; it is looked at again when that is done
        if records and not self._begun(file, records):
            return 0
        added = len(self._ingest.append_records(file.session_id, records).nos) if records else 0
        if json_bytes(state) != before:
            position: dict[str, Any] = {"state": state}
            if file.source != opencode.SOURCE:
                position["look"] = state.get("look")
            with self._store.write():
                self._store.small.put_file(key, file.session_id, position, self._desk.clock())
        return added

    def _fresh(self, file: TranscriptFile) -> bool:
        """Whether the file was written to in the last moments."""
        try:
            return time.time() - file.path.stat().st_mtime < FRESH_SECONDS
        except OSError:
            return True

    def _unchanged(self, file: TranscriptFile) -> bool:
        """Whether the file looks as it did when it was read to its end; then it is not opened."""
        stored = self._store.small.file(name_of(file))
        if stored is None or file.source == opencode.SOURCE:
            return False
        try:
            about = file.path.stat()
        except OSError:
            return True
        look: list[int] | None = stored[1].get("look")
        return look == [about.st_size, about.st_mtime_ns]

    def _opened(self, file: TranscriptFile) -> _Open:
        with self._lock:
            opened = self._open.get(file.path)
            if opened is not None:
                self._open.move_to_end(file.path)
                return opened
        stored = self._store.small.file(str(file.path))
        mark = Mark.from_dict(stored[1]["mark"]) if stored is not None else Mark()
        decoder = _decoder(file)
        caught_up = mark.offset == 0 or catch_up(file.path, mark, decoder)
        if not caught_up:
            decoder, mark = _decoder(file), Mark()
            self._count_anew(file)
        opened = _Open(file, FileTail(file.path, mark), decoder, caught_up)
        with self._lock:
            self._open[file.path] = opened
            while len(self._open) > DECODERS_KEPT:
                self._open.popitem(last=False)
        return opened

    def _count_anew(self, file: TranscriptFile) -> None:
        """Forgets how much of a file could not be read, because it is read from its beginning again."""
        row = self._store.sessions.find(file.session_id)
        if row is not None and (row.malformed or row.unknown):
            with self._store.write():
                self._store.sessions.update(row.key, malformed=0, unknown=0)

    def _portions(self, opened: _Open) -> Iterator[list[Record]]:
        portion: list[Record] = []
        size = 0
        for item in opened.tail.read():
            if isinstance(item, Restarted):
                yield portion
                portion, size, opened.held = [], 0, []
                self._count_anew(opened.file)
                opened.decoder = _decoder(opened.file)
            elif isinstance(item, Line):
                portion.extend(fed(opened.decoder, item))
                size += len(item.data)
            else:
                portion.append(item)
            if len(portion) >= PORTION_RECORDS or size >= BATCH_BYTES:
                yield portion
                portion, size = [], 0
        yield portion

    def _remember(self, opened: _Open) -> None:
        position: dict[str, Any] = {"mark": opened.tail.mark.to_dict()}
        try:
            about = opened.file.path.stat()
            if opened.tail.mark.offset == about.st_size:
                position["look"] = [about.st_size, about.st_mtime_ns]
        except OSError:
            pass
        path = str(opened.file.path)
        stored = self._store.small.file(path)
        if stored is not None and stored[1] == position:
            return
        with self._store.write():
            self._store.small.put_file(path, opened.file.session_id, position, self._desk.clock())

    def failed(self, file: TranscriptFile, error: Exception) -> None:
        """Reports that a file could not be followed, and forgets what was open of it; the others go on."""
        with self._lock:
            self._open.pop(file.path, None)
        text = str(error) if isinstance(error, CoppiceError) else f"{type(error).__name__}: {error}"
        found = self._store.sessions.find(file.session_id)
        known = file.session_id if found is not None and found.deleted_at is None else None
        self._desk.bus.publish(ProblemReported(known, f"{file.path.name} could not be read: {text}"))


def is_whole(file: TranscriptFile) -> bool:
    """Whether a session is compared as a whole instead of read line by line."""
    return file.source == opencode.SOURCE or (
        file.source == gemini_cli.SOURCE and gemini_cli.is_document(file.path)
    )


def name_of(file: TranscriptFile) -> str:
    """The name under which is kept how far a session was read: a database holds many."""
    return f"{file.path}#{file.session_id}" if file.source == opencode.SOURCE else str(file.path)


def _of_late(files: Iterable[TranscriptFile]) -> list[TranscriptFile]:
    """The sessions of a database that were worked on within a day of the newest: a change is in one of them."""
    found = list(files)
    newest = max((file.modified for file in found), default=0.0)
    return [file for file in found if file.modified >= newest - LATE_SECONDS]


def _discovered(agent: Any, root: Path) -> Iterator[TranscriptFile]:
    if agent is opencode:
        yield from opencode.discover(root, open_foreign)
    else:
        yield from agent.discover(root)


def _decoder(file: TranscriptFile) -> Any:
    return {agent.SOURCE: agent for agent in AGENTS if agent is not opencode}[file.source].Decoder(file)

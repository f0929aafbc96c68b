"""Follows transcript files: what came since the last look goes into the log, and how far that was is remembered.

One file is one session; sub-agents inside it get their own. A file is read in portions that end at a line, and its
mark is stored after each, so that after a crash at most one portion is read again, which adds nothing. Nothing here
waits or runs by itself: the watcher decides when which file is looked at.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webapp.errors import CoppiceError
from webapp.events import ProblemReported
from webapp.services.desk import Desk
from webapp.services.ingest import Ingest
from webapp.transcripts import claude_code, codex, gemini_cli
from webapp.transcripts.records import Record, TranscriptFile
from webapp.transcripts.tail import FileTail, Line, Mark, Restarted, catch_up, fed

AGENTS = (claude_code, codex, gemini_cli)
PORTION_RECORDS = 400
# Open decoders; they remember what they saw. Another one is made and fed again when an older file grows.
DECODERS_KEPT = 48


@dataclass(slots=True)
class _Open:
    """A file that is being followed."""

    file: TranscriptFile
    tail: FileTail
    decoder: Any
    caught_up: bool


class Following:
    """Feeds files into the log."""

    def __init__(
        self, desk: Desk, ingest: Ingest, extra: tuple[Path, ...] = (), env: Mapping[str, str] | None = None
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
        found: dict[Path, TranscriptFile] = {}
        for agent in AGENTS:
            for root in dict.fromkeys([*agent.roots(self._env), *self._extra]):
                for file in _discovered(agent, root):
                    found.setdefault(file.path, file)
        with self._lock:
            self._files.update(found)
        return sorted(found.values(), key=lambda file: -file.modified)

    def file_at(self, path: Path) -> TranscriptFile | None:
        """The transcript at a path, None where it is none."""
        known = self._files.get(path)
        if known is not None:
            return known
        for agent in AGENTS:
            for root in [*agent.roots(self._env), *self._extra]:
                if path.is_relative_to(root):
                    file = next((f for f in _discovered(agent, path.parent) if f.path == path), None)
                    if file is not None:
                        with self._lock:
                            self._files[path] = file
                        return file
        return None

    # -- reading one

    def look(self, file: TranscriptFile) -> int:
        """Brings into the log what the file says that the log does not hold; how many messages that were.

        A file of a session that was deleted adds nothing. What cannot be read is noted on the session.
        """
        if self._unchanged(file):
            return 0
        row = self._ingest.ensure(
            file.session_id, file.source, parent_id=file.parent_id, path=str(file.path), title=file.title,
            agent_type=file.agent_type,
        )  # fmt: skip
        if row is None:
            return 0
        opened = self._opened(file)
        added = 0
        for records in self._portions(opened):
            if records:
                added += len(self._ingest.append_records(file.session_id, records).nos)
            self._remember(opened)
        return added

    def _unchanged(self, file: TranscriptFile) -> bool:
        """Whether the file looks as it did when it was read to its end; then it is not opened."""
        stored = self._store.small.file(str(file.path))
        if stored is None:
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
        opened = _Open(file, FileTail(file.path, mark), decoder, caught_up)
        with self._lock:
            self._open[file.path] = opened
            while len(self._open) > DECODERS_KEPT:
                self._open.popitem(last=False)
        return opened

    def _portions(self, opened: _Open) -> Iterator[list[Record]]:
        portion: list[Record] = []
        for item in opened.tail.read():
            if isinstance(item, Restarted):
                yield portion
                portion = []
                opened.decoder = _decoder(opened.file)
            elif isinstance(item, Line):
                portion.extend(fed(opened.decoder, item))
            else:
                portion.append(item)
            if len(portion) >= PORTION_RECORDS:
                yield portion
                portion = []
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


def _discovered(agent: Any, root: Path) -> Iterator[TranscriptFile]:
    for file in agent.discover(root):
        if agent is gemini_cli and gemini_cli.is_document(file.path):
            continue
        yield file


def _decoder(file: TranscriptFile) -> Any:
    return {agent.SOURCE: agent for agent in AGENTS}[file.source].Decoder(file)

"""Following transcripts: which files there are, and what is new in one of them.

One file is one session; sub-agents inside it get their own. A file is read in chunks, each with the position after
it. The receiver of the chunks stores the position, so that after a crash at most one chunk is read again. Nothing
here waits or starts threads: the watcher decides when a file is read.
"""

from __future__ import annotations

import threading
import uuid
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from webapp.agents import AGENTS
from webapp.agents.agent import Agent
from webapp.agents.reading.finding import home_of, leads_out
from webapp.agents.reading.readers import Chunk, Position, Reader
from webapp.agents.records import Entry, Meta, Record, TranscriptFile, Unknown

# Linux creates a new one at each boot, so two machines never share one, whatever their names are.
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# Readers are kept because they remember what they decoded; another one decodes an older file again when it grows.
READERS_KEPT = 48


@dataclass(slots=True)
class _Open:
    """A followed session, read up to `position`. `held` are facts that wait for its first message."""

    reader: Reader
    position: Position
    held: list[Record] = field(default_factory=list)
    restarted: bool = False


class FollowedFiles(ABC):
    """The transcripts of all agents, in their usual folders and in `extra` ones."""

    def __init__(self, extra: tuple[Path, ...] = (), env: Mapping[str, str] | None = None) -> None:
        self._extra, self._env = extra, env or {}
        self._files: dict[Path, TranscriptFile] = {}
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._stale: set[str] = set()  # files whose reader is not to be kept
        self._lock = threading.Lock()

    # -- which files

    def roots(self) -> list[Path]:
        """Return the folders and files that are followed, existing or not."""
        found = [root for agent in AGENTS.values() for root in agent.roots(self._env)]
        return list(dict.fromkeys([*found, *self._extra]))

    def endings(self) -> tuple[str, ...]:
        """Return the endings of the names of all files that are followed."""
        return tuple({ending for agent in AGENTS.values() for ending in agent.endings})

    def place(self) -> str:
        """Return a name of the user's home on this machine, the same in every process that follows it."""
        try:
            machine = BOOT_ID.read_text().strip()
        except OSError:
            machine = f"{uuid.getnode():012x}"
        home = home_of(self._env)
        try:
            found = home.stat()  # two containers can have one path, and one folder several paths
        except OSError:
            return f"{machine} {home}"
        return f"{machine} {found.st_dev:x}:{found.st_ino:x}"

    def discover(self) -> list[TranscriptFile]:
        """Return all transcripts below the roots, newest first."""
        found: dict[str, TranscriptFile] = {}
        for agent, root in self._searched():
            for file in agent.discover(root):
                found.setdefault(file.key, file)
        self._remember(found.values())
        return sorted(found.values(), key=lambda file: -file.modified)

    def knows(self, path: Path) -> bool:
        """Return whether a file was found to be a transcript before."""
        return path in self._files

    def files_at(self, path: Path) -> list[TranscriptFile]:
        """Return the transcripts that a changed file is or belongs to."""
        known = self._files.get(path)
        if known is not None and not known.shared:
            return [known]
        for agent, root in self._searched():
            if path.is_relative_to(root) and (found := agent.files_at(path, root)):
                self._remember(found)
                return found
        return []

    def _searched(self) -> Iterator[tuple[Agent, Path]]:
        """Yield each agent with the folders in which its files can be."""
        for agent in AGENTS.values():
            for root in dict.fromkeys([*agent.roots(self._env), *self._extra]):
                yield agent, root

    def _remember(self, files: Iterable[TranscriptFile]) -> None:
        with self._lock:
            self._files.update({file.path: file for file in files})

    def forget_all(self) -> None:
        """Forget the open readers, because another process reads on from the stored positions."""
        with self._lock:
            self._open.clear()

    # -- reading one

    def read_new(self, file: TranscriptFile, stop: threading.Event | None = None) -> int:
        """Receive the new records of a file, and return the number of new messages.

        Unwanted files and files outside the followed folders, behind a link, are not read. Once `stop` is set it ends
        after the current chunk; the next call continues there.
        """
        position = self.position(file)
        if position is None or self._leads_out(file.path):
            return 0
        with self._lock:
            self._stale.discard(file.key)
            opened = self._open.pop(file.key, None)
        keep = opened is not None
        opened = opened or _Open(AGENTS[file.source].reader(file, position), position)
        added = 0
        for chunk in opened.reader.read():
            keep = True
            added += self._pass_on(file, opened, chunk)
            if stop is not None and stop.is_set():
                break
        if keep:  # a reader that failed is not kept: the next look continues from the stored position
            with self._lock:
                if file.key not in self._stale:
                    self._open[file.key] = opened
                while len(self._open) > READERS_KEPT:
                    self._open.popitem(last=False)
        return added

    def _pass_on(self, file: TranscriptFile, opened: _Open, chunk: Chunk) -> int:
        """Pass on a chunk with the facts held before it, or hold it until there is something to show."""
        if chunk.restarted:
            opened.held, opened.restarted = [], True
        opened.held += chunk.records
        empty = all(isinstance(record, Meta | Unknown) for record in opened.held)
        if opened.held and empty and not self.is_known(file):
            return 0
        records = [*opened.held, *self._window(file, opened.held)]
        joined = Chunk(records, chunk.position, opened.restarted, chunk.unreadable)
        before, opened.position = opened.position, chunk.position
        opened.held, opened.restarted = [], False
        return self.receive(file, joined, before)

    def _window(self, file: TranscriptFile, records: list[Record]) -> list[Record]:
        """Return the window that the user's configuration gives to the last model in records, or that it gives none."""
        models = [record.model for record in records if isinstance(record, Meta | Entry) and record.model]
        declared = AGENTS[file.source].declared_windows
        if declared is None or not models:
            return []
        windows = [window for model, window in declared.read(self._env, file.cwd) if model == models[-1]]
        return [Meta(window=min(windows, default=0))]  # two providers can have models of one name

    def forget(self, key: str) -> None:
        """Drop the reader of a file, so that the next look continues from its stored position."""
        with self._lock:
            self._stale.add(key)
            self._open.pop(key, None)

    def _leads_out(self, path: Path) -> bool:
        """Return whether a path leads out of every followed folder it lies in; looked at each time, as files change."""
        own = [root for root in self.roots() if path.is_relative_to(root)]
        return bool(own) and all(leads_out(path, root) for root in own)

    # -- what follows

    @abstractmethod
    def position(self, file: TranscriptFile) -> Position | None:
        """Return the stored position of a file, {} at its start; None if the file is not wanted."""

    @abstractmethod
    def is_known(self, file: TranscriptFile) -> bool:
        """Return whether there is a session for a file; one begins with its first message."""

    @abstractmethod
    def receive(self, file: TranscriptFile, chunk: Chunk, before: Position) -> int:
        """Receive the chunk behind `before` and store the position after it; return the number of new messages."""

    @abstractmethod
    def failed(self, file: TranscriptFile, error: Exception) -> None:
        """Report that a file could not be followed; the others go on."""

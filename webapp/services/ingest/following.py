"""Following transcripts: new records since the last look are appended to the log, and the read position is stored.

One file is one session; sub-agents inside it get their own. A file is read in portions, and the position is stored
after each, so that after a crash at most one portion is read again, which adds nothing. Nothing here waits or starts
threads: the watcher decides when a file is read.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from webapp.agents import AGENTS
from webapp.agents.reading.finding import leads_out
from webapp.agents.reading.readers import Portion, Position, Reader
from webapp.agents.records import Meta, Record, TranscriptFile, Unknown
from webapp.errors import CoppiceError
from webapp.events import ProblemReported
from webapp.services.ingest.ingest import Ingest
from webapp.services.session.environment import Environment

# Readers are kept because they remember what they decoded; another one decodes an older file again when it grows.
READERS_KEPT = 48


@dataclass(slots=True)
class _Open:
    """A session that is being followed. `held` are facts that wait for its first message."""

    reader: Reader
    held: list[Record] = field(default_factory=list)


class Following:
    """The use case of following transcripts."""

    def __init__(
        self,
        environment: Environment,
        ingest: Ingest,
        extra: tuple[Path, ...] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._environment, self._store, self._ingest = environment, environment.store, ingest
        self._extra, self._env = extra, env or {}
        self._files: dict[Path, TranscriptFile] = {}
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._lock = threading.Lock()

    # -- which files

    def roots(self) -> list[Path]:
        """Return the folders that are followed, existing or not."""
        found = [root for agent in AGENTS.values() for root in agent.roots(self._env)]
        return list(dict.fromkeys([*found, *self._extra]))

    def discover(self) -> list[TranscriptFile]:
        """Return all transcripts below the roots, newest first."""
        found: dict[str, TranscriptFile] = {}
        for agent in AGENTS.values():
            for root in dict.fromkeys([*agent.roots(self._env), *self._extra]):
                for file in agent.discover(root):
                    found.setdefault(file.key, file)
        self._remember(found.values())
        return sorted(found.values(), key=lambda file: -file.modified)

    def files_at(self, path: Path) -> list[TranscriptFile]:
        """Return the transcripts that a changed file is or belongs to."""
        known = self._files.get(path)
        if known is not None and not known.shared:
            return [known]
        for agent in AGENTS.values():
            for root in [*agent.roots(self._env), *self._extra]:
                if not path.is_relative_to(root):
                    continue
                if found := agent.files_at(path):
                    self._remember(found)
                    return found
        return []

    def _remember(self, files: Iterable[TranscriptFile]) -> None:
        with self._lock:
            self._files.update({file.path: file for file in files})

    # -- reading one

    def look(self, file: TranscriptFile, stop: threading.Event | None = None) -> int:
        """Append the records that the log does not have, and return the number of new messages.

        A file of a deleted session adds nothing; neither does one that a link leads out of the followed folders. What
        cannot be read is noted on the session. Once `stop` is set it ends with the portion it is at; the rest comes
        with the next look.
        """
        if self._deleted(file) or self._leads_out(file.path):
            return 0
        stored = self._store.small.file(file.key)
        position: Position = stored[1] if stored is not None else {}
        with self._lock:
            opened = self._open.pop(file.key, None)
        keep = opened is not None
        opened = opened or _Open(AGENTS[file.source].reader(file, position))
        added = 0
        for portion in opened.reader.read():
            keep = True
            added += self._take(file, opened, portion)
            if stop is not None and stop.is_set():
                break
        if keep:  # a reader that failed is not kept: the next look continues from the stored position
            with self._lock:
                self._open[file.key] = opened
                while len(self._open) > READERS_KEPT:
                    self._open.popitem(last=False)
        return added

    def _take(self, file: TranscriptFile, opened: _Open, portion: Portion) -> int:
        """Append a portion, with the facts held before it, and store the position after it."""
        if portion.restarted:
            opened.held = []
            self._count_from_zero(file)
        opened.held += portion.records
        if opened.held and not self._begun(file, opened.held):
            return 0
        records, opened.held = opened.held, []
        added = 0
        if records:
            # The problem of a file that is not text is not counted again after a restart.
            took = self._ingest.append_records(
                file.session_id, records, whole_file=portion.unreadable, file=file.path.name
            )
            added = len(took.nos)
        stored = self._store.small.file(file.key)
        if stored is None or stored[1] != portion.position:
            with self._store.write(file.session_id):
                now = self._environment.clock()
                self._store.small.put_file(file.key, file.session_id, portion.position, now)
        return added

    def _leads_out(self, path: Path) -> bool:
        """Return whether a path leads out of every followed folder it lies in; looked at each time, as files change."""
        own = [root for root in self.roots() if path.is_relative_to(root)]
        return bool(own) and all(leads_out(path, root) for root in own)

    def _deleted(self, file: TranscriptFile) -> bool:
        found = self._store.sessions.find(file.session_id)
        return found is not None and found.deleted_at is not None

    def _begun(self, file: TranscriptFile, records: list[Record]) -> bool:
        """Return whether there is a session for a file; one is created once there is something to show."""
        if all(isinstance(record, Meta | Unknown) for record in records):
            return self._store.sessions.find(file.session_id) is not None
        row = self._ingest.ensure(
            file.session_id, file.source, parent_id=file.parent_id, path=str(file.path), title=file.title,
            agent_type=file.agent_type,
        )  # fmt: skip
        return row is not None

    def _count_from_zero(self, file: TranscriptFile) -> None:
        """Forget how much of a file could not be read, because it is read from its start again."""
        row = self._store.sessions.find(file.session_id)
        if row is not None and (row.malformed or row.unknown):
            with self._store.write(file.session_id):
                self._store.sessions.update(row.key, malformed=0, unknown=0)

    def failed(self, file: TranscriptFile, error: Exception) -> None:
        """Report that a file could not be followed; the others go on."""
        text = str(error) if isinstance(error, CoppiceError) else f"{type(error).__name__}: {error}"
        found = self._store.sessions.find(file.session_id)
        known = file.session_id if found is not None and found.deleted_at is None else None
        self._environment.bus.publish(ProblemReported(known, f"{file.path.name} could not be read: {text}"))

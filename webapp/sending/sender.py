"""Follows the transcripts of this machine into a backlog, and sends it: two threads besides those of the watcher."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from webapp.agents.following import FollowedFiles
from webapp.agents.reading.readers import Chunk, Position, digest_of
from webapp.agents.record_json import records_to_json
from webapp.agents.records import Compaction, Entry, Meta, Record, TranscriptFile, path_of
from webapp.redaction import Redactor
from webapp.sending.backlog import Backlog, Damaged, QueuedChunk
from webapp.sending.server import Denied, Rejected, TeamServer, Unreachable

log = logging.getLogger("coppice.follow")

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
# Between two tries while the server accepts nothing until somebody changes something.
DENIED_PAUSE = 60.0
# Between two tries to write to a disk that is full.
DISK_PAUSE = 10.0
# After this time the server is asked again what it has, because a backup may have been restored, or it was updated.
COMPARE_SECONDS = 3600.0


class SentFiles(FollowedFiles):
    """The transcripts of this machine, read into the backlog up to `limit` bytes of it."""

    def __init__(
        self,
        backlog: Backlog,
        who: Mapping[str, str],
        extra: tuple[Path, ...],
        env: Mapping[str, str],
        redactor: Redactor | None,
        limit: int,
    ) -> None:
        super().__init__(extra, env)
        self._backlog, self._who, self._redactor, self._limit = backlog, who, redactor, limit
        self.closed = threading.Event()
        self.unwanted: set[str] = set()  # files that the server does not accept
        self._disk_failed = False

    def position(self, file: TranscriptFile) -> Position | None:
        """Return the position up to which a file was read; None if the server does not accept it."""
        return None if file.key in self.unwanted else self._backlog.position(file.key)

    def is_known(self, file: TranscriptFile) -> bool:
        """Return whether a part of a file was sent, or waits."""
        return bool(self._backlog.position(file.key))

    def receive(self, file: TranscriptFile, chunk: Chunk, before: Position) -> int:
        """Add a chunk to the backlog, once there is room."""
        with self._backlog.changed:
            while self._backlog.size >= self._limit and self._can_drain() and not self.closed.is_set():
                self._backlog.changed.wait(1.0)
        about = {
            "key": file.key, "source": file.source, "session_id": file.session_id, "parent_id": file.parent_id,
            "title": self._without_credentials(file.title), "agent_type": file.agent_type,
        }  # fmt: skip
        header = {
            **self._who, "file": about, "before": digest_of(before), "after": chunk.position,
            "restarted": chunk.restarted, "unreadable": chunk.unreadable,
        }  # fmt: skip
        records = [self._redacted(record) for record in chunk.records]
        if not self._put(file.key, header, records_to_json(records)):  # read again after the next start
            self.forget(file.key)
            return 0
        return sum(isinstance(record, Entry) for record in records)

    def _can_drain(self) -> bool:
        """Return whether something waits that the server has not refused."""
        return self._backlog.first(self.unwanted) is not None

    def _put(self, key: str, header: dict[str, object], records: bytes) -> bool:
        """Store a chunk, waiting for a disk that is full; return False if the end came first."""
        while not self.closed.is_set():
            try:
                self._backlog.put(key, header, records)
            except OSError as error:
                if not self._disk_failed:
                    log.warning("reading pauses, because the backlog cannot be written: %s", error)
                self._disk_failed = True
                self.closed.wait(DISK_PAUSE)
            else:
                self._disk_failed = False
                return True
        return False

    def failed(self, file: TranscriptFile, error: Exception) -> None:
        """Log that a file could not be read; the others go on."""
        log.warning("%s could not be read: %s", file.path, error)

    def _redacted(self, record: Record) -> Record:
        if self._redactor is None:
            return record
        if isinstance(record, Entry):
            message, _ = self._redactor.redact_message(record.message)
            return replace(
                record, message=message, raw=self._redactor.redact_bytes(record.raw) if record.raw else None
            )
        if isinstance(record, Meta):
            return replace(record, title=self._without_credentials(record.title))
        if isinstance(record, Compaction) and record.replacement:
            entries = (self._redacted(entry) for entry in record.replacement)
            return replace(record, replacement=tuple(one for one in entries if isinstance(one, Entry)))
        return record

    def _without_credentials(self, title: str | None) -> str | None:
        return self._redactor.redact_text(title, Counter()) if self._redactor is not None and title else title


class Sender:
    """A thread that sends the backlog, one chunk after another. `reread` has a file read once more."""

    def __init__(
        self,
        server: TeamServer,
        backlog: Backlog,
        files: SentFiles,
        who: Mapping[str, str],
        reread: Callable[[Path], None],
    ) -> None:
        self._server, self._backlog, self._files, self._who = server, backlog, files, who
        self._reread = reread
        self._compared_at: float | None = None
        # Files that are tried again after the next comparison, with the reason for their refusal.
        self._refused: dict[str, str] = {}
        self._logged = ""
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)

    def compare(self) -> None:
        """Ask the server for its positions, and read again what it lacks. Raises Unreachable or Denied."""
        for key, position in self._server.differing(self._who, self._backlog.acknowledged()).items():
            if path_of(key).exists() or not self._backlog.waits(key):
                self._continue_at(key, position)
        for key in self._files.unwanted.intersection(self._refused):
            self._files.unwanted.discard(key)
            self._reread(path_of(key))
        self._compared_at = time.monotonic()

    def start(self) -> None:
        """Send from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Stop sending; what was not acknowledged stays in the backlog."""
        self._files.closed.set()
        with self._backlog.changed:
            self._backlog.changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def _run(self) -> None:
        pause = FIRST_PAUSE
        while not self._files.closed.is_set():
            try:
                self._send_all()
                pause = FIRST_PAUSE
            except Unreachable as error:
                self._log_state(f"{error}; until then new lines wait in {self._backlog.folder}")
                self._files.closed.wait(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            except Denied as error:
                self._log_state(f"{error}; until then new lines wait in {self._backlog.folder}")
                self._files.closed.wait(DENIED_PAUSE)
            except Exception:
                log.exception("a part of a transcript could not be sent")
                self._files.closed.wait(LONGEST_PAUSE)

    def _send_all(self) -> None:
        """Send what waits and what comes, until closed. Raises Unreachable or Denied."""
        while not self._files.closed.is_set():
            if self.send_next():
                self._log_state("")
                continue
            with self._backlog.changed:
                if self._backlog.first(self._files.unwanted) is None and not self._files.closed.is_set():
                    self._backlog.changed.wait(1.0)

    def send_next(self) -> bool:
        """Send the chunk that has waited longest; return False if none waits. Raises Unreachable or Denied."""
        if self._compared_at is None or time.monotonic() - self._compared_at >= COMPARE_SECONDS:
            self.compare()
        one = self._backlog.first(self._files.unwanted)
        if one is not None:
            self._send(one)
        return one is not None

    def _send(self, one: QueuedChunk) -> None:
        exists = path_of(one.key).exists()
        try:
            answer = self._server.push(self._backlog.body(one))
            if answer["state"] == "behind":
                if exists:
                    self._continue_at(one.key, answer["position"])
                    return
                # The transcript is gone, so that what waits is all there is of it.
                answer = self._server.push(self._backlog.body(one, digest_of(answer["position"])))
        except Damaged as error:
            log.warning("%s; its part of %s is %s", error, one.key, "read again" if exists else "lost")
            if exists:
                self._continue_at(one.key, self._backlog.acknowledged_position(one.key))
            else:
                self._backlog.drop(one)
            return
        except Rejected as error:
            self._set_aside(one, error)
            return
        if answer["state"] == "deleted":
            self._files.unwanted.add(one.key)
            self._backlog.discard(one.key)
        else:
            self._backlog.acknowledge(one)

    def _continue_at(self, key: str, position: Position) -> None:
        """Read a transcript again from the position that the server has."""
        self._backlog.reset(key, position)
        self._files.forget(key)
        self._reread(path_of(key))

    def _set_aside(self, one: QueuedChunk, error: Rejected) -> None:
        """Send nothing more of a transcript for now, so that the others go on."""
        self._files.unwanted.add(one.key)
        if error.foreign:
            self._backlog.discard(one.key)
        elif self._refused.get(one.key) == str(error):
            return
        else:
            self._refused[one.key] = str(error)
        until = "until the next start" if error.foreign else "for an hour"
        log.warning("%s is not sent %s: %s", one.key, until, error)

    def _log_state(self, message: str) -> None:
        """Log a state of the server once; an empty message means that it accepts lines again."""
        if message != self._logged and (message or self._logged):
            log.warning("%s", message or f"{self._server.address} accepts lines again")
        self._logged = message

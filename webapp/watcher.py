"""Follows files. Changed files are read at once; at the start, a backlog of existing files is read beside them.

Three threads: one watches for changes, one reads changed files, one reads the backlog, newest first. Only one thread
at a time reads a file. A failure is reported and does not affect other files.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from webapp.agents.following import FollowedFiles
from webapp.agents.reading.file_changes import changes
from webapp.agents.records import TranscriptFile
from webapp.errors import BusyStore

log = logging.getLogger(__name__)

# A failed file is retried when it changes, or after this time if the database was busy.
RETRY_SECONDS = 2.0


class Watcher:
    """Follows files between `start` and `stop`, which any thread may call, also twice."""

    def __init__(self, following: FollowedFiles) -> None:
        self.following = following
        self._stop = threading.Event()
        self._ready = threading.Condition()
        self._live: dict[Path, None] = {}
        # Changed files that are not followed yet: they wait for those that are.
        self._new: dict[Path, None] = {}
        self._backlog: list[TranscriptFile] = []
        self._busy: set[Path] = set()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start following; the first scan and the backlog run in the background."""
        if self._threads:
            return
        self._stop.clear()
        for name, run in (
            ("changes", self._find_changes),
            ("live files", self._work_live),
            ("backlog", self._work_backlog),
        ):
            thread = threading.Thread(target=run, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Stop following, after the parts being read are in the log."""
        self._stop.set()
        with self._ready:
            self._ready.notify_all()
        for thread in self._threads:
            thread.join(timeout=10)
        self._threads.clear()
        self.following.forget_all()

    def reread(self, path: Path) -> None:
        """Read a file as if it had changed."""
        self._changed([path])

    def _changed(self, paths: Iterable[Path]) -> None:
        with self._ready:
            for path in paths:
                (self._live if self.following.knows(path) else self._new)[path] = None
            self._ready.notify_all()

    # -- finding changes

    def _find_changes(self) -> None:
        try:
            self._scan()
            first = True
            for changed in changes(self.following.roots(), self.following.endings(), self._stop):
                paths = changed
                if first:  # existing files are in the backlog, which also reads changes since the scan
                    first = False
                    paths = paths - self._waiting()
                self._changed(sorted(paths))
        except Exception:
            log.exception("cannot follow files any more")

    def _scan(self) -> None:
        files = self.following.discover()
        with self._ready:
            self._backlog = files[::-1]
            self._ready.notify_all()

    def _waiting(self) -> set[Path]:
        with self._ready:
            return {file.path for file in self._backlog} | self._busy

    # -- reading files

    def _work_live(self) -> None:
        while not self._stop.is_set():
            with self._ready:
                path = next((p for p in chain(self._live, self._new) if p not in self._busy), None)
                if path is None:
                    self._ready.wait(0.2 if self._live or self._new else 1.0)
                    continue
                self._live.pop(path, None)
                self._new.pop(path, None)
                self._busy.add(path)
            self._read_path(path, None)

    def _work_backlog(self) -> None:
        while not self._stop.is_set():
            with self._ready:
                file = self._backlog[-1] if self._backlog else None
                if file is None:
                    self._ready.wait(1.0)
                    continue
                self._backlog.pop()
                if file.path in self._busy:
                    if file.shared:  # it holds several sessions, perhaps not the one being read
                        self._backlog.insert(0, file)
                        self._ready.wait(0.2)
                    continue
                self._busy.add(file.path)
            self._read_path(file.path, file)

    def _read_path(self, path: Path, file: TranscriptFile | None) -> None:
        try:
            for one in [file] if file is not None else self.following.files_at(path):
                if self._stop.is_set():
                    return
                if one.path != path and not one.shared:
                    self.reread(one.path)  # another thread can be reading it
                else:
                    self._read_file(one)
        except Exception:
            log.exception("%s could not be looked up", path)
        finally:
            with self._ready:
                self._busy.discard(path)
                self._ready.notify_all()

    def _read_file(self, file: TranscriptFile) -> None:
        try:
            self.following.read_new(file, self._stop)
        except Exception as error:  # noqa: BLE001  # one broken file never stops the others
            log.warning("%s could not be read: %s", file.path, error)
            self._report(file, error)

    def _report(self, file: TranscriptFile, error: Exception) -> None:
        try:
            self.following.failed(file, error)
        except Exception:
            log.exception("a failure could not be reported")
        if isinstance(error, BusyStore) and not self._stop.wait(RETRY_SECONDS):
            self.reread(file.path)

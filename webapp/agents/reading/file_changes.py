"""Changes of files below some folders, and of single files, as they happen.

The system reports them (through watchfiles). If it cannot, and every `RESCAN_SECONDS` to be sure, a walk over the
folders finds them. Folders can appear later, with files in them. Nothing is opened.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

from watchfiles import Change, watch

from webapp.agents.reading.finding import walk

log = logging.getLogger(__name__)

FALLBACK_SECONDS = 2.0
RESCAN_SECONDS = 30.0
# The error that ends the reports when a file changes whose name is not UTF-8; new reports can begin behind it.
UNDECODABLE = "Unable to decode path"
# A change is reported after one or two of these without another one.
STEP_MS = 20


class Snapshot:
    """Sizes and times of the files below some folders, to find those that changed since the last walk.

    Only files whose names have one of the `endings` count, such as ".jsonl", and roots that are files.
    """

    def __init__(self, roots: Sequence[Path], endings: tuple[str, ...]) -> None:
        self._roots, self._endings = roots, endings
        self._seen: dict[str, tuple[int, int, int]] = {}

    def changed(self) -> set[Path]:
        """Return the files that are new or different since the last call; the first call returns all."""
        now = {
            path: (about.st_size, about.st_mtime_ns, about.st_ino)
            for root in self._roots
            for path, about in self._below(root)
        }
        changed = {Path(path) for path, look in now.items() if self._seen.get(path) != look}
        self._seen = now
        return changed

    def _below(self, root: Path) -> Iterator[tuple[str, os.stat_result]]:
        with suppress(OSError):
            if S_ISREG((about := root.stat()).st_mode):
                yield str(root), about
        for entry, about in walk(str(root)):
            if entry.name.endswith(self._endings):
                yield entry.path, about

    def files(self, batch: Iterable[tuple[Change, str]]) -> set[Path]:
        """Return the files of a batch, and those in new folders, which can be older than the watch on the folder."""
        found: set[Path] = set()
        for change, path in batch:
            if change == Change.deleted:
                continue
            if path.endswith(self._endings) or (Path(path) in self._roots and Path(path).is_file()):
                found.add(Path(path))
            elif change == Change.added and Path(path).is_dir():
                found.update(
                    Path(entry.path) for entry, _ in walk(path) if entry.name.endswith(self._endings)
                )
        return found


def changes(roots: Sequence[Path], endings: tuple[str, ...], stop: threading.Event) -> Iterator[set[Path]]:
    """Yield sets of files that changed and have one of the endings, until `stop` is set. The first set is all of them.

    Where the system reports no changes (exhausted watches), the folders are walked every `FALLBACK_SECONDS`. Deleted
    files are not included. A set can include files that did not change; a change is missed for at most
    `RESCAN_SECONDS`.
    """
    snapshot = Snapshot(roots, endings)
    if found := snapshot.changed():
        yield found
    has_reports = True
    while not stop.is_set():
        if has_reports:
            try:
                yield from _reported(roots, stop, snapshot)
                continue
            except (OSError, RuntimeError) as error:  # watchfiles' own error is a RuntimeError
                # A root that is a file can vanish before it is watched.
                has_reports = UNDECODABLE in str(error) or isinstance(error, FileNotFoundError)
                if not has_reports:
                    log.warning(
                        "changes are not reported by the system; looking every few seconds instead: %s", error
                    )
        stop.wait(FALLBACK_SECONDS)
        if not stop.is_set() and (found := snapshot.changed()):
            yield found


def _reported(roots: Sequence[Path], stop: threading.Event, snapshot: Snapshot) -> Iterator[set[Path]]:
    """Yield changes as the system reports them, until a root appears or vanishes."""
    there = [root for root in roots if root.exists()]
    if not there:
        stop.wait(1.0)
        if any(root.exists() for root in roots):
            yield snapshot.changed()
        return
    looked = float("-inf")  # what changed before the reports began is found at once
    for batch in watch(
        *there, watch_filter=None, stop_event=stop, debounce=200, step=STEP_MS, rust_timeout=1000,
        yield_on_timeout=True, raise_interrupt=False, ignore_permission_denied=True,
    ):  # fmt: skip
        if found := snapshot.files(batch):
            yield found
        if time.monotonic() - looked >= RESCAN_SECONDS:
            looked = time.monotonic()
            if missed := snapshot.changed() - found:
                yield missed
        if [root for root in roots if root.exists()] != there:
            yield snapshot.changed()
            return

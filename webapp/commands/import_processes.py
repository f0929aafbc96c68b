"""Imports a large folder in two processes, each of which reads, counts and writes one file at a time.

Most of an import is decoding and counting, outside of any transaction; the store lets one process write at a time.
Files of one name (copies of a session) are imported by the same process. Results come in a fixed order, whichever
process is faster. If a process ends before its file is done, only that file fails.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from scoring.errors import ScoringError
from webapp.app import App
from webapp.commands.common import opened
from webapp.config import Database
from webapp.errors import BusyStore, CoppiceError, NoSession, StoreError
from webapp.services.transfer.answers import ImportedSession

PROCESSES = 2
# Bytes. Each process takes about two seconds of a processor to start; one process imports some 16 MB in that time.
TOGETHER_FROM = 150 << 20
TRIES = 3  # where the other process keeps the store locked
ENDED = "the process that imported it ended before it was done; import this file again on its own"


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options of an import: into which database, in which format, and of which model if a file names none."""

    db: Database | None
    file_format: str
    model: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of importing a file: its sessions, or the reason why it has none or could not be read.

    `stopped`: the database could not be written, so that nothing more can be imported.
    """

    sessions: list[ImportedSession] = field(default_factory=list)
    nothing: str = ""
    failure: str = ""
    stopped: str = ""


def imported(
    app: App, file: Path, how: ImportOptions, progress: Callable[[int, int], None] | None = None
) -> Outcome:
    """Import one file; `progress` is called with the number of bytes read so far and the file's size.

    Raises:
        StoreError: the database cannot be written.
    """
    try:
        with file.open("rb") as opened_file:
            sessions = app.importing.import_file(
                file.name, opened_file, format=how.file_format, model=how.model, progress=progress, place=file
            )
    except StoreError:
        raise
    except NoSession as error:
        return Outcome(nothing=str(error))
    except (CoppiceError, ScoringError) as error:
        return Outcome(failure=str(error).removeprefix(file.name + ": "))
    except OSError as error:
        return Outcome(failure=(error.strerror or str(error)).lower())
    return Outcome(sessions)


def worth_two_processes(sizes: Sequence[int]) -> bool:
    """Return whether two processes import files of these sizes, in bytes, sooner than one."""
    return len(sizes) > 1 and sum(sizes) >= TOGETHER_FROM and _processors() >= PROCESSES


def _processors() -> int:
    """Return the number of processors that this process can use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def imported_together(files: Sequence[Path], how: ImportOptions) -> Iterator[tuple[Path, Outcome]]:
    """Yield each file with the result of its import: in the order of the files, those of one name together.

    Raises:
        StoreError: the database cannot be written.
    """
    by_name: dict[str, list[Path]] = {}
    for file in files:
        by_name.setdefault(file.name, []).append(file)
    for file, outcome in _outcomes(list(by_name.values()), how):
        if outcome.stopped:
            raise StoreError(outcome.stopped)
        yield file, outcome


def _outcomes(groups: list[list[Path]], how: ImportOptions) -> Iterator[tuple[Path, Outcome]]:
    done = 0
    with _pool(PROCESSES) as pool:
        running = [pool.submit(_import_all, group, how) for group in groups]
        try:
            for group, future in zip(groups, running, strict=True):
                yield from zip(group, future.result(), strict=True)
                done += 1
        except BrokenProcessPool:  # one of the files being read broke it; which one is unknown
            pass
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    for group in groups[done:]:
        with _pool(1) as alone:
            try:
                outcomes = alone.submit(_import_all, group, how).result()
            except BrokenProcessPool:
                outcomes = [Outcome(failure=ENDED)] * len(group)
        yield from zip(group, outcomes, strict=True)


def _pool(processes: int) -> ProcessPoolExecutor:
    # A forked child would share the locks of threads that it does not have.
    return ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=_prepare)


def _prepare() -> None:
    """Let Ctrl-C end this process without a traceback, and the end of its parent too; the store loses nothing by it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End once the parent has, however it died: nobody would read the results, or ask for more."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _import_all(group: Sequence[Path], how: ImportOptions) -> list[Outcome]:
    """Import files one after the other in this process, which keeps the database open for the next ones."""
    return [_import_one(file, how) for file in group]


def _import_one(file: Path, how: ImportOptions) -> Outcome:
    app, stopped = _app_of(how.db), ""
    for _ in range(TRIES):
        try:
            return imported(app, file, how)
        except BusyStore as error:
            stopped = str(error)
        except StoreError as error:
            return Outcome(stopped=str(error))
        except Exception as error:  # noqa: BLE001  # a fault of ours fails this file, not the others
            return Outcome(failure=f"could not be imported: {type(error).__name__}: {error}")
    return Outcome(stopped=stopped)


@cache
def _app_of(db: Database | None) -> App:
    """Return the application over the database, opened once in this process and closed with it."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(opened(db))

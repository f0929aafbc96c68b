"""Errors of SQLite and of the system under it as our own, which say what to do."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from webapp.errors import BusyStore, DamagedStore, FullDisk, ReadOnlyStore, RefusedRow, StoreError

# The beginning of Python's error for a text that is not UTF-8.
NOT_UTF8 = "Could not decode to UTF-8"
INDEX_BYTES = 32 << 10  # by which the shared index grows (WALINDEX_PGSZ)
# Errors of access to a disk, other than those of reading.
WRITING = (
    *(sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC),
    *(sqlite3.SQLITE_IOERR_TRUNCATE, sqlite3.SQLITE_IOERR_DELETE, sqlite3.SQLITE_FULL),
)


@contextmanager
def translated(doing: str, path: Path, target: Path | None = None) -> Iterator[None]:
    """Raise errors of SQLite and the system as ours, with the cause chained; those of writing name a given `target`."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        at = target if target is not None and _is_of_writing(error) else path
        raise store_error(error, doing, at) or error from error


def _is_of_writing(error: sqlite3.Error | OSError) -> bool:
    """Return whether writing a copy failed, and not reading its source, of which the system itself reports nothing."""
    code = getattr(error, "sqlite_errorcode", 0)
    return isinstance(error, OSError) or code in WRITING


def store_error(error: BaseException, doing: str, path: Path) -> StoreError | None:
    """Return an error of SQLite or the system as ours; None for any other error."""
    if isinstance(error, sqlite3.OperationalError):
        return _operational(error, doing, path)
    if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError | sqlite3.InterfaceError):
        return RefusedRow(f"{doing} {path} failed: {error}")
    if isinstance(error, sqlite3.DatabaseError):
        return _damaged(path, str(error))
    if isinstance(error, OSError):
        return StoreError(f"{doing} {path} failed: {error.strerror or error}")
    return None


def _is_full(folder: Path) -> bool:
    """Return whether a disk has no room for the shared index, with which SQLite begins even to read."""
    try:
        return shutil.disk_usage(folder).free < INDEX_BYTES
    except OSError:
        return False


def read_only_store(path: Path) -> ReadOnlyStore:
    """Return the error of a write to a database that cannot be written to."""
    return ReadOnlyStore(f"{path} is read-only: looking works, nothing can be stored")


def _damaged(path: Path, reason: str) -> DamagedStore:
    return DamagedStore(
        f"{path} is not a sound database: {reason}; put a copy back (`coppice restore`) or name another file"
    )


def _operational(error: sqlite3.OperationalError, doing: str, path: Path) -> StoreError:
    text = str(error)
    if text.startswith(NOT_UTF8):  # the rest is the content of the row
        return _damaged(path, NOT_UTF8)
    if "locked" in text or "busy" in text:
        return BusyStore(f"the database {path} is busy: another process is writing; try again")
    if "full" in text or ("disk I/O" in text and _is_full(path.parent)):
        return FullDisk(f"no room left for {path}; nothing was stored. Free some space and try again")
    if "readonly" in text:
        return read_only_store(path)
    return StoreError(f"{doing} {path} failed: {text}")

"""Copies of a database, made while others write to it, and put back as a whole or not at all."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from webapp.errors import Conflict, DamagedStore
from webapp.store.private import OWNER_ONLY

# Pages that are copied at a time, so that writers get in between.
PAGES = 1_000


def back_up(source: Path, target: Path) -> None:
    """Copy a database to a new file. The copy is complete and synced to the disk, or there is none.

    Raises:
        Conflict: there is a file of that name, or one appears while the copy is made.
        DamagedStore: the copy is not sound, because the original is not.
        sqlite3.Error, OSError: it cannot be read or written.
    """
    taken = Conflict(f"{target} exists already; name another file")
    if os.path.lexists(target):
        raise taken
    part = target.with_name(f"{target.name}.part-{os.getpid()}")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))
        with closing(read_only(source)) as there, closing(sqlite3.connect(part)) as here:
            there.backup(here, pages=PAGES)
            here.execute("PRAGMA journal_mode=DELETE")  # one file, which can be moved as it is
            check(here, part)
        _synced(part)
        _name(part, target)
        _synced(target.parent)
    except FileExistsError as error:
        raise taken from error
    finally:
        for left in (part, part.with_name(f"{part.name}-journal")):
            with suppress(OSError):
                left.unlink()


def _name(part: Path, target: Path) -> None:
    """Give a file its name, or raise FileExistsError if another file has it."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # a disk without hard links: the name is taken by an empty file first
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))
        part.replace(target)


def put_back(source: Path, target: Path) -> None:
    """Replace the contents of a database by those of a copy, in one transaction.

    Raises:
        Conflict: another process has the database open.
        DamagedStore: the copy is not a sound database.
        sqlite3.Error, OSError: it cannot be read or written.
    """
    with closing(read_only(source)) as there, closing(sqlite3.connect(target, timeout=0)) as here:
        check(there, source)
        try:
            here.execute("PRAGMA locking_mode=EXCLUSIVE")
            here.execute("BEGIN EXCLUSIVE")
            here.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise Conflict(f"{target} is in use: stop `coppice serve` first ({error})") from error
        there.backup(here)
        here.execute("PRAGMA locking_mode=NORMAL")
        here.execute("PRAGMA journal_mode=WAL")


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise DamagedStore unless every page of a database can be used."""
    try:
        [[said], *_] = connection.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.DatabaseError as error:
        said = str(error)
    if said != "ok":
        raise DamagedStore(f"{path} is not a sound database: {said}")


def read_only(path: Path) -> sqlite3.Connection:
    """Return a read-only connection; immutable if no files can be created beside the database either."""
    alone = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
    name = path.absolute().as_uri() + ("?mode=ro&immutable=1" if alone else "?mode=ro")
    return sqlite3.connect(
        name, uri=True, isolation_level=None, check_same_thread=False, cached_statements=256
    )


def _synced(path: Path) -> None:
    """Sync a file to the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)

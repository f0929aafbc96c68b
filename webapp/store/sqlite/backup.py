"""Copies of a database, made while others write to it, and put back as a whole or not at all."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from webapp.errors import Conflict, DamagedStore
from webapp.store.private import OWNER_ONLY


def back_up(source: Path, target: Path) -> None:
    """Copy a database to a new file. The copy is complete and synced to the disk, or there is none.

    Raises:
        Conflict: there is a file of that name, or one appears while the copy is made.
        DamagedStore: the copy is not sound, because the original is not.
        sqlite3.Error, OSError: it cannot be read or written.
    """
    with closing(read_only(source)) as there:
        _copy(there, target)


def _copy(there: sqlite3.Connection, target: Path) -> None:
    """Copy the database of a connection to a new file, as `back_up` does."""
    taken = Conflict(f"{target} exists already; name another file")
    if os.path.lexists(target):
        raise taken
    part = target.with_name(f"{target.name}.part-{os.getpid()}")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))
        with closing(sqlite3.connect(part)) as here:
            _copy_one_version(there, here)
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


def _copy_one_version(there: sqlite3.Connection, here: sqlite3.Connection) -> None:
    """Copy all pages as they are now. Outside of a transaction each write of another process would begin it again."""
    there.execute("BEGIN")
    try:
        there.execute("SELECT 1 FROM sqlite_master").fetchone()
        there.backup(here)
    finally:
        there.rollback()


def _name(part: Path, target: Path) -> None:
    """Give a file its name, or raise FileExistsError if another file has it."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # a disk without hard links: the name is taken by an empty file first
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))
        part.replace(target)


def put_back(source: Path, target: Path, kept: Path) -> bool:
    """Replace a database by a copy of another, and keep what was there as the new file `kept`.

    No other process can write in between: the lock is held from before the first copy. A damaged database cannot be
    copied; its files are renamed to `kept` as they are. Return False if there was no database.

    Raises:
        Conflict: another process has the database open, or `kept` exists.
        DamagedStore: the copy is not a sound database.
        sqlite3.Error, OSError: it cannot be read or written.
    """
    with closing(read_only(source)) as there:
        check(there, source)
        if not target.exists():
            _copy(there, target)
            return False
        with closing(sqlite3.connect(target, timeout=0)) as here:
            if damaged := not (_locked(here, target) and _copied(here, kept)):
                _move(target, kept)
            else:
                with _on_failure(kept.unlink):
                    there.backup(here)
                here.execute("PRAGMA locking_mode=NORMAL")
                here.execute("PRAGMA journal_mode=WAL")
        if damaged:
            with _on_failure(lambda: _move(kept, target)):
                _copy(there, target)
    return True


@contextmanager
def _on_failure(take_back: Callable[[], object]) -> Iterator[None]:
    """Take an earlier step back if the block fails, so that everything is as it was."""
    try:
        yield
    except BaseException:
        take_back()
        raise


def _locked(connection: sqlite3.Connection, path: Path) -> bool:
    """Lock a database until the connection is closed; return False if it is too damaged for that.

    Raises:
        Conflict: another process has it open.
        sqlite3.OperationalError: it cannot be read or written.
    """
    try:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        raise Conflict(f"{path} is in use: stop `coppice serve` first ({error})") from error
    except sqlite3.DatabaseError:
        return False
    return True


def _copied(connection: sqlite3.Connection, kept: Path) -> bool:
    """Copy a database to `kept`; return whether it was sound. Raises Conflict, sqlite3.Error, OSError."""
    try:
        _copy(connection, kept)
    except (DamagedStore, sqlite3.DatabaseError) as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        return False
    return True


def _move(target: Path, kept: Path) -> None:
    """Rename a database and its log. Raises Conflict, OSError."""
    if os.path.lexists(kept):
        raise Conflict(f"{kept} exists already; try again")
    for end in ("-shm", "-wal", ""):
        with suppress(FileNotFoundError):
            target.with_name(target.name + end).rename(kept.with_name(kept.name + end))


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
    if not alone:
        _roll_back(path)
    name = path.absolute().as_uri() + ("?mode=ro&immutable=1" if alone else "?mode=ro")
    return sqlite3.connect(
        name, uri=True, isolation_level=None, check_same_thread=False, cached_statements=256
    )


def _roll_back(path: Path) -> None:
    """Undo the change in which a process was killed; a read-only connection can neither do that nor read before it.

    Only creating a database and putting a copy back use the journal that this needs; later changes use another one.
    """
    if path.with_name(path.name + "-journal").exists() and os.access(path, os.W_OK):
        with closing(sqlite3.connect(path.absolute().as_uri() + "?mode=rw", uri=True)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()


def _synced(path: Path) -> None:
    """Sync a file to the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)

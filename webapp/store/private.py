"""Files that only their owner can read: the database, its logs and its copies hold private sessions."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from webapp.errors import Conflict

OWNER_ONLY, OWNER_FOLDER = 0o600, 0o700
# Suffixes of the files that SQLite keeps beside a database, and of the database itself.
BESIDE = ("", "-wal", "-shm", "-journal")


def make_folder(folder: Path, *, own: bool) -> None:
    """Create a folder that only its owner can enter; an existing one is closed to others only if it is our `own`.

    Raises:
        OSError: it cannot be created.
    """
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=OWNER_FOLDER, exist_ok=True)
    elif own:
        with suppress(OSError):  # another user's, or a system without modes
            folder.chmod(OWNER_FOLDER)


def make_private(database: Path) -> None:
    """Make a database and the files beside it private; create an empty database if there is none.

    SQLite creates its files beside a database with the same mode. A file of another user stays as it is.

    Raises:
        OSError: it cannot be created.
    """
    with suppress(FileExistsError):
        os.close(os.open(database, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))
    for ending in BESIDE:
        close_to_others(Path(f"{database}{ending}"))


def close_to_others(file: Path) -> None:
    """Let only its owner read and write a file, if it exists and is ours."""
    with suppress(OSError):
        mode = file.stat().st_mode & 0o777
        if mode & ~OWNER_ONLY:
            file.chmod(mode & OWNER_ONLY)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file that takes this name, with the mode of the file it replaces, once all of it is written.

    Links are not followed, and no incomplete file is left. A device or a pipe is written to directly.

    Raises:
        Conflict: the name is that of a link.
        OSError: it cannot be written.
    """
    there = path.lstat() if os.path.lexists(path) else None
    if there is not None and stat.S_ISLNK(there.st_mode):
        raise Conflict(f"{path} is a link; name the file itself")
    with naming(path):
        if there is not None and not stat.S_ISREG(there.st_mode):
            with path.open("wb") as file:
                yield file
            return
        number, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(number, "wb") as file:
                yield file
            os.chmod(part, OWNER_ONLY if there is None else stat.S_IMODE(there.st_mode))  # noqa: PTH101
            os.replace(part, path)  # noqa: PTH105
        finally:
            with suppress(OSError):
                os.unlink(part)  # noqa: PTH108


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let errors of the system name this file: those of a write name none, and others one that we made up."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise

"""Files that only their owner reads: the database holds people's sessions, and so do its logs and copies."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

OWNER_ONLY, OWNER_FOLDER = 0o600, 0o700
# What SQLite keeps beside a database.
BESIDE = ("", "-wal", "-shm", "-journal")


def make_folder(folder: Path, *, own: bool) -> None:
    """Make a folder that only its owner enters; one that is there is closed to others if it is our `own`.

    Raises:
        OSError: it cannot be made.
    """
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=OWNER_FOLDER, exist_ok=True)
    elif own:
        with suppress(OSError):  # another user's, or a system without modes
            folder.chmod(OWNER_FOLDER)


def make_private(database: Path) -> None:
    """Close a database, and what is beside it, to others; one that is not there yet is made empty.

    SQLite gives the files beside a database its mode. What cannot be closed stays as it is: the file is another's.

    Raises:
        OSError: it cannot be made.
    """
    with suppress(FileExistsError):
        os.close(os.open(database, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))
    for ending in BESIDE:
        close_to_others(Path(f"{database}{ending}"))


def close_to_others(file: Path) -> None:
    """Let only its owner read and write a file, if it is there and ours."""
    with suppress(OSError):
        mode = file.stat().st_mode & 0o777
        if mode & ~OWNER_ONLY:
            file.chmod(mode & OWNER_ONLY)

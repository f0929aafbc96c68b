"""The backlog of what the server has not acknowledged, on disk.

A chunk is a file of its own in `waiting`, sent in the order of their numbers, and deleted once the server has it.
`acknowledged` has a file for each transcript, with the position up to which the server has it; the server is asked
for its own positions from time to time, and they decide. Both are written beside their place, synced and renamed, so
that a kill leaves the old file or the new one. A chunk begins with a line that is the digest of the rest, because
disks fail too.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from webapp.agents.reading.readers import Position, digest_of
from webapp.agents.reading.rows import digest
from webapp.errors import Conflict

log = logging.getLogger("coppice.follow")


class QueuedChunk(NamedTuple):
    """A chunk that waits: the key of its transcript, the position after it, and its size in bytes."""

    number: int
    key: str
    after: Position
    size: int


class Damaged(Exception):
    """A chunk is not what was written, or its file is gone."""


class Backlog:
    """The backlog for one server. One process at a time holds it.

    Raises:
        Conflict: another process does.
        OSError: the folder cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._waiting_folder, self._acknowledged_folder = folder / "waiting", folder / "acknowledged"
        for one in (folder, self._waiting_folder, self._acknowledged_folder):
            one.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._held = _hold(folder / "lock")
        self.changed = threading.Condition()
        self._waiting: dict[int, QueuedChunk] = {}
        self._acknowledged: dict[str, Position] = {}
        self._last: dict[str, QueuedChunk] = {}
        self._unwritten = False
        self.size = 0  # bytes that wait
        self._load()

    def close(self) -> None:
        """Release the backlog for other processes."""
        self._held.close()

    # -- reading

    def __len__(self) -> int:
        return len(self._waiting)

    def position(self, key: str) -> Position:
        """Return the position after all chunks of a transcript that wait or were acknowledged."""
        with self.changed:
            last = self._last.get(key)
            return last.after if last is not None else self._acknowledged.get(key, {})

    def acknowledged(self) -> dict[str, str]:
        """Return the digest of the acknowledged position of each transcript."""
        with self.changed:
            return {key: digest_of(position) for key, position in self._acknowledged.items()}

    def acknowledged_position(self, key: str) -> Position:
        """Return the position up to which the server has a transcript."""
        with self.changed:
            return self._acknowledged.get(key, {})

    def waits(self, key: str) -> bool:
        """Return whether a chunk of a transcript waits."""
        with self.changed:
            return key in self._last

    def first(self, skipped: Container[str] = ()) -> QueuedChunk | None:
        """Return the chunk to send next, of a transcript that is not skipped."""
        with self.changed:
            return next((one for one in self._waiting.values() if one.key not in skipped), None)

    def body(self, one: QueuedChunk, before: str | None = None) -> bytes:
        """Return the request that pushes a chunk; `before` replaces the digest of the position before it.

        Raises:
            Damaged: the file is; the message names it.
        """
        path = self._path(one.number)
        try:
            found, _, data = path.read_bytes().partition(b"\n")
        except OSError as error:
            raise Damaged(f"{path} cannot be read: {error.strerror}") from error
        if found != digest(data).encode():
            raise Damaged(f"{path} is damaged")
        header, _, records = data.partition(b"\n")
        if before is not None:
            header = orjson.dumps({**orjson.loads(header), "before": before})
        return header[:-1] + b',"records":' + records + b"}"

    # -- changing

    def put(self, key: str, header: dict[str, Any], records: bytes) -> None:
        """Store a chunk: the fields of its request without `records`, and these as a JSON list.

        Raises:
            OSError: the disk is full or cannot be written; nothing is stored.
        """
        with self.changed:
            number = next(reversed(self._waiting), 0) + 1
            data = orjson.dumps(header) + b"\n" + records
            _write(self._path(number), digest(data).encode() + b"\n" + data)
            self._add(QueuedChunk(number, key, header["after"], len(data)))
            self.changed.notify_all()

    def acknowledge(self, one: QueuedChunk) -> None:
        """Delete a chunk that the server has, which makes room on a full disk, and note that it has it."""
        with self.changed:
            self.drop(one)
            self._note(one.key, one.after)

    def drop(self, one: QueuedChunk) -> None:
        """Delete a chunk that cannot be sent, or need not be any more."""
        with self.changed:
            self._path(one.number).unlink(missing_ok=True)
            if (waited := self._waiting.pop(one.number, None)) is not None:
                self.size -= waited.size
                if self._last.get(waited.key) == waited:
                    del self._last[waited.key]
            self.changed.notify_all()

    def reset(self, key: str, position: Position) -> None:
        """Note what the server has of a transcript, and delete what waits of it, to be read again."""
        with self.changed:
            self._note(key, position)
            self.discard(key)

    def discard(self, key: str) -> None:
        """Delete what waits of a transcript."""
        with self.changed:
            for one in [one for one in self._waiting.values() if one.key == key]:
                self.drop(one)

    def _note(self, key: str, position: Position) -> None:
        self._acknowledged[key] = position
        name = digest(key.encode("utf-8", "surrogateescape"))
        try:
            _write(
                self._acknowledged_folder / f"{name}.json", orjson.dumps({"key": key, "position": position})
            )
        except OSError as error:  # the server is asked for it after the next start
            if not self._unwritten:
                log.warning("what the server has cannot be noted in %s: %s", self.folder, error.strerror)
            self._unwritten = True
        else:
            self._unwritten = False

    def _add(self, one: QueuedChunk) -> None:
        self._waiting[one.number] = self._last[one.key] = one
        self.size += one.size

    def _path(self, number: int) -> Path:
        return self._waiting_folder / f"{number:012}.json"

    def _load(self) -> None:
        for half in [*self._acknowledged_folder.glob("*.new"), *self._waiting_folder.glob("*.new")]:
            half.unlink(missing_ok=True)
        for file in self._acknowledged_folder.glob("*.json"):
            with _damaged_deleted(file), file.open("rb") as opened:
                found = orjson.loads(opened.read())
                self._acknowledged[_text(found["key"])] = _object(found["position"])
        for file in sorted(self._waiting_folder.glob("*.json")):
            with _damaged_deleted(file), file.open("rb") as opened:
                opened.readline()
                found = orjson.loads(opened.readline())
                key, after = _text(found["file"]["key"]), _object(found["after"])
                self._add(QueuedChunk(int(file.stem), key, after, file.stat().st_size))


@contextmanager
def _damaged_deleted(file: Path) -> Iterator[None]:
    """Delete a file that is not what was written; its part is read from the transcript again.

    Raises:
        PermissionError: it is another user's. What nobody read is no damage, and the transcript may be gone.
    """
    try:
        yield
    except PermissionError:
        raise
    except (OSError, ValueError, LookupError, TypeError) as error:
        log.warning("%s is damaged and left out: %s", file, error)
        file.unlink(missing_ok=True)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text where a key was written")
    return value


def _object(value: Any) -> Position:
    if not isinstance(value, dict):
        raise TypeError("no object where a position was written")
    return value


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all. Raises OSError."""
    beside = path.with_suffix(".new")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)  # half a file takes the room that the others need
        raise


def _hold(path: Path) -> BinaryIO:
    """Return a file that this process has locked; the system unlocks it when the process ends, however it does."""
    file = path.open("ab")
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise Conflict(f"another `coppice follow` pushes to this server already; it holds {path}") from error
    return file

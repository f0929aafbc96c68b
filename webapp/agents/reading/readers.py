"""Readers: each yields the records of one session since a stored position, and the position after them.

There are two kinds. A `LineReader` follows a file that grows by lines; a `WholeReader` compares a session that
changes in place (a JSON document, rows of a database) with its last version. Positions are JSON-ready and belong to
their reader.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import orjson

from webapp.agents.reading.rows import digest
from webapp.agents.reading.tail import (
    FilePosition,
    FileTail,
    Line,
    LineDecoder,
    Restarted,
    catch_up,
    decode_line,
)
from webapp.agents.records import Problem, Record, TranscriptFile

CHUNK_RECORDS = 400
CHUNK_BYTES = 4 << 20
# A file that was written to within this many seconds can be half written.
FRESH_SECONDS = 5.0

Position = dict[str, Any]
State = dict[str, Any]


def digest_of(position: Position) -> str:
    """Return the digest of a position, by which two machines compare theirs; "" at the start of a file."""
    text = orjson.dumps(position, option=orjson.OPT_SORT_KEYS)
    return digest(text) if position else ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Records in order, and the position after them.

    `restarted`: the file was cut off or replaced and is read from its start, so earlier records can come again.
    `unreadable`: the file is not text, and no other records will follow.
    """

    records: list[Record]
    position: Position
    restarted: bool = False
    unreadable: bool = False


class Reader(Protocol):
    """Reads one session. It can be kept for the next read, or created again from the last position."""

    def read(self) -> Iterator[Chunk]:
        """Yield what is new since the last chunk; nothing if the file has not changed."""


class LineReader:
    """Reads a file of lines. A new reader at a later position decodes the earlier lines again, when that is needed."""

    def __init__(
        self, file: TranscriptFile, position: Position, decoder: Callable[[TranscriptFile], LineDecoder]
    ) -> None:
        self._file, self._position, self._make = file, position, decoder
        self._decoder = decoder(file)
        self._tail: FileTail | None = None

    def read(self) -> Iterator[Chunk]:
        """Yield the records of the new lines, in chunks that end at a line."""
        look = look_of(self._file.path)
        if look is None or look == self._position.get("look"):
            return
        tail, restarted = (self._tail, False) if self._tail is not None else self._opened()
        records, size = list[Record](), 0
        for item in tail.read():
            if isinstance(item, Restarted):
                restarted, self._decoder = True, self._make(self._file)
            elif isinstance(item, Line):
                records += decode_line(self._decoder, item)
                size += len(item.data)
            else:
                records.append(item)
            if len(records) >= CHUNK_RECORDS or size >= CHUNK_BYTES:
                yield self._chunk(tail, records, restarted)
                records, size, restarted = [], 0, False
        yield self._chunk(tail, records, restarted)

    def _opened(self) -> tuple[FileTail, bool]:
        """Go to the stored position; return the lines from there, and True if they are read from the start again.

        They are if the file was replaced, or if the position is damaged: then it could never be read on.
        """
        position, restarted = FilePosition(), False
        if self._position:
            try:
                position = FilePosition.from_dict(self._position.get("mark"))
            except ValueError:
                restarted = True
        restarted = restarted or not catch_up(self._file.path, position, self._decoder)
        if restarted:
            self._decoder, position = self._make(self._file), FilePosition()
        self._tail = FileTail(self._file.path, position)
        return self._tail, restarted

    def _chunk(self, tail: FileTail, records: list[Record], restarted: bool) -> Chunk:
        self._position = {"mark": tail.position.to_dict()}
        if tail.look is not None:
            self._position["look"] = tail.look
        return Chunk(records, self._position, restarted, tail.unreadable)


class WholeReader:
    """Reads a session that changes in place. `compare` yields what is new since a state, and updates the state.

    `is_state` checks a stored state. A session with a damaged one is read from the start, else it could never be read.
    """

    def __init__(
        self,
        file: TranscriptFile,
        position: Position,
        compare: Callable[[TranscriptFile, State], Iterable[Record]],
        is_state: Callable[[Any], bool],
    ) -> None:
        self._file, self._compare = file, compare
        self._restarted = bool(position) and not is_state(position.get("state"))
        self._state: State = {} if self._restarted else position.get("state", {})

    def read(self) -> Iterator[Chunk]:
        """Yield what changed; nothing while the session is being written and cannot be read yet."""
        state: State = orjson.loads(orjson.dumps(self._state))
        records = list(self._compare(self._file, state))
        if records and all(isinstance(record, Problem) for record in records) and _is_fresh(self._file.path):
            return
        if records or state != self._state:
            restarted, self._state, self._restarted = self._restarted, state, False
            yield Chunk(records, {"state": state}, restarted)


def look_of(path: Path) -> list[int] | None:
    """Return a file's size and time of change, or None if it is missing."""
    try:
        about = path.stat()
    except OSError:
        return None
    return [about.st_size, about.st_mtime_ns]


def _is_fresh(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime < FRESH_SECONDS
    except OSError:
        return True

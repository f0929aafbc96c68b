"""Reads the lines of a file that another program appends to, and continues later from a stored position.

A line ends with a newline; the rest of the file is not yet a line. Only a `FilePosition` has to be stored: the offset
reached, and a fingerprint of the bytes before it, so that a file that was cut off or replaced is noticed and read from
its start. A file whose size, time and identity did not change is not opened. At most `MAX_LINE` bytes and one block
are held in memory, whatever the file contains.
"""

from __future__ import annotations

import codecs
import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from webapp.agents.reading.content import BOMS, Content, mended
from webapp.agents.reading.finding import open_file, reason_of
from webapp.agents.reading.rows import digest
from webapp.agents.records import Problem, Record

log = logging.getLogger(__name__)

MAX_LINE = 32 << 20
BLOCK = 1 << 18
MOST_BYTES = 1 << 60  # no file is longer
_HEAD, _TAIL = 1024, 256  # bytes of a fingerprint: from the start, and before the position
_KEEP_PENDING = 1 << 16  # a longer half line is kept in memory instead of being read again

# Places at which a row may begin behind another one: within a row, an object follows a colon, a comma or a bracket, and
# the quotes of a text are escaped. A text can end so, too; a line with more such places than this is not divided.
_MOST_PLACES = 40
_NEXT_ROW = re.compile(rb'[^:,\[\s]\s*(\{")')
_BLANKS = re.compile(r"[ \t\n\r]*")
_JSON = json.JSONDecoder()

_MAGIC = (
    (b"SQLite format 3\x00", "an SQLite database"), (b"\x1f\x8b", "gzip data"), (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"PK\x03\x04", "a zip file"), (b"\x89PNG", "a picture"), (b"%PDF", "a PDF"), (b"\x7fELF", "a program"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end (newline, or carriage return and newline). `number` counts from 1."""

    number: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Restarted:
    """The file was cut off or replaced: lines count from 1 again, and a new decoder is needed."""


Item = Line | Problem | Restarted


@dataclass(frozen=True, slots=True)
class FilePosition:
    """A position in a file: byte `offset`, the end of line `line`. `fingerprint` is a hash of bytes before it."""

    offset: int = 0
    line: int = 0
    fingerprint: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Any) -> FilePosition:
        """Return what `to_dict` wrote; unknown keys are ignored.

        Raises:
            ValueError: it wrote nothing of this shape.
        """
        match data:
            case {"offset": int(offset), "line": int(line), "fingerprint": str(fingerprint)}:
                if 0 <= offset <= MOST_BYTES and 0 <= line <= MOST_BYTES:
                    return cls(offset, line, fingerprint)
        raise ValueError("it is no position in a file")


class Splitter:
    """Cuts blocks of bytes into lines. `consumed` and `line` are the end of the last whole line.

    `head` and `recent` are the first and the last bytes before the first block, where there are any.
    """

    def __init__(
        self,
        position: FilePosition = FilePosition(),
        head: bytes = b"",
        recent: bytes = b"",
        max_line: int = MAX_LINE,
    ) -> None:
        self.consumed, self.line = position.offset, position.line
        self._head, self._recent, self._end = head, recent, recent
        self._max = max_line
        self._parts: list[bytes] = []  # the half line so far
        self._held = 0  # bytes of it in memory
        self._dropped = 0  # bytes of it that were dropped, because it is too long
        self.unreadable = False  # the file is not text, so it has no lines

    @property
    def position(self) -> FilePosition:
        """Return the end of the last whole line."""
        if self.consumed == 0:
            return FilePosition()
        return FilePosition(self.consumed, self.line, _fingerprint(self._head[: self.consumed], self._end))

    @property
    def pending(self) -> int:
        """Return the number of bytes behind the last newline."""
        return self._held + self._dropped

    def feed(self, block: bytes) -> Iterator[Line | Problem]:
        """Yield the lines that end in this block; a Problem for a line that is too long, or a file that is not text."""
        if self.unreadable:
            return
        if self.consumed == 0 and self.pending == 0 and (reason := no_text(block)):
            self.unreadable = True
            yield Problem(1, reason)
            return
        if len(self._head) < _HEAD:
            self._head = (self._head + block)[:_HEAD]
        start = 0
        while (end := block.find(b"\n", start)) >= 0:
            self._end = block[max(0, end + 1 - _TAIL) : end + 1]
            if len(self._end) < _TAIL:
                self._end = (self._recent + self._end)[-_TAIL:]
            yield from self._finish_line(block[start:end], 1)
            start = end + 1
        if start < len(block):
            self._hold(block[start:])
        self._recent = (self._recent + block)[-_TAIL:]

    def finish(self) -> Iterator[Line | Problem]:
        """Yield the rest as a last line, for a file that nobody writes to any more."""
        if self.pending and not self.unreadable:
            self._end = self._recent
            yield from self._finish_line(b"", 0)

    def _hold(self, part: bytes) -> None:
        if self._dropped or self._held + len(part) > self._max:
            self._dropped += self._held + len(part)
            self._held = 0
            self._parts.clear()
        else:
            self._parts.append(part)
            self._held += len(part)

    def _finish_line(self, part: bytes, newline: int) -> Iterator[Line | Problem]:
        self.line += 1
        size = self.pending + len(part)
        first = self.consumed == 0
        self.consumed += size + newline
        data = b"".join([*self._parts, part]) if self._parts else part
        self._parts.clear()
        self._held = self._dropped = 0
        if size > self._max:
            yield Problem(self.line, f"line of {size:,} bytes skipped; the longest allowed is {self._max:,}")
        else:
            data = data[:-1] if data.endswith(b"\r") else data
            data = data.removeprefix(codecs.BOM_UTF8) if first else data
            if data.strip():
                yield Line(self.line, data)


def no_text(block: bytes) -> str | None:
    """Return why the file that begins with `block` cannot be lines of UTF-8; None if it can."""
    for bom, name in BOMS:
        if block.startswith(bom):
            return f"the file is {name.upper()}; expected UTF-8"
    for magic, name in _MAGIC:
        if block.startswith(magic):
            return f"the file is {name}; expected lines of JSON"
    head = block[:4096]
    if b"\x00" not in head or b'{"' in head:
        return None
    wide = head[:64].count(0) * 3 > len(head[:64]) and (b"{\x00" in head or b"\x00{" in head)
    return "the file is UTF-16; expected UTF-8" if wide else "the file is binary; expected lines of JSON"


def _fingerprint(head: bytes, end: bytes) -> str:
    return digest(head + b"|" + end)


class FileTail:
    """The lines of one file, each once, from `position` on."""

    def __init__(self, path: Path, position: FilePosition | None = None, max_line: int = MAX_LINE) -> None:
        self.path = path
        self._position = position or FilePosition()
        self._max = max_line
        self._splitter: Splitter | None = None  # of the last read; it may hold a long half line
        self._at = 0  # how far its bytes were read
        self._refused: Item | None = None  # the reason why the file is not text, reported once
        self._seen: tuple[int, ...] | None = None  # size, time and identity when it was read to its end
        self.look: list[int] | None = None  # size and time if all of it could be read then, else None

    @property
    def position(self) -> FilePosition:
        """Return the end of the last item that was read; a later reader continues there."""
        return self._splitter.position if self._splitter is not None else self._position

    @property
    def unreadable(self) -> bool:
        """Return True for a file that is not text; the reason is reported once."""
        return self._splitter is not None and self._splitter.unreadable

    def read(self) -> Iterator[Item]:
        """Yield the lines since the last call; a last one without newline is not yet a line.

        The caller can stop at any item and read again later: nothing is lost or yielded twice. A missing file has no
        lines; one that cannot be read is a Problem, once for each change.
        """
        try:
            about = self.path.stat()
        except OSError:
            return
        look = (about.st_size, about.st_mtime_ns, about.st_ino)
        if look == self._seen:
            return
        self._seen = self.look = None
        try:
            with open_file(self.path) as file:
                yield from self._read(file)
        except OSError as error:
            yield Problem(None, reason_of(error))
        else:
            self.look = [about.st_size, about.st_mtime_ns]
        self._seen = look

    def _read(self, file: BinaryIO) -> Iterator[Item]:
        position = self._position = self.position
        splitter, self._splitter = self._splitter, None
        head, end, size = _ends(file, position.offset)
        if not _continues(position, head, end, size):
            self._position, splitter, head, end = FilePosition(), None, b"", b""
            yield Restarted()
        if splitter is None or splitter.pending <= _KEEP_PENDING or size < self._at:
            splitter, self._at = Splitter(self._position, head, end, self._max), self._position.offset
        self._splitter = splitter
        while True:
            file.seek(self._at)
            block = file.read(BLOCK)
            if not block:
                break
            self._at += len(block)
            for item in splitter.feed(block):
                if not splitter.unreadable or item != self._refused:
                    yield item
            if splitter.unreadable:
                self._refused = item
                break


def _continues(position: FilePosition, head: bytes, end: bytes, size: int) -> bool:
    """Return whether the file still begins with what was read: it was neither cut off nor replaced."""
    return size >= position.offset and (
        position.offset == 0 or position.fingerprint == _fingerprint(head, end)
    )


def _ends(file: BinaryIO, offset: int) -> tuple[bytes, bytes, int]:
    """Return the first bytes, the last bytes before `offset`, and the size of the file."""
    head = file.read(min(_HEAD, offset))
    file.seek(max(0, offset - _TAIL))
    end = file.read(min(_TAIL, offset))
    return head, end, file.seek(0, os.SEEK_END)


class LineDecoder(Protocol):
    """A decoder of lines, fed in order."""

    def feed(self, line: Line) -> Iterable[Record]:
        """Return the records of one line."""


def guarded(line_no: int | None, row: Callable[[], Iterable[Record]], name: str = "the row") -> list[Record]:
    """Return the records of one row. If the decoder fails on it, only that row is lost and becomes a Problem."""
    try:
        return list(row())
    except Exception as error:
        log.warning("%s could not be decoded", name, exc_info=True)
        return [Problem(line_no, f"{name} could not be used: {type(error).__name__}: {error}")]


def decode_line(decoder: LineDecoder, line: Line) -> list[Record]:
    """Return the records of a line. Bytes that are not UTF-8 are read as U+FFFD, with a note.

    A line can hold several rows: an agent that was killed while it wrote one goes on behind it without a newline.
    """
    records = guarded(line.number, partial(decoder.feed, line))
    if not (len(records) == 1 and isinstance(records[0], Problem)):
        return records
    rows = rows_in(line.data)
    if len(rows) > 1:
        return [record for row in rows for record in decode_line(decoder, Line(line.number, row))]
    if line.data.isascii():
        return records
    found = mended(line.data)
    if found is None:
        return records
    again = guarded(line.number, partial(decoder.feed, Line(line.number, found[0])))
    if len(again) == 1 and isinstance(again[0], Problem):
        return again
    return [Problem(line.number, found[1], used=True), *again]


def rows_in(line: bytes) -> list[bytes]:
    """Return the rows on a line that is not JSON as a whole, and what lies between them."""
    places = [0, *(found.start(1) for found in _NEXT_ROW.finditer(line))]
    text = line.decode("latin-1")  # a character for each byte
    rows, done = list[bytes](), 0
    for start in places if len(places) < _MOST_PLACES else ():
        end = _end_of_row(text, start) if start >= done else None
        if end is not None:
            rows += [line[done:start]] if start > done else []
            rows.append(line[start:end])
            done = end
    return [*rows, line[done:]] if done < len(line) else rows


def _end_of_row(text: str, start: int) -> int | None:
    """Return the end of the row that begins at a place, with the blanks behind it; None if none begins there."""
    try:
        value, end = _JSON.raw_decode(text, _after_blanks(text, start))
    except (ValueError, RecursionError):
        return None
    return _after_blanks(text, end) if isinstance(value, dict) else None


def _after_blanks(text: str, start: int) -> int:
    found = _BLANKS.match(text, start)
    return found.end() if found is not None else start


def decode(content: Content, decoder: LineDecoder) -> Iterator[Record]:
    """Yield the records of an imported file of lines, including a last one without newline."""
    for item in lines_of(content.blocks()):
        if isinstance(item, Line):
            yield from decode_line(decoder, item)
        else:
            yield item


def lines_of(blocks: Iterable[bytes]) -> Iterator[Line | Problem]:
    """Yield the lines of bytes that come in blocks, including a last one without newline, for imports."""
    splitter = Splitter()
    for block in blocks:
        yield from splitter.feed(block)
    yield from splitter.finish()


def catch_up(path: Path, position: FilePosition, decoder: LineDecoder) -> bool:
    """Bring a new decoder to `position` by feeding it the earlier lines; their records are dropped.

    Call this when a file that was read in an earlier run grows, before its new lines are decoded. Return False if the
    file is not the one that was read, so that it must be read from its beginning.
    """
    if position.offset == 0:
        return True
    try:
        with open_file(path) as file:
            head, end, size = _ends(file, position.offset)
            if not _continues(position, head, end, size):
                return False
            file.seek(0)
            splitter = Splitter()
            for block in first_blocks(file, position.offset):
                for item in splitter.feed(block):
                    if isinstance(item, Line):
                        decode_line(decoder, item)
            return file.tell() == position.offset
    except OSError:
        return False


def first_blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the first `size` bytes of an open file in blocks; fewer if it is shorter."""
    while size > 0 and (block := file.read(min(BLOCK, size))):
        size -= len(block)
        yield block

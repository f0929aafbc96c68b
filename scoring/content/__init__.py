"""What one message says, found once and stored: the static half of *Foresight*.

Nothing here looks at another message. A content holds the message's marks (names and text lines), its stems for
relevance and, for tool outputs, which of their rows carry which marks, so that a plan can shorten an output
without reading it again. Names are kept as they are spelled, so that reasons can name them; lines as 64-bit hashes.

`VERSION` grows when the same text would give another content: what was stored under another version is read as
none, and whoever has the text finds it anew.
"""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from typing import Any, TypeAlias
from zlib import crc32

from scoring.content.names import identifiers
from scoring.content.rows import pieces_of, text_line
from scoring.content.words import asks, stems, word_count

VERSION = 1
_REMEMBERED = 200  # hashes of lines up to so many characters are remembered: tools say the same lines again
READ_CHARS = 4_000_000  # four times what the largest window holds


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """Marks, stems and rows of one message.

    `names` are its names in order, one a line, `lines` the hashes of its text lines; the marks at the positions
    0, 1, ... are the names and then the lines. `words` is its length in words, `asks` whether it asks something in
    words. Row r is (`row_lines`, `row_pieces`), `row_chars` characters, with the marks at the positions
    `row_marks[row_ends[r-1]:row_ends[r]]`.
    """

    names: str
    lines: array[int]
    words: int
    asks: bool
    terms: array[int]
    term_counts: bytes
    row_lines: array[int]
    row_pieces: bytes
    row_chars: array[int]
    row_ends: array[int]
    row_marks: array[int]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Content) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.names, self.lines.tobytes()))

    def to_dict(self) -> dict[str, str | int]:
        """The content as JSON-ready data, which `from_dict` reads back to an equal value."""
        out = bytearray(self.words.to_bytes(4, "little"))
        out.append(self.asks)
        ends = [b - a for a, b in zip([0, *self.row_ends], self.row_ends, strict=False)]
        for column in (
            *(self.lines, self.terms, self.term_counts),
            *(self.row_lines, self.row_pieces, self.row_chars, ends, self.row_marks),
        ):
            _write(out, column)
        return {"version": VERSION, "names": self.names, "columns": b64encode(out).decode("ascii")}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Content | None:
        """The content that `to_dict` wrote; None where another version did."""
        if found.get("version") != VERSION:
            return None
        data = memoryview(b64decode(found["columns"]))
        at = 5
        columns = []
        for code in "QIBIBIII":
            column, at = _read(data, at, code)
            columns.append(column)
        lines, terms, counts, numbers, pieces, chars, lengths, held = columns
        ends = array("I", accumulate(lengths))
        words, asked = int.from_bytes(data[:4], "little"), bool(data[4])
        rows = numbers, pieces.tobytes(), chars, ends, held
        return cls(found["names"], lines, words, asked, terms, counts.tobytes(), *rows)


_Rows: TypeAlias = "tuple[array[int], bytes, array[int], array[int], array[int]]"
_NO_ROWS: _Rows = (array("I"), b"", array("I"), array("I"), array("I"))
EMPTY = Content("", array("Q"), 0, False, array("I"), b"", *_NO_ROWS)


def content_of(text: str, outputs: Sequence[str] = ()) -> Content:
    """The content of what a message says.

    `outputs` are its tool outputs, which may be shortened; where there are any, they are the whole text. Of a text
    longer than `READ_CHARS` beginning and end are read, and it has no rows: its words would take ten times its room.
    """
    if len(text) > READ_CHARS:
        text, outputs = f"{text[: READ_CHARS // 2]}\n{text[-READ_CHARS // 2 :]}", ()
    by_line = _names_by_line(outputs)
    names = sorted(set().union(*by_line)) if outputs else sorted(identifiers(text))
    places: dict[str | int, int] = {}
    for name in names:
        places.setdefault(name, len(places))
    for line in text.splitlines():
        if said := text_line(line):
            places.setdefault(line_hash(said), len(places))
    counted: dict[int, int] = {}
    for word, count in stems(text).items():
        code = crc32(word.encode("utf-8", "replace"))
        counted[code] = min(255, counted.get(code, 0) + count)
    lines = array("Q", (place for place in places if isinstance(place, int)))
    rows = _rows(outputs, by_line, places) if outputs else _NO_ROWS
    terms, counts = array("I", counted), bytes(counted.values())
    return Content("\n".join(names), lines, word_count(text), asks(text), terms, counts, *rows)


def line_hash(line: str) -> int:
    """The hash by which plans know a text line."""
    return _short_hash(line) if len(line) <= _REMEMBERED else _hash(line)


def _hash(line: str) -> int:
    return int.from_bytes(blake2b(line.encode("utf-8", "replace"), digest_size=8).digest(), "little")


_short_hash = lru_cache(maxsize=1 << 15)(_hash)


def _names_by_line(outputs: Sequence[str]) -> list[set[str]]:
    """The names on each line of the outputs, lines counted on from one output to the next."""
    return [identifiers(line) for output in outputs for line in output.split("\n")]


def _rows(outputs: Sequence[str], by_line: list[set[str]], places: dict[str | int, int]) -> _Rows:
    """The rows that carry a mark, as columns: line, piece, characters, end of its marks, and the marks."""
    lines, pieces, chars = array("I"), bytearray(), array("I")
    ends, held = array("I"), array("I")
    for number, line in enumerate(line for output in outputs for line in output.split("\n")):
        if not line or line.isspace():
            continue
        for piece, said in pieces_of(line):
            if piece:
                found = {places[name] for name in identifiers(said) if name in places}
            else:
                found = {places[name] for name in by_line[number]}
                spoken = [line_hash(v) for part in said.splitlines() if (v := text_line(part))]
                found.update(places[code] for code in spoken if code in places)
            if found:
                held.extend(sorted(found))
                lines.append(number)
                pieces.append(piece)
                chars.append(len(said))
                ends.append(len(held))
    return lines, bytes(pieces), chars, ends, held


def _write(out: bytearray, column: Sequence[int]) -> None:
    """A column with its length, in the smallest numbers that hold it."""
    most = max(column, default=0)
    code = next(
        c for c, limit in (("B", 1 << 8), ("H", 1 << 16), ("I", 1 << 32), ("Q", 1 << 64)) if most < limit
    )
    out += code.encode() + len(column).to_bytes(4, "little")
    out += array(code, column).tobytes()


def _read(data: memoryview, at: int, code: str) -> tuple[array[int], int]:
    """The column at `at`, in numbers of `code`, and where the next begins."""
    column = array(chr(data[at]))
    end = at + 5 + column.itemsize * int.from_bytes(data[at + 1 : at + 5], "little")
    column.frombytes(data[at + 5 : end])
    return (column if column.typecode == code else array(code, column)), end

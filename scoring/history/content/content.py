"""The content of one message, computed once and stored: the static half of *Foresight*.

It depends on no other message. A content holds the message's mentions (names and text lines), its stems for relevance
and, for tool outputs, the mentions of each row, so that a plan can shorten an output without reading it again. Names
are kept as spelled, so that reasons can quote them; lines are kept as 64-bit hashes.

`VERSION` grows when the same text would give another content, other traces or other cues. Content stored by another
version counts as missing, and is computed again with traces and cues when the text is available.
"""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple
from zlib import crc32

from scoring.history.content.columns import read_columns, write_column
from scoring.history.content.hashes import line_hash
from scoring.history.content.headings import headings_of
from scoring.history.content.key_lines import key_lines
from scoring.history.content.names import identifiers
from scoring.history.content.rows import AT_EDGE, alike_lines, pieces_of, text_line
from scoring.history.content.words import words_of

VERSION = 15
MOST_COUNTED = 255  # of one stem, in one byte
HEADER_BYTES = 5  # the length in words, and whether it asks something
READ_CHARS = 4_000_000  # about as many as the largest window, 1,000,000 tokens, holds


class Stems(NamedTuple):
    """The stems of a message: their codes, and how often each occurs (up to `MOST_COUNTED`)."""

    codes: array[int]
    counts: bytes


class Rows(NamedTuple):
    """The rows of a message's outputs.

    Row r is piece `pieces[r]` of line `lines[r]`; it has `chars[r]` characters and the mentions at the positions
    `mentions[ends[r-1]:ends[r]]`. Rows without a mention are included, so that blocks stay whole. `key_rows` are the
    numbers of the rows that are never cut: errors, and how a run ended; of a long line, its beginning and end.
    `headings[r]` is the row, counted from 1, without which row r could belong to something else, 0 for none.
    """

    lines: array[int]
    pieces: bytes
    chars: array[int]
    ends: array[int]
    mentions: array[int]
    key_rows: array[int]
    headings: array[int]


NO_STEMS = Stems(array("I"), b"")
NO_ROWS = Rows(array("I"), b"", array("I"), array("I"), array("I"), array("I"), array("I"))


class Content:
    """Mentions, stems and rows of one message; read only.

    `names` are its names in order, one per line, `lines` the hashes of its text lines; the mentions at the positions
    0, 1, ... are the names and then the lines. `words` is its length in words, `asks` is True if it asks something in
    words. `alike` are the mentions that occur only in lines of an output that differ just in codes and numbers. Stored
    columns are unpacked on access, because usually only the mentions are needed.
    """

    __slots__ = ("_alike", "_lines", "_packed", "_rows", "_stems", "asks", "names", "words")

    def __init__(
        self,
        names: str = "",
        lines: array[int] | None = None,
        words: int = 0,
        asks: bool = False,
        stems: Stems | None = None,
        rows: Rows | None = None,
        packed: bytes = b"",
        alike: array[int] | None = None,
    ) -> None:
        self.names, self.words, self.asks = names, words, asks
        self._lines, self._stems, self._rows, self._packed = lines, stems, rows, packed
        self._alike = alike

    @property
    def lines(self) -> array[int]:
        """Return the hashes of its text lines."""
        if self._lines is None:  # not cached: a history reads them once, when the message is added
            return self._stored(0, "Q")[0] if self._packed else array("Q")
        return self._lines

    @property
    def stems(self) -> Stems:
        """Return its stems, for relevance."""
        if self._stems is None:
            self._stems = NO_STEMS
            if self._packed:
                codes, counts = self._stored(2, "IB")
                self._stems = Stems(codes, counts.tobytes())
        return self._stems

    @property
    def rows(self) -> Rows:
        """Return the rows of its outputs; none if they cannot be shortened."""
        if self._rows is None:
            self._rows = NO_ROWS
            if self._packed:
                lines, pieces, chars, lengths, mentions, key_rows, headings = self._stored(4, "IBIIIII")
                ends = array("I", accumulate(lengths))
                self._rows = (
                    Rows(lines, pieces.tobytes(), chars, ends, mentions, key_rows, headings)
                    if ends
                    else NO_ROWS
                )
        return self._rows

    @property
    def alike(self) -> array[int]:
        """Return the positions of the mentions that occur only in alike lines, in rising order."""
        if self._alike is None:
            return self._stored(1, "I")[0] if self._packed else array("I")
        return self._alike

    def with_words(self, text: str) -> Content:
        """Return this content, which was computed without words, with the words of its text."""
        words = words_of(clipped(text))
        counted = dict(zip(map(_code_of_stem, words.stems), words.stems.values(), strict=True))
        if len(counted) < len(words.stems):  # two stems have the same code
            counted = {}
            for word, count in words.stems.items():
                code = _code_of_stem(word)
                counted[code] = counted.get(code, 0) + count
        often = counted.values()
        counts = bytes(often) if max(often, default=0) <= MOST_COUNTED else bytes(map(_at_most, often))
        stems = Stems(array("I", counted), counts)
        return Content(self.names, self.lines, words.total, words.asks, stems, self.rows, alike=self.alike)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Content) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.names, self.lines.tobytes()))

    def to_dict(self) -> dict[str, str | int]:
        """Return the content as JSON-ready data, which `from_dict` reads."""
        return {"version": VERSION, "names": self.names, "columns": b64encode(self._pack()).decode("ascii")}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Content | None:
        """Return the content that `to_dict` wrote; None if another version wrote it."""
        if found.get("version") != VERSION:
            return None
        packed = b64decode(found["columns"])
        words, asked = int.from_bytes(packed[:4], "little"), bool(packed[4])
        return cls(found["names"], None, words, asked, packed=packed)

    def packed(self) -> Content:
        """Return the same content with stored columns, which take less memory than those just computed."""
        return Content(self.names, None, self.words, self.asks, packed=self._pack())

    def _stored(self, first: int, codes: str) -> list[array[int]]:
        return read_columns(self._packed, HEADER_BYTES, first, codes)

    def _pack(self) -> bytes:
        if self._packed:
            return self._packed
        out = bytearray(self.words.to_bytes(4, "little"))
        out.append(self.asks)
        rows = self.rows
        lengths = [b - a for a, b in zip([0, *rows.ends], rows.ends, strict=False)]
        for column in (
            *(self.lines, self.alike, *self.stems),
            *(rows.lines, rows.pieces, rows.chars, lengths, rows.mentions, rows.key_rows, rows.headings),
        ):
            write_column(out, column)
        return bytes(out)


def content_of(text: str, outputs: Sequence[str] = (), *, words: bool = True) -> Content:
    """Return the content of a message, its words only if `words` is set.

    `outputs` are its tool outputs, if they can be shortened; they are then the whole text. Of a text longer than
    `READ_CHARS` only the beginning and the end are read, and it has no rows: its content would take ten times its size.
    """
    if len(text) > READ_CHARS:
        text, outputs = clipped(text), ()
    by_line = _names_by_line(outputs)
    names = sorted(set().union(*by_line)) if outputs else sorted(identifiers(text))
    places: dict[str | int, int] = {}
    for name in names:
        places.setdefault(name, len(places))
    codes: dict[str, int] = {}  # the hashes of text lines
    for line in text.splitlines():
        if line not in codes and (said := text_line(line)):
            codes[line] = line_hash(said)
    for code in codes.values():
        places.setdefault(code, len(places))
    lines = array("Q", (place for place in places if isinstance(place, int)))
    rows, alike = _rows(outputs, by_line, codes, places) if outputs else (NO_ROWS, array("I"))
    found = Content("\n".join(names), lines, rows=rows, alike=alike)
    return found.with_words(text) if words else found


@lru_cache(maxsize=1 << 15)
def _code_of_stem(stem: str) -> int:
    return crc32(stem.encode("utf-8", "replace"))


def _at_most(count: int) -> int:
    return min(MOST_COUNTED, count)


def clipped(text: str) -> str:
    """Return the part of a text that is read: the beginning and the end of one that is too long."""
    return text if len(text) <= READ_CHARS else f"{text[: READ_CHARS // 2]}\n{text[-READ_CHARS // 2 :]}"


def _names_by_line(outputs: Sequence[str]) -> list[set[str]]:
    """Return the names on each line of the outputs; line numbers continue from one output to the next."""
    return [identifiers(line) for output in outputs for line in output.split("\n")]


def _rows(
    outputs: Sequence[str], by_line: list[set[str]], codes: Mapping[str, int], places: Mapping[str | int, int]
) -> tuple[Rows, array[int]]:
    """Return the rows, as columns, and the mentions that only alike lines have; no rows if none has a mention."""
    lines, pieces, chars = array("I"), bytearray(), array("I")
    ends, held, key_rows = array("I"), array("I"), array("I")
    whole: list[str] = []
    key_numbers: set[int] = set()
    for output in outputs:
        key_numbers.update(len(whole) + number for number in key_lines(output))
        whole += output.split("\n")
    alike = alike_lines(whole)
    in_alike: set[int] = set()
    elsewhere: set[int] = set()
    for number, line in enumerate(whole):
        if not line or line.isspace():
            continue
        for piece, said in pieces_of(line):
            found: Collection[int]
            if piece:
                found = [places[name] for name in identifiers(said) if name in places]
            else:
                found = [places[name] for name in by_line[number]]
                if said in codes:
                    found.append(places[codes[said]])
                else:  # a line that contains other line breaks, and can say the same twice
                    found = {*found, *[places[codes[part]] for part in said.splitlines() if part in codes]}
            if number in key_numbers and piece <= AT_EDGE:
                key_rows.append(len(ends))
            held.extend(sorted(found))
            lines.append(number)
            pieces.append(piece)
            chars.append(len(said))
            ends.append(len(held))
            if alike:
                (in_alike if number in alike else elsewhere).update(found)
    if not held and not key_rows:
        return NO_ROWS, array("I")
    rows = Rows(lines, bytes(pieces), chars, ends, held, key_rows, _heading_rows(outputs, lines, pieces))
    return rows, array("I", sorted(in_alike - elsewhere))


def _heading_rows(outputs: Sequence[str], lines: array[int], pieces: bytearray) -> array[int]:
    """Return the heading of each row as the number of its row, counted from 1; 0 for none, nothing if none has one."""
    under: dict[int, int] = {}
    first = 0
    for output in outputs:
        under.update((first + line, first + head) for line, head in headings_of(output).items())
        first += output.count("\n") + 1
    if not under:
        return array("I")
    row_of = {line: row for row, line in reversed(list(enumerate(lines))) if not pieces[row]}
    return array("I", [row_of.get(under[line], -1) + 1 if line in under else 0 for line in lines])

"""The rows of a tool output: what it can be shortened to, and the text that is left of it then.

A row is a line, or the beginning or the end of a long line, cut where no name is cut. An output is shortened to some
of its rows in their order; a mark in square brackets says so and stands where lines are missing. Several outputs
in one message share one numbering of lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scoring.history.content.words import UNSPACED

WHOLE, HEAD, TAIL = 0, 1, 2
LONG_LINE, HEAD_CHARS, TAIL_CHARS = 400, 200, 120
GAP = "[…]"
LEAST_CHARS = 20  # a shorter line says nothing that others do not
ALIKE_FROM, ALIKE_WORDS, ALIKE_CHARS = 8, 2, 80
HEADER_CHARS = 36  # about what the first line of a shortened output takes

_NUMBERED = re.compile(r"^(?:[\w./-]+:)?\d+[:\-\t→|]\s?")
_WORD, _BREAK = re.compile(r"[A-Za-z]{2}"), re.compile(r"[^A-Za-z]")
_ANY_WORD, _ANY_BREAK = re.compile(r"[^\W\d_]{2}"), re.compile(r"[\W\d_]")
_UNSPACED = re.compile(f"[{UNSPACED}]+")
# A word of letters, and what has a digit, stroke or underscore in it; neither gives back what it took.
_PLAIN_WORD = re.compile(r"(?<![\w.:/+-])[^\W\d_]{3,}+(?![\w./+-])")
_CODE = re.compile(r"(?<![\w.:/+-])(?:[^\W\d_]|[.:+-])*+[\d/_][\w.:/+-]*+")


class Row(NamedTuple):
    """One row: its line's number in the output, and which piece of the line it is."""

    line: int
    piece: int


def text_line(line: str) -> str | None:
    """Return the line without its line number if it says something: 20 characters or more and two words.

    A sign of writing without blanks counts for two characters, as wide as it is.
    """
    line = line.strip()
    if len(line) < LEAST_CHARS and not _is_wide(line):
        return None
    line = _NUMBERED.sub("", line).strip()
    return line if (len(line) >= LEAST_CHARS or _is_wide(line)) and _has_two_words(line) else None


def _is_wide(line: str) -> bool:
    """Return whether a line of too few characters is long enough by its width."""
    return 2 * len(line) >= LEAST_CHARS and not line.isascii() and len(line) + _wide(line) >= LEAST_CHARS


def _wide(line: str) -> int:
    """Return how many signs of writing without blanks a line has."""
    return sum(map(len, _UNSPACED.findall(line)))


def _has_two_words(line: str) -> bool:
    """Return whether letters stand in two places, or four signs that need no blank; step by step, because one
    expression would take the square of a length.
    """
    plain = line.isascii()
    letters, gaps = (_WORD, _BREAK) if plain else (_ANY_WORD, _ANY_BREAK)
    word = letters.search(line)
    gap = gaps.search(line, word.end()) if word else None
    if gap is not None and letters.search(line, gap.end()) is not None:
        return True
    return not plain and _wide(line) >= 4


def pieces_of(line: str) -> tuple[tuple[int, str], ...]:
    """Return a line as it is offered: whole, or its two ends."""
    if len(line) <= LONG_LINE:
        return ((WHOLE, line),)
    head, tail = HEAD_CHARS, len(line) - TAIL_CHARS
    while head < tail - 20 and _inside(line[head]):
        head += 1
    while tail > head and _inside(line[tail - 1]):
        tail -= 1
    return (HEAD, line[:head]), (TAIL, line[tail:])


def alike_lines(lines: Sequence[str]) -> set[int]:
    """Return the numbers of the lines that differ from many others in nothing but their codes and numbers.

    Most lines of a log do; a list of files or figures is not, because what
    would be alike in it are words, and it has hardly any.
    """
    found: set[int] = set()
    if len(lines) < ALIKE_FROM:
        return found
    by_word: dict[str, list[int]] = {}
    for number, line in enumerate(lines):  # most lines have no word in common with so many others
        if len(line) >= LEAST_CHARS and (word := _PLAIN_WORD.search(line)):
            by_word.setdefault(word[0], []).append(number)
    for numbers in by_word.values():
        if len(numbers) >= ALIKE_FROM:
            shapes: dict[str, list[int]] = {}
            for number in numbers:
                shape = _CODE.sub("#", lines[number][:LONG_LINE].strip())[:ALIKE_CHARS]
                shapes.setdefault(shape, []).append(number)
            for shape, alike in shapes.items():
                if len(alike) >= ALIKE_FROM and len(_PLAIN_WORD.findall(shape)) >= ALIKE_WORDS:
                    found.update(alike)
    return found


def shorten(outputs: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Return the outputs of one message cut to these rows (rising); lines count on from one output to the next.

    An output that would not get shorter stays as it is.
    """
    out, first = [], 0
    for output in outputs:
        lines = output.split("\n")
        own = [row for row in rows if first <= row.line < first + len(lines)]
        short = "\n".join(_cut(lines, own, first))
        out.append(short if len(short) < len(output) else output)
        first += len(lines)
    return out


def _cut(lines: list[str], rows: Sequence[Row], first: int) -> Iterator[str]:
    """Yield the text of one shortened output, line by line."""
    yield f"[shortened: {len({row.line for row in rows})} of {len(lines)} lines]"
    last, piece_before = -1, WHOLE
    for line, piece in rows:
        number = line - first
        if number > last + 1 or (number == last + 1 and piece_before == HEAD) or piece == TAIL:
            yield GAP
        yield next(said for kind, said in pieces_of(lines[number]) if kind == piece)
        last, piece_before = number, piece
    if rows and (last < len(lines) - 1 or piece_before == HEAD):
        yield GAP


def _inside(char: str) -> bool:
    return char.isalnum() or char in "_-/.@~+"

"""The rows of a tool output, and the text of an output that is shortened to some of them.

A row is a line, or a part of a long line, cut so that no name is cut. A long line can be kept with some of its first
and some of its last parts. An output is shortened to some of its rows in order. A mark in square brackets gives the
number of missing lines; another one marks lines that the file no longer has. The outputs of one message share one
numbering of lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from scoring.counted import counted
from scoring.history.content.words import UNSPACED

# The pieces of a line: all of it, or parts of a long one. Odd numbers count from its beginning, even ones from its end.
WHOLE, HEAD, TAIL = 0, 1, 2
LONG_LINE = 240  # characters; a longer line can be kept in part
PART_CHARS, MOST_PARTS = 40, 40  # of a part of it, and how many parts on either side
AT_EDGE = 10  # pieces up to this one, five on either side, say what a line begins and ends with
GAP = "[…]"  # inside a long line
MARK_CHARS = 15  # the approximate length of the mark for missing lines, with its line break
SHORT_GAP_CHARS = 12  # missing lines of at most this length together are kept
LEAST_CHARS = 20  # a shorter line is not distinctive
ALIKE_FROM, ALIKE_WORDS, ALIKE_CHARS, ALIKE_READ = 8, 2, 80, 400

_NUMBERED = re.compile(r"(?:[\w./-]+:)?\d+[:\-\t→|]\s?")
_WORD, _BREAK = re.compile(r"[A-Za-z]{2}"), re.compile(r"[^A-Za-z]")
_ANY_WORD, _ANY_BREAK = re.compile(r"[^\W\d_]{2}"), re.compile(r"[\W\d_]")
_UNSPACED = re.compile(f"[{UNSPACED}]+")
_OF_NAME = re.compile(r"[\w/.@~+-]+")
# A word of letters, and a token with a digit, slash or underscore; neither pattern backtracks.
_PLAIN_WORD = re.compile(r"(?<![\w.:/+-])[^\W\d_]{3,}+(?![\w./+-])")
_CODE = re.compile(r"(?<![\w.:/+-])(?:[^\W\d_]|[.:+-])*+[\d/_][\w.:/+-]*+")


class Row(NamedTuple):
    """One row: its line's number in the output, and which piece of the line it is."""

    line: int
    piece: int


def text_line(line: str) -> str | None:
    """Return the line without its line number if it has 20 characters or more and two words, else None.

    A character of unspaced writing counts as two, because it is twice as wide.
    """
    line = line.strip()
    if len(line) < LEAST_CHARS and not _is_wide(line):
        return None
    if number := _NUMBERED.match(line):
        line = line[number.end() :].strip()
    return line if (len(line) >= LEAST_CHARS or _is_wide(line)) and _has_two_words(line) else None


def _is_wide(line: str) -> bool:
    """Return whether a line with too few characters is long enough by its width."""
    return 2 * len(line) >= LEAST_CHARS and not line.isascii() and len(line) + _wide(line) >= LEAST_CHARS


def _wide(line: str) -> int:
    """Return the number of characters of unspaced writing in a line."""
    return sum(map(len, _UNSPACED.findall(line)))


def _has_two_words(line: str) -> bool:
    """Return whether a line has two words, or four characters of unspaced writing.

    It searches step by step, because a single expression would take quadratic time.
    """
    plain = line.isascii()
    letters, gaps = (_WORD, _BREAK) if plain else (_ANY_WORD, _ANY_BREAK)
    word = letters.search(line)
    gap = gaps.search(line, word.end()) if word else None
    if gap is not None and letters.search(line, gap.end()) is not None:
        return True
    return not plain and _wide(line) >= 4


def pieces_of(line: str) -> tuple[tuple[int, str], ...]:
    """Return the pieces of a line in order: the whole line, or the parts of a long one.

    The parts of a very long line leave out its middle.
    """
    if len(line) <= LONG_LINE:
        return ((WHOLE, line),)
    head, tail = 0, len(line)
    backwards = line[::-1]
    heads: list[tuple[int, str]] = []
    tails: list[tuple[int, str]] = []
    for number in range(MOST_PARTS):
        end = _after_name(line, head + PART_CHARS)
        start = len(line) - _after_name(backwards, len(line) - tail + PART_CHARS)
        if start < end:
            heads += [(HEAD + 2 * number, line[head:tail])] if head < tail else []
            break
        heads.append((HEAD + 2 * number, line[head:end]))
        tails.append((TAIL + 2 * number, line[start:tail]))
        head, tail = end, start
    return (*heads, *reversed(tails)) if tails else ((WHOLE, line),)


def _after_name(line: str, place: int) -> int:
    """Return the first place from there on that is inside no name."""
    found = _OF_NAME.match(line, place)
    return found.end() if found else place


def alike_lines(lines: Sequence[str]) -> set[int]:
    """Return the numbers of the lines that differ from many others only in their codes and numbers.

    Most lines of a log do. The lines of a list of files or numbers do not, because they have hardly any words in
    common.
    """
    found: set[int] = set()
    if len(lines) < ALIKE_FROM:
        return found
    by_word: dict[str, list[int]] = {}
    for number, line in enumerate(lines):  # a fast filter: most lines share no first word with so many others
        if len(line) >= LEAST_CHARS and (word := _PLAIN_WORD.search(line)):
            by_word.setdefault(word[0], []).append(number)
    for numbers in by_word.values():
        if len(numbers) >= ALIKE_FROM:
            shapes: dict[str, list[int]] = {}
            for number in numbers:
                shape = _CODE.sub("#", lines[number][:ALIKE_READ].strip())[:ALIKE_CHARS]
                shapes.setdefault(shape, []).append(number)
            for shape, alike in shapes.items():
                if len(alike) >= ALIKE_FROM and len(_PLAIN_WORD.findall(shape)) >= ALIKE_WORDS:
                    found.update(alike)
    return found


def shorten(
    outputs: Sequence[str], rows: Sequence[Row], is_changed: Callable[[str], bool] | None = None
) -> list[str]:
    """Return the outputs of one message cut to these rows; line numbers continue from one output to the next.

    `rows` are in rising order. Lines for which `is_changed` is true are replaced by a mark; it is asked for every text
    line once, in order. An output that would not get shorter stays whole.
    """
    out, first = [], 0
    for output in outputs:
        lines = output.split("\n")
        own = [row for row in rows if first <= row.line < first + len(lines)]
        marked = _marked(lines, is_changed)
        short = "\n".join(_cut(marked, own, first))
        out.append(short if len(short) < len(output) else "\n".join(_runs_marked(marked)))
        first += len(lines)
    return out


def without_changed(output: str, is_changed: Callable[[str], bool] | None) -> str:
    """Return an output with a mark in place of each run of lines for which `is_changed` is true."""
    return "\n".join(_runs_marked(_marked(output.split("\n"), is_changed)))


def _marked(lines: list[str], is_changed: Callable[[str], bool] | None) -> list[str | None]:
    """Return the lines, with None in place of changed ones."""
    if is_changed is None:
        return list(lines)
    return [None if (said := text_line(line)) and is_changed(said) else line for line in lines]


def _runs_marked(lines: Sequence[str | None]) -> Iterator[str]:
    """Yield the lines, with one mark for each run of changed ones."""
    for is_changed, run in groupby(lines, lambda line: line is None):
        if is_changed:
            gone = len(list(run))
            yield "[changed]" if gone == 1 else f"[{gone:,} lines changed]"
        else:
            yield from (line for line in run if line is not None)


def _cut(lines: Sequence[str | None], rows: Sequence[Row], first: int) -> Iterator[str]:
    """Yield the text of one shortened output, line by line."""
    kept = _with_short_gaps(lines, {row.line - first for row in rows})
    pieces: dict[int, list[int]] = {}
    for row in rows:
        pieces.setdefault(row.line - first, []).append(row.piece)
    last = -1
    for number in kept:
        if number > last + 1:
            yield _gap(number - last - 1)
        last = number
        yield from _in_pieces(lines[number], pieces.get(number))
    if last < len(lines) - 1:
        yield _gap(len(lines) - 1 - last)


def _with_short_gaps(lines: Sequence[str | None], kept: Collection[int]) -> list[int]:
    """Return the numbers of the kept lines, with the lines between them that are no longer than a mark."""
    out: list[int] = []
    for number in sorted(kept):
        between = range(out[-1] + 1, number) if out else range(number)
        if _is_short_gap(lines, between):
            out += between
        out.append(number)
    rest = range(out[-1] + 1, len(lines)) if out else range(0)
    if _is_short_gap(lines, rest):
        out += rest
    return out


def _is_short_gap(lines: Sequence[str | None], between: range) -> bool:
    """Return whether lines are no longer than a mark; each takes a character at least, for its line break."""
    if len(between) > SHORT_GAP_CHARS:
        return False
    return sum([len(lines[n] or "") + 1 for n in between]) <= SHORT_GAP_CHARS


def _in_pieces(line: str | None, pieces: Sequence[int] | None) -> Iterator[str]:
    """Yield a line as far as its pieces go; a part stays with those between it and its end of the line."""
    if line is None:
        yield "[changed]"
        return
    if pieces is None or WHOLE in pieces:
        yield line
        return
    first, last = (
        max((p for p in pieces if p % 2), default=0),
        max((p for p in pieces if not p % 2), default=0),
    )
    said = pieces_of(line)
    head = "".join(text for piece, text in said if piece % 2 and piece <= first)
    tail = "".join(text for piece, text in said if not piece % 2 and piece <= last)
    if len(head) + len(tail) >= len(line) or not (head or tail):
        yield line
        return
    yield from filter(None, (head, GAP, tail))


def _gap(lines: int) -> str:
    return f"[… {counted(lines, 'line')}]"

"""Headings: the line of an output that says what other lines belong to, where those could belong to several.

A field (`url = …`) that occurs under several headings says nothing without its own. A heading is a section in square
brackets, a title with number signs, or a line that opens a block of deeper ones.
"""

from __future__ import annotations

import re
from collections import Counter

READ_LINES = 2_000
LEAST_LINES = 4  # two headings with a field each
LEAST_HEADINGS = 2  # under a single one nothing is ambiguous
LONGEST_HEADING = 200  # characters; a longer line is text or data, unless it is an item of a list
# A name with its value, on a line; a section in brackets; titles; and a line that opens a block: `name:` or
# `"name": {`, and `- name`.
_FIELD = re.compile(
    r"\n[ \t]*(?:[-*+] )?[\"']?([A-Za-z_][\w .-]{0,39}+)[\"']?(?:=[ \t]*|:[ \t]+)[\"'\w./~\[-]"
)
_SECTION = re.compile(r"\[{1,2}[^\W\d][^\[\]=\"']{0,80}\]{1,2}[ \t]*$")
_TITLE = re.compile(r"#{1,6} \S|={2,} \S.* ={2,}$|-{2,} \S.* -{2,}$")
_OPENING = re.compile(r"(?:- )?[\"']?[\w./@ -]{1,60}[\"']?[ \t]*+[:=]?[ \t]*+[:{\[]$")
_ITEM = re.compile(r"- \w")


def headings_of(output: str) -> dict[int, int]:
    """Return the number of the heading of each line that could belong to several, by the number of the line."""
    lines = output.split("\n")[:READ_LINES]
    if len(lines) < LEAST_LINES:
        return {}
    fields = _fields(lines)
    often = Counter(fields.values())
    if len(often) == len(fields):
        return {}
    enclosing = _Enclosing(lines)
    found_heads: dict[int, int] = {}
    for number, field in fields.items():
        if often[field] > 1 and (head := enclosing.of(number)) is not None:
            found_heads[number] = head
    alike: dict[str, set[int]] = {}
    for head in frozenset(found_heads.values()):
        alike.setdefault(lines[head].strip(), set()).add(head)
    if sum(map(len, alike.values())) < LEAST_HEADINGS:
        return {}
    for heads in alike.values():
        if len(heads) > 1:  # these need their own heading
            found_heads.update((head, above) for head in heads if (above := enclosing.of(head)) is not None)
    return found_heads


def _fields(lines: list[str]) -> dict[int, str]:
    """Return the names of the fields by the numbers of their lines."""
    found: dict[int, str] = {}
    text, number, at = "\n" + "\n".join(lines), 0, 1
    for field in _FIELD.finditer(text):  # in one pass: most lines have none
        number += text.count("\n", at, field.start() + 1)
        at = field.start() + 1
        found[number] = field[1].rstrip()
    return found


class _Enclosing:
    """The lines that enclose others: what opens their block, or the section or title before it."""

    def __init__(self, lines: list[str]) -> None:
        # The nearest line before each that is indented less, or the last section or title if there is none.
        self._outer: list[int | None] = []
        self._stripped = stripped = [line.lstrip() for line in lines]
        short = [n for n, said in enumerate(stripped) if 0 < len(said) <= LONGEST_HEADING]
        sections = {n for n in short if stripped[n][0] == "[" and _SECTION.match(stripped[n])}
        self._begins = begins = sections or {
            n for n in short if lines[n][0] in "#=-" and _TITLE.match(lines[n])
        }
        heading: int | None = None
        outer: list[tuple[int, int]] = []  # the indentation and number of the lines around the present one
        for number, said in enumerate(stripped):
            if number in begins:
                heading, outer = number, []
                self._outer.append(None)
                continue
            if not said:
                self._outer.append(None)
                continue
            indent = len(lines[number]) - len(said)
            while outer and outer[-1][0] >= indent:
                outer.pop()
            self._outer.append(outer[-1][1] if outer else heading)
            outer.append((indent, number))

    def of(self, number: int) -> int | None:
        """Return the line that encloses a line, None if there is none."""
        above = self._outer[number]
        while above is not None and above not in self._begins and not self._opens(above):
            above = self._outer[above]
        return above

    def _opens(self, number: int) -> bool:
        """Return whether a line opens a block of deeper ones."""
        said = self._stripped[number]
        if _ITEM.match(said):
            return True
        return len(said) <= LONGEST_HEADING and _OPENING.match(said) is not None

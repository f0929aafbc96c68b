"""Headings: the line of an output that says what other lines belong to, where those could belong to several.

A field (`url = …`) that occurs under several headings says nothing without its own. A heading is a section in square
brackets, a title with number signs, or a line that opens a block of deeper ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

READ_LINES = 2_000
LEAST_LINES = 4  # two headings with a field each
LEAST_HEADINGS = 2  # under a single one nothing is ambiguous
# A name with its value; a section in brackets; titles; and a line that opens a block: `name:`, `"name": {`, `- name`.
_FIELD = re.compile(r"[ \t]*(?:[-*+] )?[\"']?([A-Za-z_][\w .-]{0,39}+)[\"']?(?:=[ \t]*|:[ \t]+)[\"'\w./~\[-]")
_SECTION = re.compile(r"[ \t]*\[{1,2}[^\W\d][^\[\]=\"']{0,80}\]{1,2}[ \t]*$")
_TITLE = re.compile(r"#{1,6} \S|={2,} \S.* ={2,}$|-{2,} \S.* -{2,}$")
_OPENING = re.compile(r"[ \t]*(?:- )?[\"']?[\w./@ -]{1,60}[\"']?[ \t]*[:=]?[ \t]*[:{\[]$|[ \t]*- \w")


def headings_of(lines: Sequence[str]) -> dict[int, int]:
    """Return the number of the heading of each line that could belong to several, by the number of the line."""
    lines = lines[:READ_LINES]
    if len(lines) < LEAST_LINES:
        return {}
    fields = {number: found[1].rstrip() for number, line in enumerate(lines) if (found := _FIELD.match(line))}
    often = Counter(fields.values())
    if len(often) == len(fields):
        return {}
    enclosing = _enclosing(lines)
    found_heads = {
        number: enclosing[number]
        for number, field in fields.items()
        if often[field] > 1 and number in enclosing
    }
    alike: dict[str, set[int]] = {}
    for head in frozenset(found_heads.values()):
        alike.setdefault(lines[head].strip(), set()).add(head)
    if sum(map(len, alike.values())) < LEAST_HEADINGS:
        return {}
    for heads in alike.values():
        if len(heads) > 1:  # these need their own heading
            found_heads.update((head, enclosing[head]) for head in heads if head in enclosing)
    return found_heads


def _enclosing(lines: Sequence[str]) -> dict[int, int]:
    """Return the line that encloses each line: what opens its block, or the section or title before it."""
    begins = _SECTION if any(map(_SECTION.match, lines)) else _TITLE
    found: dict[int, int] = {}
    heading: int | None = None
    blocks: list[tuple[int, int]] = []  # the indentation and number of the lines that enclose the present one
    for number, line in enumerate(lines):
        if not line or line.isspace():
            continue
        if begins.match(line):
            heading, blocks = number, []
            continue
        indent = len(line) - len(line.lstrip())
        while blocks and blocks[-1][0] >= indent:
            blocks.pop()
        above = blocks[-1][1] if blocks else heading
        if above is not None:
            found[number] = above
        if _OPENING.match(line):
            blocks.append((indent, number))
    return found

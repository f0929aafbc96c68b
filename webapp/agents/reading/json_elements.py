"""A JSON document read as far as possible: the elements of its list one by one, so that only bad ones are left out.

`read_document` returns what a parser would, if the text is sound. If not, the elements of the list are separated by
their brackets and parsed one by one; an element that is broken, too deep or not JSON is left out and reported with its
number (from 0, as in the list). A document that breaks off gives the elements that are complete.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import orjson

from scoring.counted import counted
from scoring.formats import DEPTH_LIMIT
from webapp.agents.reading.content import line_of, mended
from webapp.agents.reading.rows import Fault, parse_value
from webapp.agents.records import Problem

LIST_KEYS = frozenset({"messages", "contents", "input", "history"})

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}",]', re.DOTALL)
_KEY = re.compile(rb'[\s,]*("[^"\\]*+(?:\\.[^"\\]*+)*+")\s*:\s*', re.DOTALL)
_BLANKS = re.compile(rb"\s*")
_OPEN, _CLOSE, _COMMA, _QUOTE = b"[{", b"]}", ord(","), ord('"')


@dataclass(slots=True)
class Document:
    """A document as it was read. `value` is the list, or an object with it; `places` are the numbers of its elements.

    `faults` are pairs of (number of the element or None, reason).
    """

    value: Any
    places: list[int] = field(default_factory=list)
    faults: list[tuple[int | None, str]] = field(default_factory=list)


def read_document(data: bytes) -> Document | None:
    """Return the document in these bytes; None if it is neither a list nor an object."""
    start = _BLANKS.match(data).end()  # type: ignore[union-attr]
    if data[start : start + 1] not in (b"[", b"{"):
        return None
    faults: list[tuple[int | None, str]] = []
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        fixed = mended(data)
        if fixed is not None:
            differ = (i for i, (a, b) in enumerate(zip(data, fixed[0], strict=False)) if a != b)
            at = next(differ, len(data))  # the replacement for a byte can begin with that byte
            faults.append((None, f"line {line_of(data, at)}: {fixed[1]}"))
            data = fixed[0]
        document = _by_pieces(data, start)
    else:
        document = Document(value, list(range(len(_list_in(value)))))
    document.faults[:0] = faults
    _leave_out_deep(document)
    return document


def read_object(data: bytes) -> tuple[dict[str, Any] | None, list[Problem]]:
    """Return the object in these bytes that has a list of messages, None if there is none, and what is wrong in it."""
    document = read_document(data)
    if document is None or not isinstance(document.value, dict):
        return None, [Problem(1, "no list of messages in the document")]
    faults = ((f"message {number}: " if number is not None else "", why) for number, why in document.faults)
    return document.value, [Problem(None, where + why) for where, why in faults]


def _list_in(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = next((value[key] for key in sorted(LIST_KEYS) if isinstance(value.get(key), list)), [])
    return value if isinstance(value, list) else []


def _leave_out_deep(document: Document) -> None:
    items = _list_in(document.value)
    deep = {i for i, item in enumerate(items) if deeper_than(item, DEPTH_LIMIT)}
    if deep:
        document.faults += [(document.places[i], f"JSON nested deeper than {DEPTH_LIMIT}") for i in deep]
        items[:] = [item for i, item in enumerate(items) if i not in deep]
        document.places = [place for i, place in enumerate(document.places) if i not in deep]


def deeper_than(value: Any, levels: int) -> bool:
    """Return whether a parsed value is nested deeper than `levels`; walks without recursion."""
    level = [value]
    for _ in range(levels + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _by_pieces(data: bytes, start: int) -> Document:
    if data[start] == _OPEN[0]:
        document = Document([])
        behind = _take_list(data, start + 1, document, document.value)
        if behind is not None and data[behind:].strip():
            where = f"line {line_of(data, behind)}"
            document.faults.append((None, f"{where}: there is text after the end of the list; left out"))
        return document
    document = Document({})
    at: int | None = start + 1
    while at is not None and (found := _KEY.match(data, at)) is not None:
        key, _ = parse_value(found[1])
        begin = found.end()
        if key in LIST_KEYS and data[begin : begin + 1] == b"[" and not _list_in(document.value):
            items: list[Any] = []
            document.value[key] = items
            at = _take_list(data, begin + 1, document, items)
            continue
        end = value_end(data, begin)
        value, _ = parse_value(data[begin : end if end is not None else len(data)])
        if isinstance(value, Fault):
            document.faults.append((None, f"field {str(key)[:40]}: {value.reason}"))
        else:
            document.value[key] = value
        at = end if end is not None and data[end] == _COMMA else None
    return document


def _take_list(data: bytes, at: int, document: Document, items: list[Any]) -> int | None:
    """Add the elements after the opening bracket; return the list's end, None if the text breaks off."""
    number = 0
    while True:
        end = value_end(data, at)
        piece = data[at : end if end is not None else len(data)]
        if piece.strip() or (end is not None and data[end] == _COMMA):
            value, mended_here = parse_value(piece)
            if isinstance(value, Fault):
                reason = value.reason if end is not None else "the file breaks off inside it"
                document.faults.append((number, reason))
            else:
                if mended_here is not None:
                    document.faults.append((number, mended_here))
                items.append(value)
                document.places.append(number)
            number += 1
        if end is None:
            where = f"line {line_of(data, len(data))}, byte {len(data):,}"
            said = f"{where}: the file breaks off before its list ends; {counted(len(items), 'message')} before that"
            document.faults.append((None, said + " are used"))
            return None
        at = end + 1
        if data[end] != _COMMA:
            return at


def value_end(data: bytes, start: int) -> int | None:
    """Return the end of the value at `start`, a comma or closing bracket; None if the text breaks off."""
    depth = 0
    for token in _TOKEN.finditer(data, start):
        at = token.start()
        sign = data[at]
        if sign in _OPEN:
            depth += 1
        elif sign in _CLOSE:
            if depth == 0:
                return at
            depth -= 1
        elif sign == _COMMA:
            if depth == 0:
                return at
        elif sign == _QUOTE and token.end() == at + 1:
            return None  # a string that does not end
    return None

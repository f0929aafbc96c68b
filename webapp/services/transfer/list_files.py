"""Files with message lists: the messages that can be read, and the problems with the rest, each with its place.

A file is a list, a request body, or a message a line. In a list messages count from 0, as in the JSON; lines count
from 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scoring.errors import MalformedMessage, UnknownFormat
from scoring.formats import DEPTH_LIMIT, Decoded
from webapp.agents.reading.content import Content, mended
from webapp.agents.reading.json_elements import LIST_KEYS, Document, deeper_than, read_document
from webapp.agents.reading.rows import Fault, parse, parse_value
from webapp.agents.reading.tail import lines_of
from webapp.agents.records import Problem
from webapp.errors import Malformed
from webapp.services.ingest.message_lists import read_readable

_LOOKED_AT = 50  # lines
PROBLEMS_KEPT = 50


@dataclass(slots=True)
class ListFile:
    """The messages of a file. `skipped` is how many could not be used, `problems` says which and why."""

    decoded: Decoded
    model: str | None
    skipped: int = 0
    problems: list[str] = field(default_factory=list)

    def tell(self, problem: str) -> None:
        """Add a problem; beyond `PROBLEMS_KEPT` they are only counted."""
        if len(self.problems) < PROBLEMS_KEPT:
            self.problems.append(problem)


def read_file(name: str, content: Content, wire_format: str | None) -> ListFile:
    """Return the messages of a file.

    Raises:
        Malformed: it is not a known kind of message list, or none of its messages can be read.
    """
    by_line = is_lines(content)
    document = _by_lines(content) if by_line else read_document(content.whole())
    if document is None or (not document.places and not _holds_list(document.value)):
        reason = f": {document.faults[0][1]}" if document is not None and document.faults else ""
        raise Malformed(f"{name}: not a list of messages{reason}")
    place: Callable[[int], str] = (lambda n: f"line {n}") if by_line else (lambda n: f"message {n}")
    try:
        decoded, faults = read_readable(document.value, wire_format)
    except UnknownFormat as error:
        raise Malformed(f"{name}: {error}") from error
    if not decoded.messages:
        raise _nothing_readable(name, place, document, faults)
    model = document.value.get("model") if isinstance(document.value, dict) else None
    file = ListFile(decoded, model if isinstance(model, str) else None)
    unread = [(n, reason) for n, reason in document.faults if n is not None]
    unread += [(_number(document, fault), fault.reason) for fault in faults]
    for n, reason in sorted(unread):
        file.tell(f"{place(n)}: {reason}")
    for _, reason in (fault for fault in document.faults if fault[0] is None):
        file.tell(reason)
    used = set(document.places) - {_number(document, fault) for fault in faults}
    file.skipped = len({n for n, _ in unread} - used)
    return file


def _number(document: Document, fault: MalformedMessage) -> int:
    return document.places[fault.index] if fault.index < len(document.places) else fault.index


def _holds_list(value: Any) -> bool:
    return isinstance(value, dict) and bool(LIST_KEYS & value.keys())


def _nothing_readable(
    name: str, place: Callable[[int], str], document: Document, faults: list[MalformedMessage]
) -> Malformed:
    if faults:
        first = faults[0]
        return Malformed(f"{name}: {place(_number(document, first))}: {first.reason}")
    if document.faults:
        n, reason = document.faults[0]
        return Malformed(f"{name}: {reason if n is None else f'{place(n)}: {reason}'}")
    return Malformed(f"{name}: the list is empty")


def is_lines(content: Content) -> bool:
    """Return whether a file is a message a line: the first line is an object or, if broken, half of the others."""
    head = content.head().lstrip()
    if head[:1] == b"[":
        return False
    lines = [line for line in head.split(b"\n", _LOOKED_AT)[:_LOOKED_AT] if line.strip()]
    if len(lines) > 1:
        found = [isinstance(parse(line), dict) for line in lines]
        return found[0] or 2 * sum(found) >= len(found) - 1
    first = next(lines_of(content.blocks()), None)  # longer than the part that was read, or the only one
    if isinstance(first, Problem):
        return head[:1] != b"{"
    row = parse(first.data) if first is not None else ""
    return isinstance(row, dict) and (not LIST_KEYS & row.keys() or "role" in row)


def _by_lines(content: Content) -> Document:
    """Read one message per line; one line alone may be a whole body."""
    document = Document([])
    for item in lines_of(content.blocks()):
        if isinstance(item, Problem):
            document.faults.append((item.line, item.reason))
            continue
        value, fixed = parse_value(item.data)
        if isinstance(value, Fault) and (found := mended(item.data)) is not None:
            again, _ = parse_value(found[0])
            value, fixed = (value, None) if isinstance(again, Fault) else (again, found[1])
        if isinstance(value, Fault):
            document.faults.append((item.number, value.reason))
            continue
        if deeper_than(value, DEPTH_LIMIT):
            document.faults.append((item.number, f"JSON nested deeper than {DEPTH_LIMIT}"))
            continue
        if fixed is not None:
            document.faults.append((item.number, fixed))
        document.value.append(value)
        document.places.append(item.number)
    return document

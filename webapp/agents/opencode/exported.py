"""A session as `opencode export` writes it and `opencode import` reads it: one document with its facts and messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from webapp.agents.opencode.decoder import records_of
from webapp.agents.reading.content import Content
from webapp.agents.reading.json_elements import read_object
from webapp.agents.reading.rows import list_of, object_of, text_of
from webapp.agents.records import Origin, Problem, Record, TranscriptFile

_SESSION = re.compile(rb'"id"\s*:\s*"(ses_[^"\\]{1,200})"')


def match_score(row: dict[str, Any]) -> int:
    """Return 2 for an export that is written in one line, 0 for any other row."""
    return 2 if is_document(row) else 0


def is_document(value: dict[str, Any]) -> bool:
    """Return whether an object is an exported session."""
    messages = value.get("messages")
    has_id = bool(text_of(object_of(value.get("info")).get("id")))
    return has_id and isinstance(messages, list) and all("info" in object_of(one) for one in messages[:1])


def begins_document(start: bytes) -> bool:
    """Return whether these are the first bytes of an export that is too long to be parsed."""
    return b'"info"' in start and _SESSION.search(start) is not None


def origin(path: PurePath, head: bytes, on_disk: bool) -> Origin:
    """Return the session of an exported file by its first bytes."""
    found = _SESSION.search(head)
    return Origin(found[1].decode() if found is not None else None)


def decode(content: Content, file: TranscriptFile | None = None) -> Iterator[Record]:
    """Yield the records of an exported file; only messages that cannot be read are left out."""
    document, problems = read_object(content.whole())
    yield from problems
    if document is None:
        return
    messages: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    for number, one in enumerate(map(object_of, list_of(document.get("messages")))):
        info, parts = object_of(one.get("info")), list_of(one.get("parts"))
        if text_of(info.get("id")):
            messages.append((info, [object_of(part) for part in parts]))
        else:
            yield Problem(None, f"message {number}: it has no id")
    yield from records_of(object_of(document.get("info")), messages)

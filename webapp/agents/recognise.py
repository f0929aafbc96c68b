"""Recognition of imported files by their content; the first rows decide, and a few of them can be broken or unknown."""

from __future__ import annotations

import codecs
from collections import Counter
from typing import Any

import orjson

from webapp.agents import AGENTS
from webapp.agents.agent import FileImport
from webapp.agents.reading.rows import is_json_document, parse

COPPICE = "coppice"  # our own export: its first row has this key
WIRE = "wire"  # a list of messages or a request body, as providers take them

_LOOKED_AT = 50  # rows
IMPORTS: dict[str, FileImport] = {a.source: a.files for a in AGENTS.values() if a.files is not None}


def recognise(head: bytes) -> str | None:
    """Return the source of a file by its first bytes (for a small one, all of it): an agent, COPPICE or WIRE.

    None if it is not recognised.
    """
    head = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if head[:1] == b"{" and not is_json_document(head):
        return _by_rows(head)
    try:
        document = orjson.loads(head)
    except orjson.JSONDecodeError:
        return _by_rows(head) or _by_first_words(head)
    if isinstance(document, dict):
        return _by_document(document)
    return WIRE if isinstance(document, list) and document and isinstance(document[0], dict) else None


def _by_document(document: dict[str, Any]) -> str | None:
    for source, files in IMPORTS.items():
        if files.is_document is not None and files.is_document(document):
            return source
    return WIRE if {"messages", "contents", "input"} & document.keys() else None


def _by_rows(head: bytes) -> str | None:
    votes: Counter[str] = Counter()
    for line in head.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]:
        row = parse(line) if line.strip() else ""
        if isinstance(row, dict) and (vote := _vote(row)) is not None:
            votes[vote] += 1
    if votes[COPPICE]:
        return COPPICE
    return votes.most_common(1)[0][0] if votes else None


def _vote(row: dict[str, Any]) -> str | None:
    if COPPICE in row:
        return COPPICE
    scores = {source: files.match_score(row) for source, files in IMPORTS.items()}
    source = max(scores, key=scores.__getitem__)
    if scores[source]:
        return source
    return WIRE if {"messages", "contents", "input", "role"} & row.keys() else None


def _by_first_words(head: bytes) -> str | None:
    """Return the source of a document too long for its head to be whole JSON."""
    start = head[:2048]
    if start[:1] == b"[" and (b'"role"' in start or b'"type"' in start):
        return WIRE
    for source, files in IMPORTS.items():
        if files.begins is not None and files.begins(start):
            return source
    if start[:1] == b"{" and (b'"messages"' in start or b'"contents"' in start or b'"input"' in start):
        return WIRE
    return None

"""Reading samples and shared transcripts for the tests of decoders."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from tests.shared import ROOT
from webapp.agents.reading.tail import LineDecoder, decode
from webapp.agents.reading.text import Content
from webapp.agents.records import Entry, Record

SAMPLES = ROOT / "tests" / "transcripts"

T = TypeVar("T")


def decoded(path: Path, decoder: LineDecoder) -> list[Record]:
    """Return all records of a file of lines."""
    return list(decode(Content(path.read_bytes()), decoder))


def of(kind: type[T], records: Iterable[Record], stream: str | None = "") -> list[T]:
    """The records of one kind, of one stream (None: of all)."""
    return [r for r in records if isinstance(r, kind) and stream in (None, getattr(r, "stream", stream))]


def said(records: Iterable[Record], stream: str | None = "") -> list[tuple[str, str]]:
    """(role, text) of the entries; a reminder's role is "reminder"."""
    return [(e.message.name or e.message.role, e.message.text) for e in of(Entry, records, stream)]


def facts(records: Iterable[Record], kind: type[Any], field: str, stream: str = "") -> list[Any]:
    """The values of a field that records of a kind name, in order."""
    return [value for r in of(kind, records, stream) if (value := getattr(r, field)) is not None]

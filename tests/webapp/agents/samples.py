"""Samples and shared transcripts for the tests of decoders."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import orjson

from tests.shared import ROOT
from webapp.agents.agent import Agent
from webapp.agents.reading.content import Content
from webapp.agents.reading.tail import Line, LineDecoder, decode
from webapp.agents.records import Entry, Record, TranscriptFile

SAMPLES = ROOT / "tests" / "transcripts"

T = TypeVar("T")


def samples_of(agent: Agent) -> list[TranscriptFile]:
    """Return the sessions that an agent has if its variable names the folder of its samples."""
    folder = str(SAMPLES / agent.source)
    roots = agent.roots({agent.variable: folder, "HOME": folder})
    return [file for root in roots for file in agent.discover(root)]


def decoded(path: Path, decoder: LineDecoder) -> list[Record]:
    """Return all records of a file of lines."""
    return list(decode(Content(path.read_bytes()), decoder))


def fed(decoder: LineDecoder, rows: Iterable[dict[str, Any]]) -> list[Record]:
    """Return the records of rows."""
    return [r for n, row in enumerate(rows, 1) for r in decoder.feed(Line(n, orjson.dumps(row)))]


def grow(path: Path, data: bytes) -> None:
    """Append to the file, with a new modification time even on coarse clocks."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    with path.open("ab") as file:
        file.write(data)
    os.utime(path, ns=(before + 1_000_000, before + 1_000_000))


def of(kind: type[T], records: Iterable[Record], stream: str | None = "") -> list[T]:
    """Return the records of one kind and stream; None means all streams."""
    return [r for r in records if isinstance(r, kind) and stream in (None, getattr(r, "stream", stream))]


def said(records: Iterable[Record], stream: str | None = "") -> list[tuple[str, str]]:
    """Return (role, text) of the entries, with the role "reminder" for reminders."""
    return [(e.message.name or e.message.role, e.message.text) for e in of(Entry, records, stream)]


def facts(records: Iterable[Record], kind: type[Any], field: str, stream: str = "") -> list[Any]:
    """Return the values of a field in records of one kind, in order."""
    return [value for r in of(kind, records, stream) if (value := getattr(r, field)) is not None]

"""Splitting records before they are written: into batches and runs of entries; unusable ones are counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from scoring.messages import Message, ToolCall
from webapp.agents.records import Compaction, Entry, Meta, Problem, Record, Unknown, UsageReport
from webapp.store.keys import is_long

# The most records in one transaction: enough to make its cost small, few enough that nobody waits long.
BATCH_RECORDS = 1_000
# … and about the most bytes of content, because a batch is held in memory several times over.
BATCH_BYTES = 4 << 20
NOTES_KEPT = 20
# The most kinds of unknown rows that notes name, and the most characters of each.
KINDS_SHOWN, KIND_CHARS = 6, 60


@dataclass(slots=True)
class Tally:
    """A count of the unusable parts of a file."""

    malformed: int = 0
    problems: list[str] = field(default_factory=list)
    unknown: dict[str, int] = field(default_factory=dict)

    def take(self, records: Iterable[Record]) -> None:
        """Count problems and unknown rows."""
        for record in records:
            if isinstance(record, Problem):
                self.malformed += not record.used
                if len(self.problems) < NOTES_KEPT:
                    place = f"line {record.line}: " if record.line is not None else ""
                    self.problems.append(f"{place}{record.reason}")
            elif isinstance(record, Unknown):
                self.unknown[record.type] = self.unknown.get(record.type, 0) + 1

    def unread_kinds(self) -> list[str]:
        """Return a note for each kind of row that is unknown, of the first few."""
        return [f"not read: {kind[:KIND_CHARS]}" for kind in sorted(self.unknown)[:KINDS_SHOWN]]


def batches(records: Iterable[Record]) -> Iterator[tuple[str, list[Record]]]:
    """Yield records in runs of one stream, in order, none longer than a batch."""
    stream, batch, size = "", list[Record](), 0
    for record in records:
        own = getattr(record, "stream", stream)
        if batch and (own != stream or len(batch) >= BATCH_RECORDS or size >= BATCH_BYTES):
            yield stream, batch
            batch, size = [], 0
        stream = own
        batch.append(record)
        size += weight(record)
    if batch:
        yield stream, batch


def megabytes(size: int) -> str:
    """Return a number of bytes in words."""
    return f"{size / (1 << 20):,.1f} MiB"


def weight(record: Record) -> int:
    """Return about how many bytes a record holds."""
    if not isinstance(record, Entry):
        return 0
    return len(record.raw) if record.raw is not None else weight_of(record.message)


def long_id(record: Record, session_id: str) -> str | None:
    """Return the first id of a session's record that is longer than the store takes; None if there is none."""
    stream = getattr(record, "stream", "")
    ids = (
        getattr(record, "source_id", None),
        getattr(record, "call_key", None),
        record.parent if isinstance(record, Meta) else None,
        f"{session_id}.{stream}" if stream else None,
    )
    inner = record.replacement or () if isinstance(record, Compaction) else ()
    found = (one for one in ids if one is not None and is_long(one))
    return next(found, None) or next(filter(None, (long_id(one, session_id) for one in inner)), None)


def weight_of(message: Message) -> int:
    """Return about how many characters a message holds."""
    size = 0
    for part in message.parts:
        size += len(part.arguments) if isinstance(part, ToolCall) else len(getattr(part, "text", ""))
    return size


def runs(records: Sequence[Record]) -> Iterator[list[Entry] | UsageReport]:
    """Yield entries in runs and usage reports one by one, in order."""
    run: list[Entry] = []
    for record in records:
        if isinstance(record, Entry):
            run.append(record)
            continue
        if not isinstance(record, UsageReport):
            continue
        if run:
            yield run
            run = []
        yield record
    if run:
        yield run

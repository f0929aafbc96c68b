"""The pruned view as `scoring` takes it: messages with their features, and summaries.

Reading it costs one ordered read of the items and one of their messages, however long the log is.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from sys import getsizeof
from typing import Any

from scoring.assembly import Item
from scoring.formats import matches_wire
from scoring.history import Features
from scoring.messages import MEDIA_SOURCE, Message, Wire
from scoring.summary import Summary
from webapp.services.session.codec import json_value
from webapp.services.session.replacements import sent_tokens, with_replacement
from webapp.services.session.stored_messages import read_features, time_of
from webapp.services.session.times import iso
from webapp.store import Store
from webapp.store.context import MESSAGE, PRUNED, ContextItem
from webapp.store.log import EntryRow, MessageRow
from webapp.store.summaries import SummaryRow

BATCH = 500
# The size of the cache in bytes, and that of a message besides its content: the objects that it consists of. The
# messages of 31 real sessions of three agents took 0.4 to 1.0 times the size that is counted for them.
BYTES_KEPT, FRAME_BYTES = 100_000_000, 1_100


@dataclass(slots=True)  # not frozen: thousands are made for each context, and freezing doubles what one costs
class ViewItem:
    """One place of the view: a message with its row, or a summary with its own."""

    item: Item | Summary
    row: MessageRow | SummaryRow
    untouched: bool = False  # the message as the log has it, with no replacement
    as_read: bool = False  # unchanged, and its wire object decodes to the same message

    @property
    def value(self) -> Message | Summary:
        """Return the message or summary as `scoring` takes it."""
        return self.item if isinstance(self.item, Summary) else self.item.message

    @property
    def message(self) -> Message:
        """Return the message as the model reads it."""
        return self.item.as_message() if isinstance(self.item, Summary) else self.item.message

    @property
    def tokens(self) -> int:
        """Return the estimated tokens."""
        return self.item.tokens or 0


class MessageCache:
    """A cache of decoded messages. A message is read again when it has a new last entry."""

    def __init__(self, bytes_kept: int = BYTES_KEPT) -> None:
        self._kept = bytes_kept
        self._bytes = 0
        self._messages: OrderedDict[tuple[int, int], tuple[bytes, int, Message, int]] = OrderedDict()
        self._as_read: set[int] = set()  # the identity of messages that are kept
        self._lock = threading.Lock()

    def of(self, store: Store, session: int, rows: Mapping[int, MessageRow]) -> dict[int, Message]:
        """Return the messages of these rows, by number; read those that are not cached."""
        found: dict[int, Message] = {}
        with self._lock:
            for no, row in rows.items():
                kept = self._messages.get((session, no))
                if kept is not None and kept[:2] == (row.id, row.last_seq):
                    self._messages.move_to_end((session, no))
                    found[no] = kept[2]
        missing = [no for no in rows if no not in found]
        read = store.log.rows_of(session, missing) if missing else {}
        for no in missing:
            found[no] = message_of(read[no])
        with self._lock:
            for no in missing:
                self._keep((session, no), rows[no], found[no], _size(found[no], read[no]))
        return found

    def as_read(self, messages: Mapping[int, Message]) -> set[int]:
        """Return the numbers of the cached messages whose wire object decodes to them; each is compared once."""
        with self._lock:
            return {no for no, message in messages.items() if id(message) in self._as_read}

    def forget(self, session: int) -> None:
        """Drop the messages of a session that is deleted: its numbers are never asked for again."""
        with self._lock:
            for name in [name for name in self._messages if name[0] == session]:
                self._drop(name)

    def _drop(self, name: tuple[int, int]) -> None:
        _, _, message, size = self._messages.pop(name)
        self._as_read.discard(id(message))
        self._bytes -= size

    def _keep(self, name: tuple[int, int], row: MessageRow, message: Message, size: int) -> None:
        if name in self._messages:
            self._drop(name)
        self._bytes += size
        self._messages[name] = (row.id, row.last_seq, message, size)
        if matches_wire(message):
            self._as_read.add(id(message))
        while self._bytes > self._kept and len(self._messages) > 1:
            self._drop(next(iter(self._messages)))


def _size(message: Message, entries: Sequence[EntryRow]) -> int:
    """Return the approximate bytes of a message in memory: its frame, its parts, and its wire object if it has one."""
    parts = sum(getsizeof(entry.parts) for entry in entries)
    wire = sum(len(entry.raw or b"") for entry in entries) if message.wire is not None else 0
    return FRAME_BYTES + parts + wire


def view_items(store: Store, session: int, cache: MessageCache | None = None) -> list[ViewItem]:
    """Return the pruned view in order, inside the caller's snapshot."""
    cache = cache or MessageCache()
    items = store.contexts.items(session, PRUNED)
    summaries = {s.n: s for s in store.summaries.active(session)}
    out: list[ViewItem] = []
    for start in range(0, len(items), BATCH):
        some = items[start : start + BATCH]
        rows = store.log.messages(session, [item.ref for item in some if item.kind == MESSAGE])
        messages = cache.of(store, session, rows)
        as_read = cache.as_read(messages)
        for item in some:
            if item.kind != MESSAGE:
                found = summaries[item.ref]
                out.append(ViewItem(summary_value(found), found))
                continue
            one = rows[item.ref]
            shown = _item(one, with_replacement(messages[item.ref], item.replacement), item)
            untouched = item.replacement is None
            out.append(ViewItem(shown, one, untouched, untouched and item.ref in as_read))
    return out


def _item(row: MessageRow, message: Message, item: ContextItem) -> Item:
    tokens = sent_tokens(row, item.replacement)

    def features() -> Features:
        return next(iter(read_features([row.features])))._replace(tokens=tokens)

    return Item(row.mid, message, features, bool(row.pinned), tokens=tokens)


def summary_value(row: SummaryRow) -> Summary:
    """Return a summary as `scoring` takes it."""
    first, last = iso(row.first_at) or "", iso(row.last_at) or ""
    return Summary(str(row.n), row.text, row.depth, row.messages, first, last, row.note, row.tokens)


def message_of(entries: Sequence[EntryRow]) -> Message:
    """Return the message that entries form.

    A single entry keeps its wire object; media come from rows of transcripts.
    """
    said = [entry.message for entry in entries]
    first = said[0]
    parts = tuple(part for message in said for part in message.parts)
    wire = None
    if len(entries) == 1 and entries[0].format and entries[0].raw is not None:
        wire = Wire(entries[0].format, json_value(entries[0].raw))
    message = Message(first.role, parts, first.name if wire is not None else "", wire, time_of(entries))
    if wire is None and message.media:
        return replace(message, wire=Wire(MEDIA_SOURCE, list(_raw_values(entries))))
    return message


def _raw_values(entries: Iterable[EntryRow]) -> Iterator[Any]:
    for entry in entries:
        if entry.raw:
            try:
                yield json_value(entry.raw)
            except ValueError:
                continue

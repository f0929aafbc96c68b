"""Which message an entry belongs to: one that is open, one of the log that is taken up again, or a new one.

An entry that replaces another belongs to the message of that one; an entry of a group belongs to the group's message,
as long as that lies no further back than GROUP_REACH messages. What one look costs depends on the batch alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scoring.messages import Message, Role
from webapp.agents.records import Entry, Usage
from webapp.services.session.state import SessionState
from webapp.services.session.times import to_ms
from webapp.store import Store
from webapp.store.log import EntryRow, MessageRow
from webapp.store.sessions import SessionRow

# How far back a message may still get entries of its group, in messages.
GROUP_REACH = 64


@dataclass(slots=True)
class Open:
    """A message that is being put together. `estimate_before` is the context before it, `old` what the log has."""

    no: int
    first_seq: int
    kind: str
    role: Role
    group: str | None
    at: int | None
    estimate_before: int
    said: dict[int, Message] = field(default_factory=dict)
    last_seq: int = 0
    usage: Usage | None = None
    call_key: str | None = None
    model: str | None = None
    last_source: str | None = None
    entry_id: bytes = b""
    old: MessageRow | None = None

    def message(self) -> Message:
        """All that was said, as one message."""
        said = [self.said[seq] for seq in sorted(self.said)]
        if len(said) == 1:
            return said[0]
        return Message(said[0].role, tuple(p for m in said for p in m.parts), said[0].name)


class OpenMessages:
    """The open messages of one batch. `entries` and `messages` are what the batch has put together so far, and grow
    outside; `estimate` tells the tokens of the context by now. New messages are numbered by `row`.
    """

    def __init__(
        self,
        store: Store,
        row: SessionRow,
        carried: SessionState,
        entries: Sequence[EntryRow],
        messages: Mapping[int, MessageRow],
        estimate: Callable[[], int],
    ) -> None:
        self._store, self._row, self._carried = store, row, carried
        self._entries, self._messages, self._estimate = entries, messages, estimate
        self._open: dict[str, Open] = {}
        self._recent: list[MessageRow] | None = None

    def of(self, entry: Entry, replaced: int | None = None) -> Open:
        """The message of an entry; `replaced` is the number of the message whose entry it replaces, if any."""
        if replaced is not None and (found := self.reopened(replaced)) is not None:
            return self._keep(entry, found)
        if entry.group is not None:
            if entry.group in self._open:
                return self._open[entry.group]
            old = next((m for m in reversed(self.recent()) if m.group_key == entry.group), None)
            if old is not None and (found := self.reopened(old.no)) is not None:
                return self._keep(entry, found)
        before = self._estimate()
        if entry.group is not None:
            before = self._carried.group_before(entry.group, before)
        at, role = to_ms(entry.at), entry.message.role
        opened = Open(self._row.next_no, self._row.next_seq, entry.kind, role, entry.group, at, before)
        self._row.next_no += 1
        return self._keep(entry, opened)

    def _keep(self, entry: Entry, opened: Open) -> Open:
        if entry.group is not None:
            self._open[entry.group] = opened
        return opened

    def reopened(self, no: int) -> Open | None:
        """The message with this number, with all its entries; None where there is none."""
        waiting = next((o for o in self._open.values() if o.no == no), None)
        if waiting is not None:
            return waiting
        old = self._messages.get(no) or self._store.log.message(self._row.key, no)
        if old is None:
            return None
        stored = self._store.log.entries_of(self._row.key, old) if old.first_seq < self._first_seq() else []
        own = [e for e in self._entries if e.message_no == no]
        replaced = {e.supersedes for e in own}
        said = {e.seq: e.message for e in [*stored, *own] if e.seq not in replaced}
        before = max(0, self._estimate() - old.tokens)
        if old.group_key is not None:
            before = self._carried.group_before(old.group_key, before)
        source = stored[-1].source_id if stored else None
        return Open(no, old.first_seq, old.kind, old.role, old.group_key, old.at, before, said, old.last_seq,
                    last_source=source, entry_id=old.id, old=old)  # fmt: skip

    def _first_seq(self) -> int:
        return self._entries[0].seq if self._entries else self._row.next_seq

    def finished(self, group: str | None = None) -> Iterator[Open]:
        """The open message of a group, by default of every group; what is given out is open no more."""
        for name in list(self._open) if group is None else [group]:
            if (opened := self._open.pop(name, None)) is not None:
                yield opened

    def recent(self) -> list[MessageRow]:
        """The last messages of the log and of the batch, oldest first."""
        if self._recent is None:
            next_no = min(self._messages, default=self._row.next_no)
            self._recent = self._store.log.last_messages(self._row.key, next_no, GROUP_REACH)
        return [*self._recent, *(self._messages[no] for no in list(self._messages)[-GROUP_REACH:])]

"""OpenMessages: finds the message an entry belongs to: an open one, one of the log that is reopened, or a new one.

An entry that replaces another belongs to the message of that one; an entry of a group belongs to the group's message,
unless that lies more than GROUP_REACH messages back. A lookup costs the same however long the session is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from scoring.messages import Message, Role
from webapp.agents.records import Entry, Usage
from webapp.services.session.session import Session
from webapp.services.session.times import to_ms
from webapp.store.log import EntryRow, MessageRow

# A message at most this many messages back may still get entries of its group.
GROUP_REACH = 64


@dataclass(slots=True)
class OpenMessage:
    """A message that is being assembled.

    `by_seq` are the messages of its entries, `estimate_before` is the context before it, `old` its row in the log, if
    any. An `inherited` one is of the parent session.
    """

    no: int
    first_seq: int
    kind: str
    role: Role
    group: str | None
    at: int | None
    estimate_before: int
    by_seq: dict[int, Message] = field(default_factory=dict)
    last_seq: int = 0
    usage: Usage | None = None
    call_key: str | None = None
    model: str | None = None
    last_source: str | None = None
    entry_id: bytes = b""
    old: MessageRow | None = None
    inherited: bool = False

    def message(self) -> Message:
        """Return the entries so far as one message."""
        first, *others = [self.by_seq[seq] for seq in sorted(self.by_seq)]
        if not others:
            return first
        return Message(first.role, tuple(p for m in (first, *others) for p in m.parts), first.name)


class OpenMessages:
    """The open messages of one batch.

    `entries` and `messages` are those of the batch so far; the batch adds to them.
    """

    def __init__(
        self, session: Session, entries: Sequence[EntryRow], messages: dict[int, MessageRow]
    ) -> None:
        self._session, self._row = session, session.row
        self._log = session.environment.store.log
        self._entries, self._messages = entries, messages
        self._open: dict[str, OpenMessage] = {}
        self._recent: list[MessageRow] | None = None

    def of(self, entry: Entry, replaced: int | None = None) -> OpenMessage:
        """Return the message of an entry; `replaced` is the number of the message whose entry it replaces, if any."""
        if replaced is not None and (found := self.reopened(replaced)) is not None:
            return self._keep(entry, found)
        if entry.group is not None:
            if entry.group in self._open:
                return self._open[entry.group]
            old = next((m for m in reversed(self.recent()) if m.group_key == entry.group), None)
            if old is not None and (found := self.reopened(old.no)) is not None:
                return self._keep(entry, found)
        before = self._session.main.estimate
        if entry.group is not None:
            before = self._session.state.group_before(entry.group, before)
        opened = OpenMessage(
            no=self._row.next_no,
            first_seq=self._row.next_seq,
            kind=entry.kind,
            role=entry.message.role,
            group=entry.group,
            at=to_ms(entry.at),
            estimate_before=before,
        )
        self._row.next_no += 1
        return self._keep(entry, opened)

    def _keep(self, entry: Entry, opened: OpenMessage) -> OpenMessage:
        opened.inherited = entry.inherited
        if entry.group is not None:
            self._open[entry.group] = opened
        return opened

    def reopened(self, no: int) -> OpenMessage | None:
        """Return the message with this number and all its entries, or None."""
        opened = next((o for o in self._open.values() if o.no == no), None)
        if opened is not None:
            return opened
        old = self._messages.get(no) or self._log.message(self._row.key, no)
        if old is None:
            return None
        stored = self._log.entries_of(self._row.key, old) if old.first_seq < self._first_seq() else []
        own = [e for e in self._entries if e.message_no == no]
        replaced = {e.supersedes for e in own}
        by_seq = {e.seq: e.message for e in [*stored, *own] if e.seq not in replaced}
        before = max(0, self._session.main.estimate - old.tokens)
        if old.group_key is not None:
            before = self._session.state.group_before(old.group_key, before)
        source = stored[-1].source_id if stored else None
        return OpenMessage(
            no=no, first_seq=old.first_seq, kind=old.kind, role=old.role, group=old.group_key, at=old.at,
            estimate_before=before, by_seq=by_seq, last_seq=old.last_seq, last_source=source, entry_id=old.id,
            old=old,
        )  # fmt: skip

    def _first_seq(self) -> int:
        return self._entries[0].seq if self._entries else self._row.next_seq

    def has(self, group: str | None) -> bool:
        """Return whether the message of a group is open."""
        return group in self._open

    def finished(self) -> Iterator[OpenMessage]:
        """Close and yield every open message."""
        for name in list(self._open):
            yield self._open.pop(name)

    def recent(self) -> list[MessageRow]:
        """Return the last messages of the log and of the batch, oldest first."""
        if self._recent is None:
            next_no = min(self._messages, default=self._row.next_no)
            self._recent = self._log.last_messages(self._row.key, next_no, GROUP_REACH)
        newest = list(islice(reversed(self._messages.values()), GROUP_REACH))
        return [*self._recent, *reversed(newest)]

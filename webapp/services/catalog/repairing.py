"""Rebuilds derived data: message rows from the log, contexts from operations, totals and the index of words.

The log, operations, summaries and memories cannot be rebuilt; faults in them remain and need a backup. A
message that no operation took out is in the pruned view afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import orjson

from scoring.history import Features
from webapp.errors import DamagedStore
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.measuring import measure
from webapp.services.session.operation import counted_totals
from webapp.services.session.session import Session
from webapp.services.session.stored_messages import features_text, whole
from webapp.store.context import MESSAGE, PRUNED
from webapp.store.indexed_text import index_entries, index_memories
from webapp.store.log import EntryRow, MessageRow, current
from webapp.store.sessions import DAMAGED, SessionRow
from webapp.store.verify import BROKEN

BATCH = 500  # entries that are read at a time
DERIVED = ("messages", "flags", "context", "totals")


class Repairing:
    """The use case of `coppice verify --repair`."""

    def __init__(self, environment: Environment, histories: Histories) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories

    def repair(self) -> Iterator[str]:
        """Rebuild the derived data of every session with a fault; yield what was done, one line each."""
        faults = list(self._store.verify())
        for row in self._store.sessions.all():
            own = [fault for fault in faults if fault.startswith(f"session {row.id}: ")]
            if not own:
                continue
            if any(": entry " in fault or ": entries of its log" in fault for fault in own):
                yield f"session {row.id}: its log is damaged, so nothing is rebuilt from it"
                continue
            if {DAMAGED.format(name) for name in ("next_seq", "next_no")}.intersection(row.damaged):
                yield f"session {row.id}: cannot be rebuilt: its row does not tell how long its log is"
                continue
            try:
                with self._environment.lock(row.id):
                    # The session as it is now: others may have appended to it.
                    with self._store.write(row.id):
                        self._rebuild(Session.load(self._environment, row.id))
                    with self._store.write(row.id):
                        self._store.seal(row.key, DERIVED)
            except (DamagedStore, *BROKEN) as error:
                yield f"session {row.id}: cannot be rebuilt: {error}"
                continue
            self._histories.drop(row.key)
            yield f"session {row.id}: messages, context and totals were rebuilt"
        if any("the index of words" in fault for fault in faults):
            self._index()
            yield "the index of words was rebuilt"

    def _rebuild(self, session: Session) -> None:
        store, row = self._store, session.row
        seqs: dict[int, list[int]] = {}
        for start in range(0, row.next_seq, BATCH):
            for entry in store.log.entries(row.key, start, start + BATCH - 1):
                seqs.setdefault(entry.message_no, []).append(entry.seq)
        taken_out = self._taken_out(row)
        names: dict[str, str] = {}
        for no in range(1, row.next_no):
            entries = [one for seq in seqs.get(no, ()) if (one := store.log.entry(row.key, seq)) is not None]
            if entries:
                made = self._message(session, no, entries, taken_out.get(no), names)
                store.log.put_messages(row.key, [made])
        self._place(session, set(seqs) - {0}, taken_out)
        for context in session.contexts:
            context.totals = counted_totals(session, context)
        row.operations = len(store.operations.all(row.key))
        session.touch()
        session.save()

    def _taken_out(self, row: SessionRow) -> dict[int, int]:
        """Return the operation that took each message out of the pruned view, if it still applies."""
        found: dict[int, int] = {}
        for operation in reversed(self._store.operations.all(row.key)):
            for item in self._store.operations.items(row.key, operation.n):
                if operation.undone_at is None and item.change == "out":
                    found[item.no] = operation.n
                elif operation.undone_at is None and item.change == "in":
                    found.pop(item.no, None)
        # A rewind by the agent restores messages without recording it.
        inside = {i.ref for i in self._store.contexts.items(row.key, PRUNED) if i.kind == MESSAGE}
        return {no: n for no, n in found.items() if no not in inside}

    def _message(
        self, session: Session, no: int, entries: list[EntryRow], out: int | None, names: dict[str, str]
    ) -> MessageRow:
        """Return the row of a message as its entries make it, with its stored tokens where they can be read."""
        first, message = entries[0], whole(entries[0].role, current(entries))
        measured = measure(message, session.counter, session.lexicon, names)
        names.update({call.id: call.name for call in message.calls})
        old, features = self._store.log.message(session.key, no), measured.features
        tokens = old.tokens if old is not None and _counted(old) == old.tokens else features.tokens
        text = features_text(features._replace(tokens=tokens))
        return MessageRow(
            no=no, role=first.role, kind=first.kind, tokens=tokens, chars=features.chars, features=text,
            card=measured.card, is_error=int(measured.is_error), pinned=old.pinned if old else 0,
            drop_first=old.drop_first if old else 0, turn=old.turn if old else session.row.turns,
            first_seq=first.seq, last_seq=entries[-1].seq, group_key=first.group, at=first.at, id=first.id,
            out_operation=out,
        )  # fmt: skip

    def _place(self, session: Session, nos: set[int], taken_out: dict[int, int]) -> None:
        """Put every message at its place in the contexts, and take out items that refer to nothing."""
        contexts, key = self._store.contexts, session.key
        rows = self._store.log.messages(key, sorted(nos))
        for context in session.contexts:
            items = [item for item in contexts.items(key, context.view) if item.kind == MESSAGE]
            wrong = [i for i in items if i.ref not in rows or rows[i.ref].first_seq != i.position]
            contexts.remove(key, context.view, [item.position for item in wrong])
            broken = [
                (int(i.position), None)
                for i in items
                if i.replacement is not None and not _readable(i.replacement)
            ]
            contexts.set_replacements(key, context.view, broken)
            if context.view == PRUNED:
                wanted = [row for no, row in rows.items() if no not in taken_out]
            else:
                wanted = [rows[item.ref] for item in wrong if item.ref in rows]
            contexts.add(key, context.view, ((row.first_seq, row.no) for row in wanted))

    def _index(self) -> None:
        with self._store.write():
            index_memories(self._store.db)
            self._store.words.clear()
            for row in self._store.sessions.all():
                with suppress(DamagedStore, *BROKEN):  # `verify` says of which session words are missing
                    index_entries(self._store.db, row.key, row.next_seq)


def _counted(old: MessageRow) -> int | None:
    """Return the tokens in the features of a message; None where they cannot be read."""
    try:
        return Features.from_dict(orjson.loads(old.features)).tokens
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _readable(text: str) -> bool:
    try:
        return isinstance(orjson.loads(text)["tokens"], int)
    except (ValueError, TypeError, KeyError):
        return False

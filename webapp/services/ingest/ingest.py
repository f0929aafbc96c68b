"""Into the log: records of transcripts and messages of programs.

An append is prepared outside any transaction (tokens are counted there), then written in one; if the session changed
in between it is prepared again. Known source ids add nothing, so the same records may come twice. Compactions and
rewinds cut a batch: what comes before them is written first. Events are published after the commit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from scoring.messages import Message
from webapp.agents.records import Compaction, Entry, Meta, Record, Rewind, UsageReport
from webapp.errors import Conflict
from webapp.events import (
    ContextPruned,
    Event,
    MessagesAppended,
    ProblemReported,
    SessionCreated,
    SessionUpdated,
)
from webapp.services.ingest.agent_operations import turn, turn_id
from webapp.services.ingest.append_batch import AppendBatch
from webapp.services.ingest.message_lists import entries_of, ids_of, read_list
from webapp.services.ingest.record_batches import (
    BATCH_RECORDS,
    NOTES_KEPT,
    Tally,
    apply_meta,
    batches,
    chunks,
    runs,
    same_source,
    write_meta,
)
from webapp.services.ingest.usage_reports import read_usage
from webapp.services.session.codec import json_bytes
from webapp.services.session.environment import Environment
from webapp.services.session.gauges import brief_stats, session_json
from webapp.services.session.histories import Histories
from webapp.services.session.operation_answers import applied_json
from webapp.services.session.times import from_ms, to_ms
from webapp.store.sessions import SessionRow

# After so many messages in one go the store does its upkeep at once.
SETTLE_FROM = 5 * BATCH_RECORDS
# A listener gets the numbers of at most so many messages at once.
NUMBERS_TOLD = 200

Batch = Sequence[Record] | Callable[[SessionRow], Sequence[Record]]
Automatic = Callable[[SessionRow, AppendBatch], list[Event]]


@dataclass(slots=True)
class Added:
    """What an append did: numbers of the messages that are new, how many entries were known already."""

    nos: list[int] = field(default_factory=list)
    known: int = 0
    skipped: int = 0
    problems: list[str] = field(default_factory=list)
    automatic: list[Event] = field(default_factory=list)
    answer: dict[str, Any] | None = None

    def merge(self, other: Added) -> None:
        """Adds what another append did."""
        self.nos += other.nos
        self.known += other.known
        self.skipped += other.skipped
        self.problems += other.problems
        self.automatic += other.automatic


@dataclass(frozen=True, slots=True)
class Keyed:
    """An append that is to happen once: the caller's key for it, and the digest of what it appends."""

    name: str
    digest: bytes


class Ingest:
    """Appends to sessions. `automatic` is asked inside the transaction whether to prune."""

    def __init__(self, environment: Environment, histories: Histories) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories
        self.automatic: Automatic = lambda _row, _draft: []

    # -- sessions

    def ensure(
        self, session_id: str, source: str, kind: str = "followed", *, asked: bool = False, **columns: Any
    ) -> SessionRow | None:
        """The session, made if there is none; None if it was deleted and nobody `asked` for it.

        Raises:
            Conflict: another source has a session of that id.
        """
        found = self._store.sessions.find(session_id)
        if found is not None and not (asked and found.deleted_at):
            return same_source(found, source, kind)
        now = self._environment.clock()
        with self._store.write():
            found = self._store.sessions.find(session_id)
            if found is not None and asked and found.deleted_at:
                self._store.sessions.remove(found, None)
            elif found is not None:
                return same_source(found, source, kind)
            row = self._store.sessions.create(
                id=session_id, source=source, kind=kind, created_at=now, last_activity_at=0, **columns
            )
        self._environment.bus.publish(SessionCreated(session_id))
        return row

    # -- records

    def append_records(
        self, session_id: str, records: Iterable[Record], *, whole_file: bool = False
    ) -> Added:
        """Appends what a transcript says, sub-agents in it to sessions of their own.

        `whole_file` says that the records are all of it, so that its bad lines are not counted again.

        Raises:
            NotFound: there is no such session.
        """
        whole = Added()
        tallies: dict[str, Tally] = {}
        for stream, batch in batches(records):
            target = self._stream_session(session_id, stream)
            if target is None:
                continue
            with self._environment.lock(target):
                whole.merge(self._batch(target, batch))
            tallies.setdefault(target, Tally()).take(batch)
        if len(whole.nos) > SETTLE_FROM:
            self._store.settle()
        for target, tally in tallies.items():
            whole.skipped += tally.malformed + sum(tally.unknown.values())
            whole.problems += tally.problems[: NOTES_KEPT - len(whole.problems)]
            self._note(target, tally, whole_file)
        return whole

    def _stream_session(self, session_id: str, stream: str) -> str | None:
        if not stream:
            return self._store.sessions.get(session_id).id
        parent = self._store.sessions.get(session_id)
        child = f"{session_id}.{stream}"
        row = self.ensure(
            child, parent.source, parent.kind, parent_id=session_id, path=parent.path, cwd=parent.cwd,
            model=parent.model,
        )  # fmt: skip
        return row.id if row else None

    def _batch(self, session_id: str, batch: Sequence[Record]) -> Added:
        whole = Added()
        run: list[Record] = []
        for record in batch:
            if isinstance(record, Compaction | Rewind):
                whole.merge(self._append(session_id, run))
                self._turn(session_id, record)
                run = list(record.replacement or ()) if isinstance(record, Compaction) else []
                if run:
                    whole.merge(self._append(session_id, run, replacing=True))
                    run = []
                continue
            if isinstance(record, Meta) and record.model and any(isinstance(r, Entry) for r in run):
                whole.merge(
                    self._append(session_id, run)
                )  # what comes before a new model counts as the old one
                run = []
            run.append(record)
        whole.merge(self._append(session_id, run))
        return whole

    # -- message lists

    def append_messages(
        self,
        session_id: str,
        wire_messages: Any,
        usage: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Appends messages in any wire format, with the usage of the call that gave the last one.

        Raises:
            NotFound: there is no such session.
            UnknownFormat, MalformedMessage: they cannot be read; nothing is appended.
            Conflict: the key was used for other messages, or an agent writes this session itself.
        """
        request = hashlib.blake2b(json_bytes([wire_messages, usage]), digest_size=16).digest()
        with self._environment.lock(session_id):
            row = self._store.sessions.get(session_id)
            if row.followed:
                raise Conflict(
                    "this session is read from the agent's own transcript; nothing can be appended to it"
                )
            keyed = Keyed(idempotency_key, request) if idempotency_key is not None else None
            if (known := self._answered(row, keyed)) is not None:
                return known
            decoded = read_list(wire_messages, row.wire_format)
            reported = read_usage(usage)

            def records(row: SessionRow) -> list[Record]:
                ids = ids_of(decoded.messages, row.tail_hash)
                if ids:
                    row.tail_hash, row.wire_format = ids[-1], row.wire_format or decoded.format
                row.last_activity_at = now = self._environment.clock()
                return entries_of(decoded.messages, ids, reported, at=from_ms(now))

            added = self._append(session_id, records, keyed=keyed)
            return added.answer or self._appended(session_id, added)

    def _answered(self, row: SessionRow, keyed: Keyed | None) -> dict[str, Any] | None:
        """What was answered under the key; None for the first time.

        Raises:
            Conflict: the key was used for other messages.
        """
        known = self._store.small.answer(row.key, keyed.name) if keyed is not None else None
        if keyed is None or known is None:
            return None
        if known[0] != keyed.digest:
            raise Conflict(f"the key {keyed.name} was used for other messages")
        return cast("dict[str, Any]", known[1])

    def _answer(self, row: SessionRow, added: Added, keyed: Keyed) -> dict[str, Any]:
        """The answer to an append, stored in the transaction that appends: a retry finds both or neither."""
        answer = self._appended(row.id, added)
        self._store.small.put_answer(row.key, keyed.name, keyed.digest, answer, self._environment.clock())
        return answer

    def append_list(
        self, session_id: str, messages: Sequence[Message], ids: Sequence[str], model: str | None
    ) -> Added:
        """Appends those messages of a whole list that the session does not have yet."""

        def begun(chunk: list[Record], row: SessionRow) -> list[Record]:
            row.tail_hash = ids[-1]
            row.last_activity_at = row.last_activity_at or self._environment.clock()
            return chunk

        whole = Added()
        entries = entries_of(messages, ids, None, model)
        with self._environment.lock(session_id):
            row = self._store.sessions.get(session_id)
            if self._store.log.known(row.key, [ids[-1]]):
                return Added(known=len(entries))
            for chunk in chunks(entries):
                whole.merge(self._append(session_id, partial(begun, chunk)))
        if len(whole.nos) > SETTLE_FROM:
            self._store.settle()
        return whole

    def _appended(self, session_id: str, added: Added) -> dict[str, Any]:
        with self._store.read():
            row = self._store.sessions.get(session_id)
            rows = self._store.log.messages(row.key, added.nos)
            session = session_json(self._environment, row, self._store.contexts.totals(row.key))
            done = [e for e in added.automatic if isinstance(e, ContextPruned)]
            pruned = done[-1] if done else None
            operation = self._store.operations.get(row.key, pruned.n) if pruned is not None else None
        prune = None
        if operation is not None and pruned is not None:
            prune = applied_json(session, operation, pruned)
        return {
            "ids": [rows[no].mid for no in added.nos if no in rows],
            "added": len(added.nos),
            "stats": brief_stats(session),
            "prune": prune,
        }

    # -- one batch

    def _append(
        self, session_id: str, records: Batch, replacing: bool = False, keyed: Keyed | None = None
    ) -> Added:
        """Prepares and writes; again if another writer came first."""
        if not records:
            return Added()
        for _ in range(8):
            draft, before, has_meta = self._draft(session_id, records, replacing)
            if draft.empty and not has_meta and keyed is None:
                return Added(known=draft.already)
            written = self._write(draft, before, keyed)
            if written is not None:
                written.known = draft.already
                return written
        raise Conflict(f"session {session_id} is written to by others all the time; try again")

    def draft(self, row: SessionRow) -> AppendBatch:
        """An empty draft on top of a session as it is."""
        totals = self._store.contexts.totals(row.key)
        return AppendBatch(
            self._store, row, totals, self._environment.measure(row), self._environment.clock()
        )

    def _draft(self, session_id: str, batch: Batch, replacing: bool) -> tuple[AppendBatch, SessionRow, bool]:
        """The draft of a batch, the session as it was before, and whether the batch says something of the session."""
        with self._store.read():
            row = self._store.sessions.get(session_id)
            before = replace(row)
            unnamed = row.model is None
            records = batch(row) if callable(batch) else batch
            apply_meta(row, records)  # the model decides how tokens are counted
            draft = self.draft(row)
            for version in (r.version for r in records if isinstance(r, Meta) and r.version):
                draft.carried.unwritten.version(version)
                row.state = draft.carried.to_dict()
            if unnamed and row.model is not None:
                draft.count_again()
        turns = row.turns
        for run in runs(records):
            if isinstance(run, list):
                draft.add(run)
            elif isinstance(run, UsageReport):
                self._report(draft, run)
        draft.close_all()
        if replacing:
            row.turns = turns
        return draft, before, any(isinstance(r, Meta) for r in records)

    def _report(self, draft: AppendBatch, report: UsageReport) -> None:
        """Usage apart from a message: the estimate behind its last input is the one it is held against."""
        draft.close_all()
        if self._store.figures.has_call(draft.row.key, report.call_key) or report.call_key in draft.calls:
            return
        now = draft.estimate()
        before = draft.carried.ends.get(report.input_end or "", now)
        draft.report(
            report.usage, report.call_key, to_ms(report.at), report.model, before, max(0, now - before)
        )
        draft.carried.absorbing = draft.carried.last_role == "assistant" or before == now

    def _write(self, draft: AppendBatch, before: SessionRow, keyed: Keyed | None) -> Added | None:
        row, added = draft.row, Added([no for no, _ in draft.fresh])
        try:
            with self._store.write():
                current = self._store.sessions.get(row.id)
                if (known := self._answered(current, keyed)) is not None:
                    return Added(answer=known)
                if current.version != draft.base_version:
                    return None
                write_meta(self._store, row, before, current)
                if not draft.empty:
                    draft.write()
                    self._histories.advance(draft)
                    added.automatic = self.automatic(row, draft)
                if keyed is not None:
                    added.answer = self._answer(row, added, keyed)
        except BaseException:
            self._histories.drop(row.key)
            raise
        nos = sorted({*(no for no, _ in draft.fresh), *draft.changed})
        told: list[Event] = [MessagesAppended(row.id, tuple(nos[-NUMBERS_TOLD:]), len(nos))] if nos else []
        self._environment.bus.publish(*told, *added.automatic, SessionUpdated(row.id))
        return added

    def _turn(self, session_id: str, record: Compaction | Rewind) -> None:
        name = turn_id(record)
        while True:
            row = self._store.sessions.get(session_id)
            if name is not None and self._store.log.known(row.key, [name]):
                return
            draft = self.draft(row)
            with self._store.write():
                if self._store.sessions.get(session_id).version != draft.base_version:
                    continue
                turn(self._store, draft, record, self._environment.clock())
            self._histories.drop(row.key)
            self._environment.bus.publish(SessionUpdated(session_id))
            return

    # -- notes

    def _note(self, session_id: str, tally: Tally, whole_file: bool) -> None:
        if not tally.malformed and not tally.unknown:
            return
        with self._store.write():
            row = self._store.sessions.get(session_id)
            unknown = sum(tally.unknown.values())
            if whole_file:
                row.malformed, row.unknown = max(row.malformed, tally.malformed), max(row.unknown, unknown)
            else:
                row.malformed, row.unknown = row.malformed + tally.malformed, row.unknown + unknown
            notes = list(dict.fromkeys([*row.notes, *tally.problems]))[-NOTES_KEPT:]
            self._store.sessions.update(row.key, malformed=row.malformed, unknown=row.unknown, notes=notes)
        self._environment.bus.publish(*(ProblemReported(session_id, text) for text in tally.problems[:3]))
        self._environment.bus.publish(SessionUpdated(session_id))

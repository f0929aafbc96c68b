"""Ingest: appends records of transcripts and messages of programs to the log.

An append is prepared outside any transaction, because counting tokens takes long, then written in one; if the session
changed in between it is prepared again, in the end while others wait. Known source ids add nothing, so the same records
may come twice. A compaction or rewind splits a batch: what comes before it is written first. Events are published
after the commit.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, Unpack

import orjson
from pydantic import TypeAdapter, ValidationError

from scoring.budget import utilization
from scoring.formats import is_sure, numbered
from scoring.messages import Message
from webapp.agents.records import Cleared, Compaction, Entry, Meta, Problem, Record, Rewind, UsageReport
from webapp.errors import Conflict, StoreError, TooLarge
from webapp.events import (
    ContextPruned,
    Event,
    MessagesAppended,
    ProblemReported,
    SessionCreated,
    SessionUpdated,
    TargetCrossed,
)
from webapp.services.ingest.agent_operations import agent_operation_id, apply_agent_operation
from webapp.services.ingest.answers import Appended, BriefStats
from webapp.services.ingest.append_batch import AppendBatch
from webapp.services.ingest.clearings import apply_clearing, apply_recorded
from webapp.services.ingest.message_lists import OWN_PROMPT, entries_of, ids_of, read_list
from webapp.services.ingest.record_batches import (
    BATCH_RECORDS,
    NOTES_KEPT,
    Tally,
    apply_meta,
    batches,
    long_id,
    runs,
    same_source,
    weight,
    weight_of,
)
from webapp.services.ingest.usage_reports import read_usage
from webapp.services.pruning.automatic import AutomaticPruning
from webapp.services.session.codec import json_bytes
from webapp.services.session.environment import Environment
from webapp.services.session.gauges import WAITING_MS, session_answer
from webapp.services.session.histories import Histories
from webapp.services.session.operation_answers import applied
from webapp.services.session.proxy import sends_edited, sends_pruned
from webapp.services.session.session import Session
from webapp.services.session.state import origin_of
from webapp.services.session.times import from_ms, to_ms
from webapp.store.keys import ID_BYTES
from webapp.store.sessions import KnownColumns, SessionRow

# The store does its upkeep at once after an append of more messages.
MAINTENANCE_FROM = 5 * BATCH_RECORDS
# The page names at most so many kinds of rows that were not read, each by so many characters.
KINDS_TOLD, KIND_CHARS = 6, 60
# An event names at most so many messages.
NUMBERS_TOLD = 200
# A batch is prepared so often beside other writers. If they came first each time, they wait until it is written.
ATTEMPTS = 4

Batch = Sequence[Record] | Callable[[SessionRow], Sequence[Record]]


def megabytes(size: int) -> str:
    """Return a number of bytes in words."""
    return f"{size / (1 << 20):,.1f} MiB"


@dataclass(slots=True)
class Added:
    """The outcome of an append: numbers of the new messages, how many entries were known already, and its events.

    `session` is the session as it was written, None if nothing was.
    """

    nos: list[int] = field(default_factory=list)
    known: int = 0
    skipped: int = 0
    problems: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    answer: Appended | None = None
    session: Session | None = None

    def merge(self, other: Added) -> None:
        """Add the outcome of another append."""
        self.nos += other.nos
        self.known += other.known
        self.skipped += other.skipped
        self.problems += other.problems
        self.events += other.events


@dataclass(frozen=True, slots=True)
class Keyed:
    """The key under which an append happens only once, and the digest of what it appends."""

    name: str
    digest: bytes


_STORED_ANSWER = TypeAdapter(Appended)


def appended(batch: AppendBatch) -> list[Event]:
    """Return the event of the messages of a batch, if it has any that are new or changed."""
    nos = sorted({*(no for no, _ in batch.fresh), *batch.changed})
    return [MessagesAppended(batch.session.id, tuple(nos[-NUMBERS_TOLD:]), len(nos))] if nos else []


class Ingest:
    """Appends to sessions, and prunes automatically in the same transaction."""

    def __init__(self, environment: Environment, histories: Histories, automatic: AutomaticPruning) -> None:
        self._environment, self._store = environment, environment.store
        self._histories, self._automatic = histories, automatic

    # -- sessions

    def ensure(
        self,
        session_id: str,
        source: str,
        kind: Literal["followed", "managed"] = "followed",
        *,
        asked: bool = False,
        **columns: Unpack[KnownColumns],
    ) -> SessionRow | None:
        """Return the session, created with these columns if it is missing.

        None if it was deleted and is not explicitly `asked` for.

        Raises:
            Conflict: another source has a session of that id.
        """
        found = self._store.sessions.find(session_id)
        if found is not None and not (asked and found.deleted_at):
            return same_source(found, source, kind)
        now, redactor = self._environment.clock(), self._environment.redactor
        if redactor is not None and (title := columns.get("title")):
            columns["title"] = redactor.redact_text(title, Counter())
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
        self, session_id: str, records: Iterable[Record], *, whole_file: bool = False, file: str = ""
    ) -> Added:
        """Append the records of a transcript, those of sub-agents in it to sessions of their own.

        `whole_file`: the records are the whole file, whose bad lines may have been counted before. `file` is
        its name, for the notes on unusable rows.

        Raises:
            NotFound: there is no such session.
        """
        whole = Added()
        tallies: dict[str, Tally] = {}
        for stream, batch in batches(self._fitting(session_id, records)):
            target = self._stream_session(session_id, stream)
            if target is None:
                continue
            with self._environment.lock(target):
                whole.merge(self._batch(target, batch))
            tallies.setdefault(target, Tally()).take(batch)
        if len(whole.nos) > MAINTENANCE_FROM:
            self._store.maintain()
        for target, tally in tallies.items():
            whole.skipped += tally.malformed + sum(tally.unknown.values())
            whole.problems += tally.problems[: NOTES_KEPT - len(whole.problems)]
            self.note(target, tally, whole_file, file)
        return whole

    def _stream_session(self, session_id: str, stream: str) -> str | None:
        if not stream:
            return self._store.sessions.get(session_id).id
        parent = self._store.sessions.get(session_id)
        child = f"{session_id}.{stream}"
        row = self.ensure(
            child, parent.source, parent.kind, parent_id=session_id, path=parent.path, cwd=parent.cwd,
            model=parent.model, state=origin_of(parent),
        )  # fmt: skip
        return row.id if row else None

    def _batch(self, session_id: str, batch: Sequence[Record]) -> Added:
        whole = Added()
        run: list[Record] = []
        for record in batch:
            if isinstance(record, Compaction | Rewind | Cleared):
                whole.merge(self._append(session_id, run))
                self._apply_agent_operation(session_id, record)
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
        whole: bool = False,
    ) -> Appended:
        """Append messages in any wire format, with the usage of the call that returned the last one.

        With `whole` the list is the conversation from its beginning: only what the session does not have is appended,
        and a list that was edited goes on as a branch from the last message it shares.

        Raises:
            NotFound: there is no such session.
            UnknownFormat, MalformedMessage: the messages cannot be read; nothing is appended.
            Conflict: the key was used for other messages, or the session is read from an agent's transcript.
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
            decoded = read_list(wire_messages, row.wire_format, row.model)
            self._refuse_large(decoded.messages)
            known_format = decoded.format if is_sure(wire_messages, decoded.format) else None
            reported = read_usage(usage, decoded.messages)
            listed = ids_of(decoded.messages) if whole else ()

            def records(row: SessionRow) -> list[Record]:
                before = None if whole else row.tail_hash
                waiting = None if whole else row.state.get("open_calls")
                messages = list(numbered(decoded.messages, waiting))
                ids, now = ids_of(messages, before), self._environment.clock()
                if ids:
                    row.tail_hash, row.wire_format = ids[-1], row.wire_format or known_format
                    row.last_activity_at = now
                return entries_of(messages, ids, reported, at=from_ms(now))

            begin = partial(self._go_back, session_id, listed) if listed else None
            added = self._append(session_id, records, keyed=keyed, begin=begin)
            return added.answer or self._appended(added.session or self._loaded(session_id), added)

    def _refuse_large(self, messages: Sequence[Message]) -> None:
        """Refuse a list with a message that is larger than one may be.

        Raises:
            TooLarge: one is; nothing is appended.
        """
        most = self._environment.sizes.message
        for number, message in enumerate(messages, 1):
            if most and (size := weight_of(message)) > most:
                raise TooLarge(
                    f"message {number} takes {megabytes(size)}, at most {megabytes(most)} are taken (max_message); "
                    "nothing was appended"
                )

    def _go_back(self, session_id: str, ids: Sequence[str]) -> int | None:
        """Go back to the last message that a whole list shares with the session, if the two differ after it.

        Return the version to which the list can be appended; None if another writer came first.
        """
        row = self._store.sessions.get(session_id)
        if row.tail_hash is None or row.tail_hash in ids:
            return row.version
        known = self._store.log.known(row.key, ids)
        shared = ids[: next((n for n, one in enumerate(ids) if one not in known), len(ids))]
        name = f"{ids[-1]}:{row.version}"
        back = Rewind(shared[-1] if shared else None, name, live=(OWN_PROMPT, *shared))
        return self._apply_agent_operation(row.id, back, row.version)

    def _answered(self, row: SessionRow, keyed: Keyed | None) -> Appended | None:
        """Return the answer stored under the key; None the first time.

        Raises:
            Conflict: the key was used for other messages.
        """
        known = self._store.small.answer(row.key, keyed.name) if keyed is not None else None
        if keyed is None or known is None:
            return None
        if known[0] != keyed.digest:
            raise Conflict(f"the key {keyed.name} was used for other messages")
        try:
            return _STORED_ANSWER.validate_python(known[1])
        except ValidationError:
            message = (
                f"the messages with key {keyed.name} were appended before an update; their answer is gone"
            )
            raise Conflict(message) from None

    def _answer(self, session: Session, added: Added, keyed: Keyed) -> Appended:
        """Return the answer to an append, stored in its transaction so that a retry finds both or neither."""
        answer = self._appended(session, added)
        stored, now = orjson.loads(orjson.dumps(answer)), self._environment.clock()
        self._store.small.put_answer(session.key, keyed.name, keyed.digest, stored, now)
        return answer

    def append_list(
        self, session_id: str, messages: Sequence[Message], ids: Sequence[str], model: str | None
    ) -> Added:
        """Append those messages of a whole list that the session does not have yet."""

        def begun(chunk: list[Record], row: SessionRow) -> list[Record]:
            row.tail_hash = ids[-1]
            row.last_activity_at = row.last_activity_at or self._environment.clock()
            return chunk

        whole = Added()
        tally, found = Tally(), list(self._fitting(session_id, entries_of(messages, ids, None, model)))
        tally.take(found)
        whole.skipped, whole.problems = tally.malformed, tally.problems
        entries = [one for one in found if isinstance(one, Entry)]
        with self._environment.lock(session_id):
            row = self._store.sessions.get(session_id)
            if self._store.log.known(row.key, [ids[-1]]):
                return Added(known=len(entries))
            for _, chunk in batches(entries):
                whole.merge(self._append(session_id, partial(begun, chunk)))
        if len(whole.nos) > MAINTENANCE_FROM:
            self._store.maintain()
        return whole

    def _loaded(self, session_id: str) -> Session:
        with self._store.read():
            return Session.load(self._environment, session_id)

    def _appended(self, session: Session, added: Added) -> Appended:
        rows, shown = self._store.log.messages(session.key, added.nos), session_answer(session)
        prune = None
        if done := [event for event in added.events if isinstance(event, ContextPruned)]:
            operation = self._store.operations.get(session.key, done[-1].n)
            prune = applied(shown, operation, done[-1]) if operation is not None else None
        own = shown.pruned
        return Appended(
            ids=[rows[no].mid for no in added.nos if no in rows],
            added=len(added.nos),
            stats=BriefStats(
                tokens=own.tokens,
                utilization=own.utilization,
                certainty=own.certainty,
                messages=own.messages,
                limit=shown.limit,
                needsPruning=own.tokens > shown.target_tokens,
                state=shown.state,
            ),
            prune=prune,
        )

    # -- one batch

    def _append(
        self,
        session_id: str,
        records: Batch,
        replacing: bool = False,
        keyed: Keyed | None = None,
        begin: Callable[[], int | None] | None = None,
    ) -> Added:
        """Prepare and write a batch; repeat if another writer came first.

        `begin` comes before it each time, and returns the version that it made the session ready in.
        """
        if not records:
            return Added()
        self._require_room(session_id)
        for _ in range(ATTEMPTS):
            if (added := self._attempt(session_id, records, replacing, keyed, begin)) is not None:
                break
        else:
            with self._store.write(session_id):
                added = self._attempt(session_id, records, replacing, keyed, begin)
            if added is None:
                raise StoreError(f"session {session_id} was changed while it was locked")
        self._environment.bus.publish(*added.events)
        return added

    def _attempt(
        self,
        session_id: str,
        records: Batch,
        replacing: bool,
        keyed: Keyed | None,
        begin: Callable[[], int | None] | None,
    ) -> Added | None:
        """Prepare and write a batch; None if another writer came first."""
        ready = begin() if begin is not None else None
        batch, has_meta = self._prepare(session_id, records, replacing)
        if begin is not None and batch.base_version != ready:
            return None
        if batch.empty and not has_meta and keyed is None and self._is_unchanged(batch):
            return Added(known=batch.already)
        added = self._write(batch, keyed)
        if added is not None:
            added.known = batch.already
        return added

    def _is_unchanged(self, batch: AppendBatch) -> bool:
        """Return whether the log in which a batch found its messages is the one it was prepared for.

        Otherwise another writer may have added equal messages meanwhile, which are not these.
        """
        return self._store.sessions.get(batch.session.id).version == batch.base_version

    def _require_room(self, session_id: str) -> None:
        """Raise TooLarge if the store or the session's log has reached its maximum size.

        Raises:
            TooLarge: it is; the message has the numbers and the setting.
        """
        sizes, store = self._environment.sizes, self._store
        if sizes.store and (size := store.size()) > sizes.store:
            raise TooLarge(
                f"the store takes {megabytes(size)}, at most {megabytes(sizes.store)} are allowed (max_store): delete "
                "sessions, or raise it"
            )
        if sizes.session:
            size = int(store.sessions.get(session_id).state.get("stored", 0))
            if size > sizes.session:
                raise TooLarge(
                    f"session {session_id} takes {megabytes(size)}, at most {megabytes(sizes.session)} are allowed "
                    "(max_session): begin another, or raise it"
                )

    def _fitting(self, session_id: str, records: Iterable[Record]) -> Iterator[Record]:
        """Yield records; one that exceeds the maximum size of a message or an id is replaced by a problem.

        Titles, which agents make of messages, are redacted as these are.
        """
        most, redactor = self._environment.sizes.message, self._environment.redactor
        for record in records:
            if redactor is not None and isinstance(record, Meta) and record.title:
                yield replace(record, title=redactor.redact_text(record.title, Counter()))
                continue
            if most and (size := weight(record)) > most:
                allowed = f"at most {megabytes(most)} are taken (max_message)"
                yield Problem(None, f"a message of {megabytes(size)} is left out; {allowed}")
            elif (name := long_id(record, session_id)) is not None:
                allowed = f"at most {ID_BYTES:,} bytes are taken"
                yield Problem(None, f"a row with an id that is too long is left out; {allowed}: {name[:40]}…")
            else:
                yield record

    def _prepare(self, session_id: str, records: Batch, replacing: bool) -> tuple[AppendBatch, bool]:
        """Return the batch for these records, and whether they contain facts about the session itself."""
        with self._store.read():
            session = Session.load(self._environment, session_id)
            row, before = session.row, session.main.estimate
            session.state.proxy.applied = sends_pruned(session.state.proxy)
            session.state.edited = sends_edited(row.source, row.id)
            # An agent can write a call down before it sends it.
            session.state.moved(session.main.estimate - before)
            unnamed = row.model is None
            found = records(row) if callable(records) else records
            apply_meta(row, session.state, found)  # the model decides how tokens are counted
            batch = AppendBatch(session)
            for record in found:
                if isinstance(record, Meta) and record.version:
                    session.state.began(record.version)
            if unnamed and row.model is not None:
                batch.count_again()
        turns, answers, awaiting = row.turns, session.state.answers, session.state.awaiting
        for run in runs(found):
            if isinstance(run, list):
                batch.add(run)
            elif isinstance(run, UsageReport):
                self._report(batch, run)
        batch.close_all()
        if replacing:
            row.turns, session.state.answers, session.state.awaiting = turns, answers, awaiting
        return batch, any(isinstance(record, Meta) for record in found)

    def _report(self, batch: AppendBatch, report: UsageReport) -> None:
        """Add usage reported apart from a message, compared with the estimate after the last input it covers."""
        batch.close_all()
        session, state = batch.session, batch.session.state
        if self._store.usage.has_call(session.key, report.call_key) or report.call_key in batch.calls:
            return
        now = session.main.estimate
        before, answered = state.ends.get(report.input_end or "", (now, state.answered))
        own = max(0, state.answered - answered)
        at, last = to_ms(report.at), session.row.next_no - 1
        batch.report(report.usage, report.call_key, at, report.model, before, own, last)
        state.absorbing = state.last_role == "assistant" or before == now

    def _write(self, batch: AppendBatch, keyed: Keyed | None) -> Added | None:
        """Write a batch in one transaction; None if the session has changed since it was prepared."""
        session, added = batch.session, Added([no for no, _ in batch.fresh])
        try:
            with self._store.write(session.id):
                current = self._store.sessions.get(session.id)
                if (known := self._answered(current, keyed)) is not None:
                    return Added(answer=known)
                if current.version != batch.base_version:
                    return None
                session.keep_changes_of_others(current)
                if batch.empty:
                    session.save()
                else:
                    batch.write()
                    changed = bool(batch.changed or batch.clearings)
                    self._histories.advance(session, batch.base_version, batch.fresh, changed=changed)
                    for call, lost in batch.clearings.items():
                        apply_clearing(session, call, lost)
                    session.own_calibration_only = False
                    added.events = [*self._automatic.after_append(session), *self._above_target(session)]
                added.session = session
                added.events = [*appended(batch), *added.events, SessionUpdated(session.id)]
                if keyed is not None:
                    added.answer = self._answer(session, added, keyed)
        except BaseException:
            self._histories.drop(session.key)
            raise
        return added

    def _above_target(self, session: Session) -> list[Event]:
        """Return the event of an append that brought an active session above its target."""
        was, crosses = session.state.above, session.crosses_target()
        if session.state.above != was:
            session.save()
        if not crosses or self._environment.clock() - session.row.last_activity_at > WAITING_MS:
            return []
        tokens, limits = session.main.tokens, session.limits
        share = utilization(tokens, limits.limit)
        return [TargetCrossed(session.id, tokens, limits.target_tokens, limits.limit, share)]

    def _apply_agent_operation(
        self, session_id: str, record: Compaction | Rewind | Cleared, version: int | None = None
    ) -> int | None:
        """Apply what an agent did, once; return the session's version.

        With `version` it is applied to that one alone: None if another writer came first.
        """
        name = agent_operation_id(record)
        with self._store.write(session_id):
            session = Session.load(self._environment, session_id)
            if version not in (None, session.version):
                return None
            if name is not None and self._store.log.known(session.key, [name]):
                return session.version
            if isinstance(record, Cleared):
                apply_recorded(session, record)
            else:
                apply_agent_operation(session, record)
        self._histories.drop(session.key)
        self._environment.bus.publish(SessionUpdated(session_id))
        return session.version

    # -- notes

    def note(self, session_id: str, tally: Tally, whole_file: bool, file: str) -> None:
        """Count unusable parts of a file, and store the reasons with the session."""
        if not tally.malformed and not tally.unknown:
            return
        with self._store.write(session_id):
            row = self._store.sessions.get(session_id)
            unknown = sum(tally.unknown.values())
            if whole_file:
                row.malformed, row.unknown = max(row.malformed, tally.malformed), max(row.unknown, unknown)
            else:
                row.malformed, row.unknown = row.malformed + tally.malformed, row.unknown + unknown
            problems = [f"{file}: {text}" if file else text for text in tally.problems]
            kinds = [f"not read: {kind[:KIND_CHARS]}" for kind in sorted(tally.unknown)[:KINDS_TOLD]]
            notes = list(dict.fromkeys([*row.notes, *problems, *kinds]))[-NOTES_KEPT:]
            self._store.sessions.update(row.key, malformed=row.malformed, unknown=row.unknown, notes=notes)
        self._environment.bus.publish(*(ProblemReported(session_id, text) for text in problems[:3]))
        self._environment.bus.publish(SessionUpdated(session_id))

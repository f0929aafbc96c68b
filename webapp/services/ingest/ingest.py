"""Ingest: appends records of transcripts and messages of programs to the log.

Known source ids add nothing, so the same records may come twice. A compaction or rewind splits a batch: what comes
before it is written first.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Unpack

from scoring.formats import is_sure, numbered
from scoring.messages import Message
from webapp.agents.records import (
    COMPACTION_SUMMARY,
    Cleared,
    Compaction,
    Entry,
    Meta,
    Problem,
    Record,
    Rewind,
)
from webapp.errors import Conflict, TooLarge
from webapp.events import ProblemReported, SessionCreated, SessionUpdated
from webapp.services.ingest.answers import Appended
from webapp.services.ingest.batch_writer import (
    Added,
    AfterAppend,
    AppendRequest,
    BatchWriter,
    IdempotencyKey,
    NewRecords,
)
from webapp.services.ingest.message_lists import OWN_PROMPT, entries_of, ids_of, read_list
from webapp.services.ingest.record_batches import (
    BATCH_RECORDS,
    NOTES_KEPT,
    Tally,
    batches,
    long_id,
    megabytes,
    weight,
    weight_of,
)
from webapp.services.ingest.session_facts import without_old_facts
from webapp.services.ingest.usage_reports import read_usage
from webapp.services.session.codec import json_bytes
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.session import Session
from webapp.services.session.state import origin_of
from webapp.services.session.times import from_ms
from webapp.store.keys import ID_BYTES
from webapp.store.sessions import KnownColumns, SessionRow

# The store does its upkeep at once after an append of more messages.
MAINTENANCE_FROM = 5 * BATCH_RECORDS


class Ingest:
    """Appends records and message lists to sessions."""

    def __init__(self, environment: Environment, histories: Histories, after_append: AfterAppend) -> None:
        self._environment, self._store = environment, environment.store
        self._writer = BatchWriter(environment, histories, after_append)

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
            return _same_source(found, source, kind)
        now, redactor = self._environment.clock(), self._environment.redactor
        if redactor is not None and (title := columns.get("title")):
            columns["title"] = redactor.redact_text(title, Counter())
        with self._store.write():
            found = self._store.sessions.find(session_id)
            if found is not None and asked and found.deleted_at:
                self._store.sessions.remove(found, None)
            elif found is not None:
                return _same_source(found, source, kind)
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
            faults = [*tally.problems, *tally.unread_kinds()]
            whole.problems += faults[: NOTES_KEPT - len(whole.problems)]
            self.note_problems(target, tally, whole_file, file)
        return whole

    def _append(
        self, session_id: str, records: Sequence[Record] | NewRecords, *, replacing: bool = False
    ) -> Added:
        if records:
            self._writer.require_room(self._store.sessions.get(session_id))
        return self._writer.append(AppendRequest(session_id, records, replacing))

    def _stream_session(self, session_id: str, stream: str) -> str | None:
        parent = self._store.sessions.get(session_id)
        if not stream:
            return parent.id
        child = f"{session_id}.{stream}"
        row = self.ensure(
            child, parent.source, parent.kind, parent_id=session_id, path=parent.path, cwd=parent.cwd,
            model=parent.model, state=origin_of(parent),
        )  # fmt: skip
        return row.id if row else None

    def _batch(self, session_id: str, batch: Sequence[Record]) -> Added:
        whole = Added()
        run: list[Record] = []
        if any(isinstance(record, Meta) for record in batch):
            row = self._store.sessions.get(session_id)
            ids = [record.source_id for record in batch if isinstance(record, Entry) and record.source_id]
            batch = without_old_facts(batch, self._store.log.known(row.key, ids), row)
        for record in batch:
            if isinstance(record, Compaction | Rewind | Cleared):
                whole.merge(self._append(session_id, run))
                self._writer.apply_agent_operation(session_id, record)
                if isinstance(record, Compaction) and record.replacement:
                    whole.merge(self._append(session_id, record.replacement, replacing=True))
                run = []
                continue
            is_model = isinstance(record, Meta) and record.model and any(isinstance(r, Entry) for r in run)
            is_after_summary = run and _is_summary(run[-1]) and not _is_summary(record)
            # Earlier entries are of the old model; a compaction's size includes its summary and nothing else.
            if is_model or is_after_summary:
                whole.merge(self._append(session_id, run))
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
        digest = hashlib.blake2b(json_bytes([wire_messages, usage]), digest_size=16).digest()
        with self._environment.lock(session_id):
            row = self._store.sessions.get(session_id)
            if row.followed:
                raise Conflict(
                    "this session is read from the agent's own transcript; nothing can be appended to it"
                )
            key = IdempotencyKey(idempotency_key, digest) if idempotency_key is not None else None
            if (known := self._writer.stored_answer(row, key)) is not None:
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

            self._writer.require_room(row)
            begin = partial(self._go_back, session_id, listed) if listed else None
            added = self._writer.append(AppendRequest(session_id, records, key=key, begin=begin))
            return added.answer or self._writer.answer(added.session or self._loaded(session_id), added)

    def _refuse_large(self, messages: Sequence[Message]) -> None:
        """Raise TooLarge if a message exceeds the maximum size; nothing is appended."""
        most = self._environment.sizes.message
        for number, message in enumerate(messages, 1):
            if most and (size := weight_of(message)) > most:
                raise TooLarge(
                    f"message {number} takes {megabytes(size)}, at most {megabytes(most)} are taken (max_message); "
                    "nothing was appended"
                )

    def _go_back(self, session_id: str, ids: Sequence[str]) -> int | None:
        """Go to the last message of the log that a whole list shares, unless the list continues the context.

        Return the version to which the list can be appended; None if another writer came first.
        """
        row = self._store.sessions.get(session_id)
        known, tail = self._store.log.known(row.key, ids), row.tail_hash
        behind = ids[ids.index(tail) + 1 :] if tail in ids else ids
        # Known messages behind the end of the context are on a branch that was left.
        if (tail is None or tail in ids) and known.keys().isdisjoint(behind):
            return row.version
        shared = [one for one in ids if one in known]
        name = f"{ids[-1]}:{row.version}"
        back = Rewind(shared[-1] if shared else None, name, live=(OWN_PROMPT, *shared))
        return self._writer.apply_agent_operation(row.id, back, row.version)

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
                return Added(met_again={no for _, no in self._store.log.known(row.key, ids).values()})
            for _, chunk in batches(entries):
                whole.merge(self._append(session_id, partial(begun, chunk)))
        if len(whole.nos) > MAINTENANCE_FROM:
            self._store.maintain()
        return whole

    def _loaded(self, session_id: str) -> Session:
        with self._store.read():
            return Session.load(self._environment, session_id)

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

    # -- notes

    def note_problems(self, session_id: str, tally: Tally, whole_file: bool, file: str) -> None:
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
            notes = list(dict.fromkeys([*row.notes, *problems, *tally.unread_kinds()]))[-NOTES_KEPT:]
            self._store.sessions.update(row.key, malformed=row.malformed, unknown=row.unknown, notes=notes)
        self._environment.bus.publish(*(ProblemReported(session_id, text) for text in problems[:3]))
        self._environment.bus.publish(SessionUpdated(session_id))


def _same_source(found: SessionRow, source: str, kind: str) -> SessionRow | None:
    """Return the session if records of a source may be appended to it; None if it was deleted.

    Raises:
        Conflict: the session belongs to another source.
    """
    if found.deleted_at is not None:
        return None
    if (found.source, found.kind) != (source, kind):
        raise Conflict(
            f"session {found.id[:100]} came from {found.source}; nothing of {source} belongs to it"
        )
    return found


def _is_summary(record: Record) -> bool:
    return isinstance(record, Entry) and record.kind == COMPACTION_SUMMARY

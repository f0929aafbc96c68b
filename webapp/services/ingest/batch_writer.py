"""BatchWriter: prepares a batch for one session and writes it in one transaction.

A batch is prepared outside any transaction, because counting tokens takes long. If the session changed in between it is
prepared again, in the end while others wait. Events are published after the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import orjson
from pydantic import TypeAdapter, ValidationError

from scoring.budget import utilization
from webapp.agents.records import Cleared, Compaction, Meta, Record, Rewind, UsageReport
from webapp.errors import Conflict, StoreError, TooLarge
from webapp.events import ContextPruned, Event, MessagesAppended, SessionUpdated, TargetCrossed
from webapp.services.ingest.agent_operations import (
    agent_operation_id,
    apply_agent_operation,
    complete_compaction,
)
from webapp.services.ingest.answers import Appended, BriefStats
from webapp.services.ingest.append_batch import AppendBatch
from webapp.services.ingest.clearings import apply_clearing, apply_recorded
from webapp.services.ingest.record_batches import megabytes, runs
from webapp.services.ingest.session_facts import apply_meta
from webapp.services.session.activity import WAITING_MS, activity_of
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.operation_answers import applied
from webapp.services.session.proxy_state import sends_edited, sends_pruned
from webapp.services.session.session import Session
from webapp.services.session.session_answers import session_answer, state_of
from webapp.store.sessions import SessionRow

# Returns the events of what it changed; called for the session as written, in the transaction of the append.
AfterAppend = Callable[[Session], list[Event]]
# Returns the records to append to a session, for its row as it is then.
NewRecords = Callable[[SessionRow], Sequence[Record]]
# The most message numbers in an event.
MOST_NUMBERS = 200
# The number of times that a batch is prepared beside other writers. If they come first each time, they have to wait.
ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """The key under which an append happens only once, and the digest of what it appends."""

    name: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class AppendRequest:
    """A request to append `records`, or what that function returns.

    `replacing`: they replace what a compaction took out. `begin` is called before each attempt, and returns the version
    that it made the session ready in, None if another writer came first.
    """

    session_id: str
    records: Sequence[Record] | NewRecords
    replacing: bool = False
    key: IdempotencyKey | None = None
    begin: Callable[[], int | None] | None = None


@dataclass(slots=True)
class Added:
    """The outcome of an append: numbers and ids of the new messages, numbers of those that were met again, its events.

    `session` is the session as it was written, None if nothing was. `answer` is the one stored under the key.
    """

    nos: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    met_again: set[int] = field(default_factory=set)
    skipped: int = 0
    problems: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    answer: Appended | None = None
    session: Session | None = None

    @property
    def known(self) -> int:
        """Return how many messages were there already; a file can also repeat rows of those that it adds."""
        return len(self.met_again.difference(self.nos))

    def merge(self, other: Added) -> None:
        """Add the outcome of another append."""
        self.nos += other.nos
        self.ids += other.ids
        self.met_again |= other.met_again
        self.skipped += other.skipped
        self.problems += other.problems
        self.events += other.events


class BatchWriter:
    """Writes batches. `after_append` prunes in the same transaction, if that is needed."""

    def __init__(self, environment: Environment, histories: Histories, after_append: AfterAppend) -> None:
        self._environment, self._store = environment, environment.store
        self._histories, self._after_append = histories, after_append

    def append(self, request: AppendRequest) -> Added:
        """Prepare and write a batch; repeat if another writer came first.

        Raises:
            Conflict: the key was used for other messages.
        """
        if not request.records:
            return Added()
        for _ in range(ATTEMPTS):
            if (added := self._attempt(request)) is not None:
                break
        else:
            with self._store.write(request.session_id):
                added = self._attempt(request)
            if added is None:
                raise StoreError(f"session {request.session_id} was changed while it was locked")
        self._environment.bus.publish(*added.events)
        return added

    def apply_agent_operation(
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
            if isinstance(record, Rewind) and not session.row.followed:
                session.row.tail_hash = record.to_source_id  # the next list continues or leaves it
            if isinstance(record, Cleared):
                apply_recorded(session, record)
            else:
                apply_agent_operation(session, record)
        self._histories.drop(session.key)
        self._environment.bus.publish(SessionUpdated(session_id))
        return session.version

    # -- answers

    def stored_answer(self, row: SessionRow, key: IdempotencyKey | None) -> Appended | None:
        """Return the answer stored under the key; None the first time.

        Raises:
            Conflict: the key was used for other messages.
        """
        known = self._store.small.answer(row.key, key.name) if key is not None else None
        if key is None or known is None:
            return None
        if known[0] != key.digest:
            raise Conflict(
                f"the key {key.name} was used for other messages; give each append a key of its own"
            )
        try:
            return _stored_answers().validate_python(known[1])
        except ValidationError:
            message = f"the messages with key {key.name} were appended before an update; their answer is gone"
            raise Conflict(message) from None

    def answer(self, session: Session, added: Added) -> Appended:
        """Return the answer to an append; `session` is the session afterwards."""
        prune = None
        if done := [event for event in added.events if isinstance(event, ContextPruned)]:
            operation = self._store.operations.get(session.key, done[-1].n)
            prune = applied(session_answer(session), operation, done[-1]) if operation is not None else None
        return Appended(
            ids=added.ids,
            added=len(added.nos),
            stats=_brief_stats(session),
            prune=prune,
        )

    def require_room(self, row: SessionRow) -> None:
        """Raise TooLarge if the store or the session's log has reached its maximum size, with the setting."""
        sizes, store = self._environment.sizes, self._store
        if sizes.store and (size := store.size()) > sizes.store:
            raise TooLarge(
                f"the store takes {megabytes(size)}, at most {megabytes(sizes.store)} are allowed (max_store): delete "
                "sessions, or raise it"
            )
        if sizes.session and (size := int(row.state.get("stored", 0))) > sizes.session:
            raise TooLarge(
                f"session {row.id} takes {megabytes(size)}, at most {megabytes(sizes.session)} are allowed "
                "(max_session): begin another, or raise it"
            )

    # -- one attempt

    def _attempt(self, request: AppendRequest) -> Added | None:
        """Prepare and write a batch; None if another writer came first."""
        ready = request.begin() if request.begin is not None else None
        batch, has_meta = self._prepare(request)
        if request.begin is not None and batch.base_version != ready:
            return None
        if batch.empty and not has_meta and request.key is None and self._is_unchanged(batch):
            return Added(met_again=batch.met_again)
        added = self._write(batch, request)
        if added is not None:
            added.met_again = batch.met_again
        return added

    def _is_unchanged(self, batch: AppendBatch) -> bool:
        """Return whether the log in which a batch found its messages is the one it was prepared for.

        Otherwise another writer may have added equal messages meanwhile, which are not these.
        """
        return self._store.sessions.get(batch.session.id).version == batch.base_version

    def _prepare(self, request: AppendRequest) -> tuple[AppendBatch, bool]:
        """Return the batch of a request, and whether its records contain facts about the session itself."""
        with self._store.read():
            session = Session.load(self._environment, request.session_id)
            row = session.row
            with session.may_switch():
                session.state.proxy.applied = sends_pruned(session.state.proxy)
                session.state.edited = sends_edited(row.source, row.id)
            unnamed = row.model is None
            records = request.records(row) if callable(request.records) else request.records
            apply_meta(session, records)  # the model decides how tokens are counted
            batch = AppendBatch(session)
            for record in records:
                if isinstance(record, Meta) and record.version:
                    session.state.note_version(record.version)
            if unnamed and row.model is not None:
                batch.count_again()
        turns, answers, awaiting = row.turns, session.state.answers, session.state.awaiting
        for run in runs(records):
            if isinstance(run, UsageReport):
                batch.add_report(run)
            else:
                batch.add(run)
        batch.close_all()
        if request.replacing:
            row.turns, session.state.answers, session.state.awaiting = turns, answers, awaiting
        return batch, any(isinstance(record, Meta) for record in records)

    def _write(self, batch: AppendBatch, request: AppendRequest) -> Added | None:
        """Write a batch in one transaction; None if the session has changed since it was prepared."""
        session, key, nos = batch.session, request.key, [no for no, _ in batch.fresh]
        added = Added(nos, [batch.messages[no].mid for no in nos])
        try:
            with self._store.write(session.id):
                current = self._store.sessions.get(session.id)
                if (known := self.stored_answer(current, key)) is not None:
                    return Added(answer=known)
                if current.version != batch.base_version:
                    return None
                with session.may_switch():
                    session.keep_changes_of_others(current)
                    session.state.proxy.applied = sends_pruned(session.state.proxy)
                if batch.empty:
                    session.save()
                else:
                    batch.write()
                    complete_compaction(session, batch.messages, replacing=request.replacing)
                    changed = bool(batch.changed or batch.reports.lost)
                    self._histories.advance(session, batch.base_version, batch.fresh, changed=changed)
                    for call, lost in batch.reports.lost.items():
                        apply_clearing(session, call, lost)
                    session.own_calibration_only = False
                    added.events = [*self._after_append(session), *self._above_target(session)]
                added.session = session
                added.events = [*_appended(batch), *added.events, SessionUpdated(session.id)]
                if key is not None:  # in the transaction, so that a retry finds both or neither
                    added.answer = self.answer(session, added)
                    stored, now = orjson.loads(orjson.dumps(added.answer)), self._environment.clock()
                    self._store.small.put_answer(session.key, key.name, key.digest, stored, now)
        except BaseException:
            self._histories.drop(session.key)
            raise
        return added

    def _above_target(self, session: Session) -> list[Event]:
        """Return the event of an append that brought an active session above its target."""
        above = session.is_above_target
        if above == session.state.above:
            return []
        session.state.above = above
        session.save()
        if not above or self._environment.clock() - session.row.last_activity_at > WAITING_MS:
            return []
        tokens, limits = session.main.tokens, session.limits
        share = utilization(tokens, limits.limit)
        return [TargetCrossed(session.id, tokens, limits.target_tokens, limits.limit, share)]


@cache
def _stored_answers() -> TypeAdapter[Appended]:
    """Return the check of a stored answer. Building it takes 30 ms, and only a repeated key needs it."""
    return TypeAdapter(Appended)


def _brief_stats(session: Session) -> BriefStats:
    """Return how full the pruned view is. After every append the whole answer for a session would be a fifth of it."""
    limits, context = session.limits, session.pruned
    scale = context.scale
    return BriefStats(
        tokens=scale.tokens,
        utilization=utilization(scale.tokens, limits.limit),
        certainty=scale.certainty,
        messages=context.messages,
        limit=limits.limit,
        needsPruning=scale.tokens > limits.target_tokens,
        state=state_of(session.main.tokens, limits, activity_of(session)),
    )


def _appended(batch: AppendBatch) -> list[Event]:
    """Return the event of the messages of a batch, if it has any that are new or changed."""
    fresh = {no for no, _ in batch.fresh}
    nos = sorted(fresh.union(batch.changed))
    if not nos:
        return []
    return [MessagesAppended(batch.session.id, tuple(nos[-MOST_NUMBERS:]), len(nos), len(nos) - len(fresh))]

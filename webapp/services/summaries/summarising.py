"""Summaries: who writes that of a span of messages, and how it replaces them.

Reads the data, lets `scoring.summary` decide, applies in one transaction as an operation that can be undone. A model
that is configured is asked first, level by level; without an accepted text the built-in summariser is used. The
covered messages are checked again before they are replaced: if any is gone meanwhile, nothing is changed.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol, cast

from scoring.counted import counted
from scoring.summary import (
    JudgedSummary,
    Level,
    deterministic,
    judge,
    replaced_tokens,
    request,
)
from webapp.errors import Conflict, NotFound
from webapp.events import ContextRestored, ContextSummarized, SessionUpdated
from webapp.services.context.pruned_view import view_items
from webapp.services.session.answers import Applied
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.operation import ContextChange, reason_of
from webapp.services.session.operation_answers import operation_answer
from webapp.services.session.session import Session
from webapp.services.session.session_answers import session_answer
from webapp.services.session.times import iso
from webapp.services.summaries.answers import (
    Covered,
    Summaries,
    Summarised,
    SummaryAnswer,
    SummaryFull,
)
from webapp.services.summaries.span import Span, to_cover
from webapp.store.context import MESSAGE, SUMMARY
from webapp.store.log import MessageRow
from webapp.store.operations import Actor, Detail, Facts
from webapp.store.summaries import SummaryRow

NOTHING_NEW = "there is nothing to summarise: all but the recent messages are summarised already"
SUMMARISED = "summarised"
# The lease of a session's summary, with the session's id behind it: a session has one at a time.
LEASE = "summary "
MADE_ALREADY = "a summary is being made already"


@contextmanager
def only_summary(environment: Environment, session_id: str) -> Iterator[threading.Event]:
    """Hold the lease on summaries of a session, over all workers; yield an event that is set when it is cancelled.

    Raises:
        Conflict: a summary of the session is being made already.
    """
    cancelled = threading.Event()
    if not environment.leases.acquire(LEASE + session_id, cancelled.set):
        raise Conflict(MADE_ALREADY)
    try:
        yield cancelled
    finally:
        environment.leases.release(LEASE + session_id)


@dataclass(frozen=True, slots=True)
class Written:
    """A model's text, its cost in US dollars and, if it failed, the `problem` ("" otherwise; `text` is then "")."""

    text: str
    problem: str = ""
    model: str = ""
    cost: float | None = None
    cancelled: bool = False


class SummaryWriter(Protocol):
    """Asks a model, and never raises."""

    def __call__(self, system: str, text: str, cancelled: threading.Event | None) -> Written:
        """Return the model's answer to one question."""


@dataclass(frozen=True, slots=True)
class SummaryText:
    """The text written for a span, its author and its cost."""

    judged: JudgedSummary
    level: str
    model: str | None
    cost: float | None
    problems: tuple[str, ...] = ()


class Summarising:
    """The use cases of summaries. `writer` is the configured model, None without one."""

    def __init__(self, environment: Environment, histories: Histories, writer: SummaryWriter | None) -> None:
        self._environment, self._store = environment, environment.store
        self._histories, self._writer = histories, writer

    @property
    def has_model(self) -> bool:
        """Return True where a model writes summaries."""
        return self._writer is not None

    # -- looking

    def list(self, session_id: str) -> Summaries:
        """Return all summaries of a session, newest first."""
        with self._store.read():
            session = Session.load(self._environment, session_id)
            rows = self._store.summaries.all(session.key)
            there = set(self._store.summaries.active_numbers(session.key))
        return Summaries(summaries=[summary_answer(session, s, s.n in there) for s in rows])

    def one(self, session_id: str, n: int) -> SummaryFull:
        """Return one summary, with the ids of the messages that it covers.

        Raises:
            NotFound: there is no such session or summary.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            found = self._find(session, n)
            there = n in self._store.summaries.active_numbers(session.key)
            covered = self._store.summaries.covered(session.key, found)
            rows = self._store.log.messages(session.key, covered)
        ids = [rows[no].mid for no in covered if no in rows]
        return SummaryFull(**vars(summary_answer(session, found, there)), message_ids=ids)

    def _find(self, session: Session, n: int) -> SummaryRow:
        found = self._store.summaries.get(session.key, n)
        if found is None:
            raise NotFound("summary", n)
        return found

    # -- making one

    def summarise(
        self, session_id: str, actor: Actor = "user", cancelled: threading.Event | None = None
    ) -> Summarised:
        """Replace all but the recent messages by a summary.

        Raises:
            NotFound: there is no such session.
            Conflict: nothing would change, or what should be covered has changed meanwhile.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            span = self.span(session)
        if span is None:
            raise Conflict(NOTHING_NEW)
        text = self.text_for(session, span, cancelled)
        if cancelled is not None and cancelled.is_set():
            raise Conflict("cancelled before the summary was written; nothing is changed")
        if not text.judged.accepted:
            raise Conflict(f"no summary is shorter than what it would replace: {text.judged.problem}")
        if not text.judged.summary.text:
            shown = session.pruned.scale.part(span.replaced)
            size = f"{counted(len(span.items), 'message')} of {counted(shown, 'token')}"
            raise Conflict(f"too short to summarise: {size}")
        return self._apply(session_id, span, text, actor)

    def span(self, session: Session) -> Span | None:
        """Return what a summary would cover now, inside the caller's snapshot; None if nothing would change."""
        counter = session.counter
        items = view_items(self._store, session.key)
        chosen = to_cover(items, session.settings.min_recent_messages)
        if not any(isinstance(s.row, MessageRow) for s in chosen):
            return None
        covered = set(map(id, chosen))
        kept = (one for one in items if id(one) not in covered)
        return Span.of(chosen, replaced_tokens([item.value for item in chosen], counter), counter, kept)

    def text_for(
        self,
        session: Session,
        span: Span,
        cancelled: threading.Event | None,
        *,
        ask: bool = True,
        most_tokens: int | None = None,
        most_words: int | None = None,
    ) -> SummaryText:
        """Return the best accepted text: structured by a model, terser by a model, or the built-in one.

        Without `ask` no model is asked. It takes at most `most_tokens`; `most_words` is the length a model is
        asked for.
        """
        words = session.settings.summary_words
        asked_words = words if most_words is None else min(words, most_words)
        below = span.replaced if most_tokens is None else min(span.replaced, most_tokens + 1)
        scope = span.scope
        problems: list[str] = []
        cost: float | None = None
        writer = self._writer if ask else None
        levels: tuple[Level, ...] = ("structured", "terser")
        for level in levels:
            if writer is None:
                break
            asked = request(level, scope.items, asked_words)
            written = writer(asked.system, asked.text, cancelled)
            cost = cost if written.cost is None else (cost or 0.0) + written.cost
            if written.cancelled:
                break
            if written.problem:
                problems.append(written.problem)
                break  # an endpoint that fails is not asked again for the same
            judged = judge(replace(scope, replaced=below), written.text, asked.max_words)
            if judged.accepted:
                return SummaryText(judged, level, written.model or None, cost, tuple(problems))
            problems.append(judged.problem)
        judged = deterministic(scope, words, most_tokens)
        return SummaryText(judged, "deterministic", None, cost, tuple(problems))

    def _apply(self, session_id: str, span: Span, text: SummaryText, actor: Actor) -> Summarised:
        with Session.to_change(self._environment, session_id) as session:
            self.check(session, span)
            summary = self.put(session, span, text)
            change = ContextChange(session)
            replace_span(change, span, summary)
            facts = Facts()
            note_summary(facts, session, span, summary)
            operation = change.record("summary", actor, reason_of(actor), len(span.messages), facts)
            event = summarised_event(session, summary)
            self._histories.drop(session.key)
        self._environment.bus.publish(event, SessionUpdated(session_id))
        answer = summary_answer(session, summary, in_context=True)
        return Summarised(
            summary=answer,
            operation=operation_answer(operation),
            session=session_answer(session),
            problems=list(text.problems),
            running=False,
            started=True,
            message=f"{counted(len(span.messages), 'message')} -> {counted(answer.tokens, 'token')}",
        )

    def put(self, session: Session, span: Span, text: SummaryText) -> SummaryRow:
        """Store a summary of a span, inside the caller's transaction; return its row."""
        value = text.judged.summary
        covers = [(MESSAGE, m.no) for m in span.messages] + [(SUMMARY, s.n) for s in span.summaries]
        position = span.position
        taken = {s.position for s in self._store.summaries.active(session.key)} - {
            s.position for s in span.summaries
        }
        while position in taken:  # go half of the rest of the way to the message
            position += (int(position + 0.5) - position) / 2
        summary = SummaryRow(
            n=self._store.summaries.next_number(session.key), text=value.text, depth=value.depth,
            messages=value.messages, tokens=text.judged.tokens, replaced_tokens=span.replaced,
            first_at=span.first_at, last_at=span.last_at, note=value.note, level=text.level, model=text.model,
            cost=text.cost, covers=tuple(covers), position=position, until_no=session.row.next_no - 1,
            at=self._environment.clock(),
        )  # fmt: skip
        self._store.summaries.add(session.key, summary)
        return summary

    def check(self, session: Session, span: Span) -> None:
        """Check that everything to be covered is still in place, no unit has grown, and nothing was pinned.

        Raises:
            Conflict: something has changed.
        """
        now = self._store.log.messages(session.key, [m.no for m in span.messages])
        there = set(self._store.summaries.active_numbers(session.key))
        for message in span.messages:
            found = now.get(message.no)
            if (
                found is None
                or found.out_operation is not None
                or found.pinned
                or found.last_seq != message.last_seq
            ):
                raise Conflict("the session has changed since; nothing is summarised, try again")
        if self._answered_since(session, now):
            raise Conflict(
                "a result has arrived for a message to be covered; nothing is summarised, try again"
            )
        if not there.issuperset(s.n for s in span.summaries):
            raise Conflict("a summary to be covered is gone; nothing is summarised, try again")

    def _answered_since(self, session: Session, nos: Collection[int]) -> bool:
        """Return True if a result outside these messages answers a call in them."""
        view = self._histories.of(session)
        places, features = view.positions(nos), view.history.features
        beside = ((p, other) for p in places for other in view.history.unit(p) if other not in places)
        return any(not set(features[p].calls).isdisjoint(features[other].results) for p, other in beside)

    # -- taking one apart

    def expand(self, session_id: str, n: int) -> Applied:
        """Replace a summary by the messages and summaries it covers.

        Raises:
            NotFound: there is no such session or summary.
            Conflict: it is not in the context.
        """
        with Session.to_change(self._environment, session_id) as session:
            found = self._find(session, n)
            if n not in self._store.summaries.active_numbers(session.key):
                raise Conflict(f"summary {n} is not in the context")
            change = ContextChange(session)
            below = [self._find(session, ref) for kind, ref in found.covers if kind == SUMMARY]
            numbers = [ref for kind, ref in found.covers if kind == MESSAGE]
            rows = self._store.log.messages(session.key, numbers)
            back = [m for m in rows.values() if m.out_operation is not None]
            change.summaries_out([found])
            change.summaries_in(below)
            change.put_in(back, {})
            operation = change.record(
                "expand", "user", f"summary {n} expanded by hand", len(back), Facts(summary=n)
            )
            self._histories.drop(session.key)
        ids = tuple(m.mid for m in back)
        self._environment.bus.publish(ContextRestored(session_id, None, ids), SessionUpdated(session_id))
        return Applied(
            operation=operation_answer(operation),
            session=session_answer(session),
            event=None,
            message=f"{counted(len(back), 'message')} back in the place of summary {n}",
        )


def replace_span(change: ContextChange, span: Span, summary: SummaryRow) -> None:
    """Put a summary in the place of everything it covers."""
    detail = Detail(fate="goes", reason=f"{SUMMARISED} in summary {summary.n}", cause=SUMMARISED)
    change.take_out(span.messages, {m.no: detail for m in span.messages})
    change.summaries_out(span.summaries)
    change.summaries_in([summary])


def note_summary(facts: Facts, session: Session, span: Span, summary: SummaryRow) -> None:
    """Note in the facts of an operation which summary it put in the place of a span."""
    facts.summary, facts.summary_tokens = summary.n, session.pruned.scale.part(summary.tokens)
    facts.summarised = len(span.messages)
    facts.level, facts.model, facts.cost = summary.level, summary.model, summary.cost


def summarised_event(session: Session, summary: SummaryRow) -> ContextSummarized:
    """Return the event of a summary that was just put into the session, inside the caller's transaction."""
    summaries = session.environment.store.summaries.active_numbers(session.key)
    name, kept = f"{session.id}/{summary.n}", session.pruned.messages - len(summaries)
    return ContextSummarized(session.id, name, summary.messages, kept, summary.text)


def summary_answer(session: Session, row: SummaryRow, in_context: bool) -> SummaryAnswer:
    """Return a summary as an answer, its sizes in the tokens that the session's regions are shown in."""
    scale = session.pruned.scale
    return SummaryAnswer(
        id=row.n,
        text=row.text,
        note=row.note,
        depth=row.depth,
        messages=row.messages,
        tokens=scale.part(row.tokens),
        replaced_tokens=scale.part(row.replaced_tokens),
        first_at=iso(row.first_at),
        last_at=iso(row.last_at),
        level=cast("Level", row.level),
        model=row.model,
        cost=row.cost,
        covers=Covered(
            messages=sum(kind == MESSAGE for kind, _ in row.covers),
            summaries=[ref for kind, ref in row.covers if kind == SUMMARY],
        ),
        in_context=in_context,
        at=iso(row.at),
    )

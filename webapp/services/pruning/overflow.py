"""The emergency path of a session, for a context that the provider finds too long or that nothing else helps.

It ends within the budget, as an operation that can be undone. Dropped messages are covered by a summary that carries
the note. Shortened messages stay in the context in their short form; the log keeps them whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scoring.assembly import Emergency, NoUserMessageFits, SystemTooLarge, relieve
from scoring.summary import OLDER_BELOW, deterministic
from scoring.tokens import estimate_message_tokens
from webapp.errors import Conflict
from webapp.events import ContextPruned, ContextSummarized, Event, SessionUpdated
from webapp.services.context.pruned_view import ViewItem, view_items
from webapp.services.pruning.answers import Emergency as EmergencyAnswer
from webapp.services.pruning.answers import Relieved
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.operation import ContextChange, pruned_event, reason_of
from webapp.services.session.operation_answers import applied
from webapp.services.session.replacements import Replacement
from webapp.services.session.session import Session
from webapp.services.session.session_answers import session_answer
from webapp.services.summaries.span import Span
from webapp.services.summaries.summarising import (
    Summarising,
    SummaryText,
    note_summary,
    replace_span,
    summarised_event,
)
from webapp.store.log import MessageRow
from webapp.store.operations import Actor, Detail, Facts, OperationRow
from webapp.store.summaries import SummaryRow

# The share of the budget that the summary with the note may take, and its most and least tokens.
SUMMARY_SHARE, MOST_SUMMARY, LEAST_SUMMARY = 0.1, 1_200, 40

# With fewer tokens than this beside the system prompt no useful context is left.
LEAST_BESIDE = 256


@dataclass(frozen=True, slots=True)
class EmergencyOutcome:
    """The outcome of the emergency path: its operation, its events, and the numbers to show.

    `summarised` is the event of the summary in place of what was dropped, None where none fits.
    """

    operation: OperationRow
    event: ContextPruned
    summarised: ContextSummarized | None
    answer: EmergencyAnswer

    @property
    def events(self) -> list[Event]:
        """Return the events to publish."""
        return [self.event] if self.summarised is None else [self.event, self.summarised]


class Overflow:
    """The use case of an overflow."""

    def __init__(self, environment: Environment, histories: Histories, summarising: Summarising) -> None:
        self._environment, self._store = environment, environment.store
        self._histories, self._summarising = histories, summarising

    def relieve(self, session_id: str, *, reported: bool = True) -> Relieved:
        """Bring the context within what is usable, on request or because a provider `reported` that it is too long.

        In the second case at least half of the turns are taken out.

        Raises:
            NotFound: there is no such session.
            Conflict: the system prompt alone is too large (with the numbers), or there is nothing to take out.
        """
        with Session.to_change(self._environment, session_id) as session:
            done = self.within(session, overflow=reported, actor="emergency" if reported else "user")
            self._histories.drop(session.key)
        self._environment.bus.publish(*done.events, SessionUpdated(session_id))
        answer = applied(session_answer(session), done.operation, done.event)
        return Relieved(**vars(answer), emergency=done.answer)

    def within(
        self,
        session: Session,
        *,
        overflow: bool,
        actor: Actor = "emergency",
        goal: int | None = None,
        reason: str = "",
    ) -> EmergencyOutcome:
        """Bring it to at most the usable tokens, inside the caller's transaction.

        `goal` is a lower number of estimated tokens, used if it leaves room beside the system prompt.

        Raises:
            Conflict: as `relieve`.
        """
        items = view_items(self._store, session.key)
        available = self._available(session, items, goal)
        room = min(MOST_SUMMARY, max(LEAST_SUMMARY, int(available * SUMMARY_SHARE)))
        done = self._decided(session, items, available, room, overflow)
        change = ContextChange(session)
        gone, dropped = [items[n] for n in done.dropped], set(done.dropped)
        kept = [one for n, one in enumerate(items) if n not in dropped]
        self._change(change, items, done)
        most = session.pruned.scale.shown(available + session.pruned.outside_messages)
        facts = Facts(strategy="emergency", max_tokens=most, note=done.note)
        summary = self._cover(
            change, gone, kept, done.note, min(room, max(0, available - done.tokens)), facts
        )
        count = len(done.dropped) + len(done.changed)
        operation = change.record("prune", actor, reason or reason_of(actor), count, facts)
        ids = [s.row.mid for s in gone if isinstance(s.row, MessageRow)]
        event = pruned_event(
            session, operation, ids, shortened=len(done.changed), summarised=facts.summarised or 0
        )
        summarised = summarised_event(session, summary) if summary is not None else None
        shown = EmergencyAnswer(
            dropped=len(ids),
            images=len(done.images),
            shortened=len(done.shortened),
            cut_protected=done.cut_protected,
            note=done.note,
            available=available,
        )
        return EmergencyOutcome(operation, event, summarised, shown)

    def _available(self, session: Session, items: Sequence[ViewItem], goal: int | None) -> int:
        """Return the estimated tokens for messages, at most those of the goal if it leaves enough beside the prompt.

        Raises:
            Conflict: there are none.
        """
        available = max(0, session.usable_estimate - session.pruned.outside_messages)
        if not available:
            raise Conflict(self._no_room(session))
        if goal is not None:
            system = sum(one.tokens for one in items if one.message.role == "system")
            if system + LEAST_BESIDE <= goal - session.pruned.outside_messages:
                return min(available, goal - session.pruned.outside_messages)
        return available

    def _no_room(self, session: Session) -> str:
        """Return why nothing can be gained: the prompt and the tools take all usable tokens."""
        alone, usable = session.pruned.scale.shown(session.pruned.outside_messages), session.usable_shown
        if not usable:
            window = session.limits.window
            return (
                f"nothing of the window of {window:,} tokens is usable beside the answer and the buffer; lower "
                "response_reserve or choose a model with a larger window"
            )
        return (
            f"the system prompt and the tool definitions alone take {alone:,} tokens, {alone - usable:,} more than the "
            f"{usable:,} usable; shorten them or choose a model with a larger window"
        )

    def _decided(
        self, session: Session, items: list[ViewItem], available: int, room: int, overflow: bool
    ) -> Emergency:
        """Return the changes that make the context fit and leave a message in it.

        Raises:
            Conflict: nothing has to be changed, or no message fits.
        """
        spoken = {n for n, s in enumerate(items) if isinstance(s.row, MessageRow) and s.row.role != "system"}
        # Room for a summary is no reason to cut a context that fits.
        if not overflow and sum(one.tokens for one in items) <= available:
            now = self._relieved(session, items, available, 0, overflow)
            if now is not None and now.nothing_done:
                raise Conflict("the context fits; there is nothing to take out")
        for summary in (room, 0):  # the newest message matters more than a summary of it
            done = self._relieved(session, items, available, summary, overflow)
            if done is None or (spoken and spoken.isdisjoint(done.kept)):
                continue
            if done.nothing_done:
                raise Conflict("the context fits and has a single turn; there is nothing to take out")
            return done
        left = session.pruned.scale.part(available)
        raise Conflict(
            f"not even the newest message fits in the {left:,} tokens that are left for messages; shorten the system "
            "prompt or choose a model with a larger window"
        )

    def _relieved(
        self, session: Session, items: list[ViewItem], available: int, room: int, overflow: bool
    ) -> Emergency | None:
        """Return the changes that make the context fit with `room` for the summary; None if no user message fits."""
        pinned = {n for n, s in enumerate(items) if isinstance(s.row, MessageRow) and s.row.pinned}
        costs = [s.tokens for s in items]
        system = sum(c for s, c in zip(items, costs, strict=True) if s.message.role == "system")
        try:
            return relieve(
                [s.value for s in items], max(min(available, system), available - room), tokens=costs,
                min_recent=session.settings.min_recent_messages, pinned=pinned, overflow=overflow,
                counter=session.counter, model=session.row.model,
            )  # fmt: skip
        except NoUserMessageFits:
            return None
        except SystemTooLarge as error:
            part = session.pruned.scale.part
            shown = SystemTooLarge(part(error.system_tokens), part(error.available))
            raise Conflict(str(shown)) from error

    def _change(self, change: ContextChange, items: list[ViewItem], done: Emergency) -> None:
        """Store the shortened messages' replacements."""
        counter = change.session.counter
        cut = [(items[n].row, message) for n, message in done.changed.items()]
        rows = [(row, message) for row, message in cut if isinstance(row, MessageRow)]
        texts: dict[int, str | None] = {
            row.no: Replacement(
                estimate_message_tokens(message, counter),
                {r.call_id: r.text for r in message.results},
                message.parts,
            ).text
            for row, message in rows
        }
        detail = Detail(fate="shortened", reason="cut in an emergency", cause="emergency")
        if rows:
            change.replace([row for row, _ in rows], texts, {row.no: detail for row, _ in rows})

    def _cover(
        self,
        change: ContextChange,
        gone: list[ViewItem],
        kept: list[ViewItem],
        note: str,
        room: int,
        facts: Facts,
    ) -> SummaryRow | None:
        """Take out the dropped messages, and put a summary with the note in their place where it fits.

        Return the summary, and note its numbers in `facts`.
        """
        if not gone:
            return None
        span = Span.of(gone, sum(s.tokens for s in gone), change.session.counter, kept)
        scope = span.scope
        note = "; ".join([note, *([OLDER_BELOW] if span.around.older_below else [])])
        judged = deterministic(replace(scope, empty=replace(scope.empty, note=note)), most_tokens=room)
        if not judged.accepted:
            detail = Detail(fate="goes", reason="dropped in an emergency", cause="emergency")
            change.take_out(span.messages, {m.no: detail for m in span.messages})
            change.summaries_out(span.summaries)
            return None
        text = SummaryText(judged, "deterministic", None, None)
        summary = self._summarising.put(change.session, span, text)
        replace_span(change, span, summary)
        note_summary(facts, change.session, span, summary)
        return summary

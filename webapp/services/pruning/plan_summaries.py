"""Writes the summary that a plan asks for, within the tokens set aside, and puts it in place of its messages.

A model may take minutes to write, so it happens outside any transaction; the covered messages are checked
again before they are replaced. The built-in summariser takes milliseconds and is used when no model is
configured or its text is not accepted.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from webapp.errors import Conflict
from webapp.events import Event, ProblemReported
from webapp.services.context.pruned_view import view_items
from webapp.services.planning.planning import SessionPlan
from webapp.services.session.environment import Environment
from webapp.services.session.operation import ContextChange
from webapp.services.session.session import Session
from webapp.services.summaries.span import Span
from webapp.services.summaries.summarising import Summarising, SummaryText, note_summary
from webapp.store.log import MessageRow
from webapp.store.operations import Facts
from webapp.store.summaries import SummaryRow

# Words to ask a model for, per token that it may use: its prose takes one and a half tokens per word, its paths
# more.
WORDS_PER_TOKEN = 1 / 3
LEAST_WORDS = 50


@dataclass(frozen=True, slots=True)
class PreparedSummary:
    """A summary that is written but not in the context yet."""

    span: Span
    text: SummaryText


class PlanSummaries:
    """Makes the summaries of plans."""

    def __init__(self, environment: Environment, summarising: Summarising) -> None:
        self._store, self._summarising = environment.store, summarising

    @property
    def has_model(self) -> bool:
        """Return True where a model writes summaries, which takes seconds."""
        return self._summarising.has_model

    def prepare(
        self,
        session: Session,
        planned: SessionPlan,
        *,
        ask: bool = True,
        cancelled: threading.Event | None = None,
    ) -> PreparedSummary | None:
        """Write the summary of a plan, by a model where one is configured and `ask`; return None if the plan has none.

        Raises:
            Conflict: it was cancelled, or a message that it should cover is gone.
        """
        summary = planned.plan.summary
        if summary is None:
            return None
        with self._store.read():
            span = self._span(session, planned, frozenset(summary.covers))
        words = max(LEAST_WORDS, int(summary.tokens * WORDS_PER_TOKEN))
        text = self._summarising.text_for(
            session, span, cancelled, ask=ask, most_tokens=summary.tokens, most_words=words
        )
        if cancelled is not None and cancelled.is_set():
            raise Conflict("cancelled before the summary was written; nothing is changed")
        if not text.judged.accepted:
            raise Conflict(f"no summary fits into what was set aside for it: {text.judged.problem}")
        return PreparedSummary(span, text)

    def _span(self, session: Session, planned: SessionPlan, positions: frozenset[int]) -> Span:
        """Return the messages that the plan covers with the summaries that are merged into the new one."""
        wanted = {planned.view.nos[i] for i in positions}
        removed = {planned.view.nos[i] for i in planned.plan.removed}
        there = view_items(self._store, session.key)
        items = [one for one in there if isinstance(one.row, SummaryRow) or one.row.no in wanted]
        kept = (one for one in there if isinstance(one.row, MessageRow) and one.row.no not in removed)
        if sum(isinstance(one.row, MessageRow) for one in items) != len(wanted):
            raise Conflict("the session has changed since; nothing is summarised, look at a new plan")
        return Span.of(items, sum(one.tokens for one in items), session.counter, kept)

    def check(self, session: Session, prepared: PreparedSummary) -> None:
        """Check, inside the caller's transaction, that everything to be covered is unchanged.

        Raises:
            Conflict: something has changed.
        """
        self._summarising.check(session, prepared.span)

    def put(self, change: ContextChange, prepared: PreparedSummary, facts: Facts) -> SummaryRow:
        """Put the summary into the context in place of those merged into it, and note its numbers in `facts`.

        The caller takes the messages out.
        """
        summary = self._summarising.put(change.session, prepared.span, prepared.text)
        change.summaries_out(prepared.span.summaries)
        change.summaries_in([summary])
        note_summary(facts, change.session, prepared.span, summary)
        facts.problems = list(prepared.text.problems)
        return summary


def rejected_summaries(session_id: str, problems: Sequence[str]) -> list[Event]:
    """Return an event for each fault of the model's text that made the built-in summary replace it."""
    said = dict.fromkeys(problems)
    return [
        ProblemReported(
            session_id, f"the model's summary was not accepted, the built-in one is used instead: {one}"
        )
        for one in said
    ]

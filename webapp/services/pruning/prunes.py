"""Pruning: showing a plan, and applying it.

Gathers through `planning`, lets `scoring` decide, applies in one transaction, publishes after it. Where a
plan asks for a summary, it is written first: a model may take minutes, and nothing is locked meanwhile. New
messages since then do not make it stale; any other change does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from scoring.planning import with_exact_tokens
from webapp.bodies import PlanBody, PruneBody
from webapp.errors import Conflict, Invalid, NotFound, StalePlan
from webapp.events import ContextPruned, Event, SessionUpdated
from webapp.services.planning.answers import Plan
from webapp.services.planning.exact_tokens import counted_by, sent_messages
from webapp.services.planning.message_pages import Messages
from webapp.services.planning.message_rows import explain
from webapp.services.planning.planning import PlanInputs, Planning, SessionPlan
from webapp.services.planning.shown_plans import SESSION_CHANGED, ShownPlans
from webapp.services.pruning.plan_answers import PlanAnswers, why_nothing
from webapp.services.pruning.plan_summaries import PlanSummaries, PreparedSummary, rejected_summaries
from webapp.services.session.answers import Applied
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.operation import ContextChange, pruned_event, reason_of
from webapp.services.session.operation_answers import applied
from webapp.services.session.replacements import Replacement
from webapp.services.session.session import Session
from webapp.services.session.session_answers import session_answer
from webapp.services.session.stored_messages import message_with_id
from webapp.services.summaries.summarising import only_summary, summarised_event
from webapp.store.operations import Actor, Facts, OperationRow


class Prunes:
    """The use cases of pruning."""

    def __init__(
        self,
        environment: Environment,
        histories: Histories,
        planning: Planning,
        shown_plans: ShownPlans,
        messages: Messages,
        summaries: PlanSummaries,
    ) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories
        self._planning, self._shown_plans = planning, shown_plans
        self._answers, self._summaries = PlanAnswers(self._store, messages, summaries), summaries

    # -- showing

    def plan(self, session_id: str, wanted: PlanBody) -> Plan:
        """Return the requested plan; nothing is stored.

        Raises:
            NotFound: there is no such session.
            Invalid: a message of `spare`, `drop` or `shorten` is not in it.
            InvalidSettings: settings or strategy are not valid; one error for each field.
            Conflict: a pinned message is to be dropped.
        """
        with self._planning.reading(session_id) as session:
            inputs = PlanInputs(
                tried=wanted.settings,
                max_tokens=wanted.max_tokens,
                strategy=wanted.strategy,
                spare=self._numbers(session, "spare", wanted.spare),
                drop=self._numbers(session, "drop", wanted.drop),
                shorten=self._numbers(session, "shorten", wanted.shorten),
            )
            planned = self._planning.make(session, inputs, exactly=True)
            self._shown_plans.remember(planned)
            saved = None
            if wanted.compare:  # for the same cut, if one was given
                saved = self._planning.make(session, PlanInputs(max_tokens=wanted.max_tokens), exactly=True)
            return self._answers.of(session, planned, saved, brief=wanted.brief)

    def _numbers(self, session: Session, field: str, mids: Sequence[str] | None) -> tuple[int, ...]:
        found = set()
        for n, mid in enumerate(mids or ()):
            try:
                found.add(message_with_id(self._store, session.key, mid).no)
            except NotFound as error:
                raise Invalid(str(error), f"{field}.{n}") from None
        return tuple(sorted(found))

    # -- applying

    def apply(self, session_id: str, wanted: PruneBody) -> Applied:
        """Apply the plan that was shown, or one made now.

        Raises:
            NotFound: there is no such session.
            StalePlan: the session, its settings or its limits have changed since the plan was made.
            Conflict: the plan takes nothing out, or a model is writing a summary for the session already.
        """
        with ExitStack() as job, ExitStack() as held:
            held.enter_context(self._environment.lock(session_id))
            with self._store.read():
                session = Session.load(self._environment, session_id)
                if wanted.plan_id:
                    planned = self._shown_plans.recall(wanted.plan_id, session)
                else:
                    inputs = PlanInputs(max_tokens=wanted.max_tokens, strategy=wanted.strategy)
                    planned = self._planning.make(session, inputs)
            if (why := why_nothing(planned)) is not None:
                raise Conflict(why)
            if planned.plan.summary is None or not self._summaries.has_model:
                return self.apply_plan(planned, self._summaries.prepare(session, planned), "user")
            # Taken under the lock, or a second request could pay for the summary of a plan that is applied just now.
            cancelled = job.enter_context(only_summary(self._environment, session_id))
            held.close()  # a model may take minutes; `apply_plan` checks again
            prepared = self._summaries.prepare(session, planned, cancelled=cancelled)
            return self.apply_plan(planned, prepared, "user")

    def apply_plan(self, planned: SessionPlan, prepared: PreparedSummary | None, actor: Actor) -> Applied:
        """Apply a plan with the summary that was written for it.

        Raises:
            StalePlan, Conflict: as `check`.
        """
        with self._environment.lock(planned.session_id):
            with self._store.write(planned.session_id):
                session = Session.load(self._environment, planned.session_id)
                self.check(session, planned, prepared)
                operation, events = self.apply_in_transaction(session, planned, actor, prepared)
            self._histories.drop(session.key)
        failed = rejected_summaries(session.id, prepared.text.problems) if prepared is not None else []
        self._environment.bus.publish(*events, *failed, SessionUpdated(session.id))
        pruned = next(event for event in events if isinstance(event, ContextPruned))
        return applied(session_answer(session), operation, pruned)

    def check(self, session: Session, planned: SessionPlan, prepared: PreparedSummary | None) -> None:
        """Check inside the caller's transaction that a plan can still be applied.

        Raises:
            StalePlan: the session has changed; if a summary was being written, by more than new messages.
            Conflict: what the summary covers has changed.
        """
        is_same = planned.view.session == session.key  # an id can come back with other messages
        if is_same and session.version == planned.version:
            return
        if is_same and prepared is not None:
            self._summaries.check(session, prepared)
            touched = [planned.view.nos[i] for i in (*planned.plan.removed, *planned.plan.shortened)]
            found = self._store.log.messages(session.key, touched)
            still = all(m.out_operation is None and not m.pinned for m in found.values())
            if still and len(found) == len(touched):
                return
        raise StalePlan(SESSION_CHANGED)

    def apply_in_transaction(
        self,
        session: Session,
        planned: SessionPlan,
        actor: Actor,
        prepared: PreparedSummary | None,
    ) -> tuple[OperationRow, list[Event]]:
        """Apply a plan inside the caller's transaction, with the summary that it asks for."""
        plan, nos, log = planned.plan, planned.view.nos, self._store.log
        texts = _replacements(session, planned)
        change = ContextChange(session)
        gone = log.messages(session.key, [nos[i] for i in plan.removed])
        details = {nos[i]: explain(planned, i) for i in (*plan.removed, *plan.shortened)}
        change.take_out([gone[nos[i]] for i in plan.removed], details)
        if texts:
            change.replace(list(log.messages(session.key, list(texts)).values()), dict(texts), details)
        facts = Facts(
            strategy=plan.strategy,
            max_tokens=planned.max_tokens,
            preset=planned.preset,
            weights=dict(planned.settings.weights),
        )
        summary = self._summaries.put(change, prepared, facts) if prepared is not None else None
        operation = change.record("prune", actor, reason_of(actor), len(plan.removed) + len(texts), facts)
        event = pruned_event(
            session,
            operation,
            [gone[nos[i]].mid for i in plan.removed],
            shortened=len(texts),
            summarised=len(plan.summary.covers) if plan.summary is not None else 0,
        )
        return operation, [event] if summary is None else [event, summarised_event(session, summary)]


def _replacements(session: Session, planned: SessionPlan) -> dict[int, str]:
    """Return by message number the texts that replace the outputs that the plan shortens, counted exactly."""
    if not planned.plan.shortened:
        return {}
    view, message = planned.view, sent_messages(session, planned.view, planned.plan.shortened)
    base = with_exact_tokens(planned.base, view.history, message, counted_by(session))
    by_hand = {i: one for i, one in planned.plan.shortenings.items() if i not in planned.base.shortenings}
    return {
        view.nos[i]: Replacement(one.tokens, {r.call_id: r.text for r in one.apply(message(i)).results}).text
        for i, one in (dict(base.shortenings) | by_hand).items()
    }

"""Pruning: the plan that is shown, and the plan that is applied.

Gathers through `planning`, lets `scoring` decide, applies in one transaction, publishes after it. Where a
plan asks for a summary, it is written first: a model may take minutes, and nothing is locked meanwhile. New
messages since then do not make it stale; any other change does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack

from scoring.budget import utilization
from scoring.history import task_type_of
from scoring.planning import with_exact_tokens
from scoring.signals import SIGNALS
from webapp.agents.records import COMPACTION_SUMMARY
from webapp.bodies import PlanBody, PruneBody
from webapp.errors import Conflict, Invalid, NotFound, StalePlan
from webapp.events import ContextPruned, Event, SessionUpdated
from webapp.services.planning.answers import Fill, Kept, OverBudget, Plan
from webapp.services.planning.cache_cost import cache_figures
from webapp.services.planning.exact_tokens import counted_by, sent_messages
from webapp.services.planning.message_pages import Messages
from webapp.services.planning.message_rows import explain
from webapp.services.planning.plan_groups import groups_of
from webapp.services.planning.planning import SESSION_CHANGED, PlanInputs, Planning, SessionPlan
from webapp.services.pruning.plan_summaries import PlanSummaries, PreparedSummary, rejected_summaries
from webapp.services.session.answers import Applied, Region
from webapp.services.session.environment import Environment
from webapp.services.session.gauges import regions_of
from webapp.services.session.histories import Histories
from webapp.services.session.measuring import region_of
from webapp.services.session.operation import ContextChange, pruned_event, reason_of
from webapp.services.session.operation_answers import applied
from webapp.services.session.replacements import Replacement
from webapp.services.session.session import Session
from webapp.services.session.session_answers import session_answer
from webapp.services.session.stored_messages import message_with_id
from webapp.services.summaries.summarising import only_summary, summarised_event
from webapp.store.operations import Actor, Facts, OperationRow

# The most rows of each kind that a plan shows; `messages.page` with the plan's id shows all of them.
ROWS_SHOWN = 500


class Prunes:
    """The use cases of pruning."""

    def __init__(
        self,
        environment: Environment,
        histories: Histories,
        planning: Planning,
        messages: Messages,
        summaries: PlanSummaries,
    ) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories
        self._planning, self._messages, self._summaries = planning, messages, summaries

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
            self._planning.remember(planned)
            saved = None
            if wanted.compare:  # for the same cut, if one was given
                saved = self._planning.make(session, PlanInputs(max_tokens=wanted.max_tokens), exactly=True)
            return self._answer(session, planned, saved, rows=0 if wanted.brief else ROWS_SHOWN)

    def _numbers(self, session: Session, field: str, mids: Sequence[str] | None) -> tuple[int, ...]:
        found = set()
        for n, mid in enumerate(mids or ()):
            try:
                found.add(message_with_id(self._store, session.key, mid).no)
            except NotFound as error:
                raise Invalid(str(error), f"{field}.{n}") from None
        return tuple(sorted(found))

    def _answer(
        self, session: Session, planned: SessionPlan, saved: SessionPlan | None, *, rows: int
    ) -> Plan:
        """Return a plan with at most so many `rows` of each list of messages."""
        plan, scale, limits, nos = planned.plan, planned.scale, planned.limits, planned.view.nos
        units = {planned.view.history.units.head[i] for i in plan.removed}
        return Plan(
            plan_id=planned.id,
            session_id=session.id,
            version=planned.version,
            strategy=plan.strategy,
            preset=planned.preset,
            weights={name: planned.settings.weights.get(name, 0.0) for name in SIGNALS},
            weights_of=_weighing_type(session, planned),
            fresh_tail=planned.settings.fresh_tail,
            own_settings=sorted(session.row.settings),
            max_tokens=planned.max_tokens,
            limit=limits.limit,
            before=_fill(scale.tokens, limits.limit, session.pruned.messages),
            after=_fill(planned.tokens_after, limits.limit, _messages_after(session, planned)),
            regions_after=self._regions_after(session, planned, planned.tokens_after),
            removed_count=len(plan.removed),
            removed_units=len(units),
            shortened_count=len(plan.shortened),
            summary=self._summaries.shown(planned),
            freed=planned.freed,
            over_budget=self._over_budget(session, planned),
            nothing_to_do=_why_nothing(planned),
            groups=groups_of(planned),
            removed=self._messages.rows(session.key, planned, [nos[i] for i in plan.removed[:rows]]),
            shortened=self._messages.rows(session.key, planned, [nos[i] for i in plan.shortened[:rows]]),
            kept=self._kept(session, planned) if rows else [],
            cache=cache_figures(planned),
            changed=None if saved is None else _changed(planned, saved),
        )  # fmt: skip

    def _regions_after(self, session: Session, planned: SessionPlan, after: int) -> list[Region]:
        """Return the regions of the context after the plan; they add up to `after`."""
        plan, history, totals = planned.plan, planned.view.history, session.pruned.totals
        left = Counter({name: tokens for name, (tokens, _) in totals.items()})
        summaries = set[int]()
        if totals.get("summary", (0, 0))[1]:
            summaries.update(
                self._store.log.numbers(session.key, newest_first=False, kind=COMPACTION_SUMMARY)
            )

        def take(position: int, tokens: int) -> None:
            kind = COMPACTION_SUMMARY if planned.view.nos[position] in summaries else "message"
            left[region_of(history.roles[position], kind)] -= tokens

        for i in plan.removed:
            take(i, history.tokens[i])
        for i in plan.shortened:
            take(i, history.tokens[i] - plan.shortenings[i].tokens)
        if plan.summary is not None:
            left["summary"] += plan.summary.tokens - plan.summary.absorbed
        estimates = {name: max(0, tokens) for name, tokens in left.items()}
        return regions_of(session, planned.scale, estimates, after)

    def _over_budget(self, session: Session, planned: SessionPlan) -> OverBudget | None:
        """Return by how much the protected messages exceed the budget, None if they fit (B7)."""
        plan, scale = planned.plan, planned.scale
        if plan.over_budget is None:
            return None
        protected = scale.shown(scale.estimate - plan.tokens_before + plan.over_budget.protected_tokens)
        return OverBudget(
            protected_tokens=protected,
            max_tokens=planned.max_tokens,
            message=f"what is always kept takes {protected:,} tokens, more than the {planned.max_tokens:,} allowed",
            usable=session.usable_shown,
            emergency=session.can_be_relieved,
        )

    def _kept(self, session: Session, planned: SessionPlan) -> list[Kept]:
        plan, view = planned.plan, planned.view
        some = {view.nos[i]: i for i in plan.kept[-ROWS_SHOWN:]}
        found = self._store.log.messages(session.key, list(some))
        return [
            Kept(
                id=found[no].mid, number=no, fate=plan.fate(i), reason=plan.reason(i),
                tokens=planned.scale.part(view.history.tokens[i]), score=round(plan.scores[i], 2),
            )
            for no, i in some.items() if no in found
        ]  # fmt: skip

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
                    planned = self._planning.recall(wanted.plan_id, session)
                else:
                    inputs = PlanInputs(max_tokens=wanted.max_tokens, strategy=wanted.strategy)
                    planned = self._planning.make(session, inputs)
            if (why := _why_nothing(planned)) is not None:
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


def _weighing_type(session: Session, planned: SessionPlan) -> str | None:
    """Return the task type whose own weights a plan was made with; None for the common weights."""
    name = task_type_of(planned.asked, session.state.facts)
    return name if planned.asked.task_types.of(name).weights is not None else None


def _fill(tokens: int, limit: int, messages: int) -> Fill:
    return Fill(tokens=tokens, utilization=utilization(tokens, limit), messages=messages)


def _messages_after(session: Session, planned: SessionPlan) -> int:
    """Return the messages and summaries afterwards; a new summary replaces all earlier ones."""
    summaries = 1 if planned.plan.summary is not None else session.pruned.messages - planned.size
    return planned.size - len(planned.plan.removed) + summaries


def _why_nothing(planned: SessionPlan) -> str | None:
    if planned.plan.removed or planned.plan.shortened:
        return None
    if planned.size == 0:
        return "the context is empty"
    if planned.chosen:
        return "none of the chosen messages can be dropped or shortened: system messages and the last message stay"
    if planned.plan.over_budget is not None:
        return "everything in the context is protected"
    return f"the context is within the {planned.max_tokens:,} tokens already"


def _changed(planned: SessionPlan, saved: SessionPlan) -> int:
    size = min(planned.size, saved.size)
    here, there = planned.plan, saved.plan
    return sum(here.fate(i) != there.fate(i) for i in range(size))

"""Plans as answers: what a prune would change, before it is applied."""

from __future__ import annotations

from collections import Counter

from scoring.budget import utilization
from scoring.history import task_type_of
from scoring.signals import SIGNALS
from webapp.agents.records import COMPACTION_SUMMARY
from webapp.services.planning.answers import Fill, Kept, OverBudget, Plan, PlannedSummary
from webapp.services.planning.cache_cost import cache_figures
from webapp.services.planning.message_pages import Messages
from webapp.services.planning.plan_groups import groups_of
from webapp.services.planning.planning import SessionPlan
from webapp.services.pruning.plan_summaries import PlanSummaries
from webapp.services.session.answers import Region
from webapp.services.session.gauges import regions_of
from webapp.services.session.measuring import region_of
from webapp.services.session.session import Session
from webapp.store import Store

# The most rows of each kind that a plan shows; `messages.page` with the plan's id shows all of them.
ROWS_SHOWN = 500


class PlanAnswers:
    """Makes answers of plans."""

    def __init__(self, store: Store, messages: Messages, summaries: PlanSummaries) -> None:
        self._store, self._messages, self._summaries = store, messages, summaries

    def of(
        self, session: Session, planned: SessionPlan, saved: SessionPlan | None, *, brief: bool | None
    ) -> Plan:
        """Return a plan as it is shown, compared with `saved` if that is given; a `brief` one without messages."""
        rows = 0 if brief else ROWS_SHOWN
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
            aim_tokens=limits.aim_tokens,
            limit=limits.limit,
            before=_fill(scale.tokens, limits.limit, session.pruned.messages),
            after=_fill(planned.tokens_after, limits.limit, _messages_after(session, planned)),
            regions_after=self._regions_after(session, planned, planned.tokens_after),
            removed_count=len(plan.removed),
            removed_units=len(units),
            shortened_count=len(plan.shortened),
            summary=self._summary(planned),
            freed=planned.freed,
            over_budget=self._over_budget(session, planned),
            nothing_to_do=why_nothing(planned),
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

    def _summary(self, planned: SessionPlan) -> PlannedSummary | None:
        """Return the summary of a plan before it is written, None if the plan has none."""
        summary = planned.plan.summary
        if summary is None:
            return None
        nos = [planned.view.nos[i] for i in summary.covers]
        return PlannedSummary(
            messages=len(nos),
            first=nos[0],
            last=nos[-1],
            covered_tokens=planned.scale.part(summary.covered_tokens),
            most_tokens=planned.scale.part(summary.tokens),
            absorbed_tokens=planned.scale.part(summary.absorbed),
            by_model=self._summaries.has_model,
        )


def why_nothing(planned: SessionPlan) -> str | None:
    """Return why a plan changes nothing; None if it changes anything."""
    if planned.plan.removed or planned.plan.shortened:
        return None
    if planned.size == 0:
        return "the context is empty"
    if planned.chosen:
        return "none of the chosen messages can be dropped or shortened: system messages and the last message stay"
    if planned.plan.over_budget is not None:
        return "everything in the context is protected"
    return f"the context is within the {planned.max_tokens:,} tokens already"


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


def _changed(planned: SessionPlan, saved: SessionPlan) -> int:
    """Return how many messages have another fate than in the plan with the saved settings."""
    size = min(planned.size, saved.size)
    here, there = planned.plan, saved.plan
    return sum(here.fate(i) != there.fate(i) for i in range(size))

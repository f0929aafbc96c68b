"""Pruning: the plan that is shown, and the plan that is applied.

Gathers through `planning`, lets `scoring` decide, applies in one transaction, publishes after it. Where a plan asks for
a summary, it is written first: a model may take minutes, and nothing is locked meanwhile. What came in since is no
reason to throw it away; anything else that changed is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from scoring.bulk import no_collection
from scoring.messages import Message
from scoring.planning import settle
from scoring.tokens import estimate_message_tokens
from webapp.errors import Conflict, StalePlan
from webapp.events import ContextPruned, Event, SessionUpdated
from webapp.services.context.assembling import usable_estimate
from webapp.services.planning.cache_cost import cache_figures
from webapp.services.planning.message_pages import Messages
from webapp.services.planning.message_rows import why
from webapp.services.planning.plan_groups import groups_of
from webapp.services.planning.planning import Planning, SessionPlan
from webapp.services.session.changes import Change, reason_of
from webapp.services.session.environment import Environment
from webapp.services.session.gauges import Totals, percent, regions, session_json
from webapp.services.session.histories import Histories
from webapp.services.session.measuring import region_of
from webapp.services.session.operation_answers import applied_json
from webapp.services.session.replacements import stand_in, with_stand_in
from webapp.services.session.state import SessionState
from webapp.services.session.stored_messages import whole
from webapp.services.summaries.plan_summary import Covering, Prepared, stood_in
from webapp.services.summaries.summarising import summarised_event
from webapp.store.context import PRUNED
from webapp.store.operations import OperationRow
from webapp.store.sessions import SessionRow

# A plan shows at most so many rows of each kind; `messages.page` with the plan's id shows all of them.
ROWS_SHOWN = 500


class Prunes:
    """The use cases of pruning."""

    def __init__(
        self,
        environment: Environment,
        histories: Histories,
        planning: Planning,
        messages: Messages,
        covering: Covering,
    ) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories
        self._planning, self._messages, self._covering = planning, messages, covering

    # -- showing

    def plan(self, session_id: str, wish: Mapping[str, Any]) -> dict[str, Any]:
        """The plan for `{max_tokens?, strategy?, settings?, spare?, drop?, shorten?, compare?}`; stores nothing.

        Raises:
            NotFound: there is no such session, or no such message in it.
            InvalidSettings: settings or strategy are not valid; one fault a field.
            Conflict: what is pinned is to be dropped.
        """
        with self._store.read():
            row = self._store.sessions.get(session_id)
            made = self._planning.make(
                row,
                tried=wish.get("settings"),
                max_tokens=wish.get("max_tokens"),
                strategy=wish.get("strategy"),
                spare=self._numbers(row, wish.get("spare")),
                drop=self._numbers(row, wish.get("drop")),
                shorten=self._numbers(row, wish.get("shorten")),
            )
            self._planning.remember(made)
            saved = self._planning.make(row) if wish.get("compare") else None
            return self._plan_json(row, made, saved)

    def _numbers(self, row: SessionRow, mids: Sequence[str] | None) -> set[int]:
        return {self._messages.find(row, mid).no for mid in mids or ()}

    def _plan_json(self, row: SessionRow, made: SessionPlan, saved: SessionPlan | None) -> dict[str, Any]:
        plan, scale, limits, nos = made.plan, made.scale, made.limits, made.view.nos
        after = scale.shown(scale.estimate - plan.freed)
        units = {made.view.history.units.head[i] for i in plan.removed}
        return {
            "plan_id": made.id,
            "session_id": row.id,
            "version": made.version,
            "strategy": plan.strategy,
            "preset": made.preset,
            "max_tokens": made.max_tokens,
            "limit": limits.limit,
            "before": _fill(scale.tokens, limits.limit, made.size),
            "after": _fill(after, limits.limit, made.size - len(plan.removed)),
            "regions_after": self._regions_after(row, made, after),
            "removed_count": len(plan.removed),
            "removed_units": len(units),
            "shortened_count": len(plan.shortened),
            "summary": self._covering.shown(made),
            "freed": scale.tokens - after,
            "over_budget": self._over(row, made),
            "nothing_to_do": _nothing(made),
            "groups": groups_of(made),
            "removed": self._messages.rows(row, made, [nos[i] for i in plan.removed[:ROWS_SHOWN]]),
            "shortened": self._messages.rows(row, made, [nos[i] for i in plan.shortened[:ROWS_SHOWN]]),
            "kept": self._kept(row, made),
            "cache": cache_figures(made),
            "changed": None if saved is None else _changed(made, saved),
        }  # fmt: skip

    def _regions_after(self, row: SessionRow, made: SessionPlan, after: int) -> list[dict[str, Any]]:
        """The regions of the context as it would be; they add up to `after`."""
        plan, history, totals = made.plan, made.view.history, self._store.contexts.totals(row.key)[PRUNED]
        left = Counter({name: tokens for name, (tokens, _) in totals.items()})
        summaries = set[int]()
        if totals.get("summary", (0, 0))[1]:
            summaries.update(self._store.log.numbers(row.key, newest_first=False, kind="compaction_summary"))

        def take(position: int, tokens: int) -> None:
            kind = "compaction_summary" if made.view.nos[position] in summaries else "message"
            left[region_of(history.roles[position], kind)] -= tokens

        for i in plan.removed:
            take(i, history.tokens[i])
        for i in plan.shortened:
            take(i, history.tokens[i] - plan.shortenings[i].tokens)
        if plan.summary is not None:
            left["summary"] += plan.summary.tokens - plan.summary.absorbed
        estimates = {name: max(0, tokens) for name, tokens in left.items()}
        return regions(SessionState.from_dict(row.state), estimates, after, made.scale.certainty)

    def _over(self, row: SessionRow, made: SessionPlan) -> dict[str, Any] | None:
        """The numbers where what is always kept takes more than the budget; the emergency path is offered where the
        context is above what is usable, too (SPEC B7).
        """
        plan, scale = made.plan, made.scale
        if plan.over_budget is None:
            return None
        protected = scale.shown(scale.estimate - plan.tokens_before + plan.over_budget.protected_tokens)
        usable = scale.shown(usable_estimate(self._environment, row, self._store.contexts.totals(row.key)))
        return {
            "protected_tokens": protected,
            "max_tokens": made.max_tokens,
            "message": f"what is always kept takes {protected:,} tokens, more than the {made.max_tokens:,} allowed",
            "usable": usable,
            "emergency": scale.tokens > usable,
        }

    def _kept(self, row: SessionRow, made: SessionPlan) -> list[dict[str, Any]]:
        plan, some = made.plan, made.plan.kept[-ROWS_SHOWN:]
        found = self._store.log.messages(row.key, [made.view.nos[i] for i in some])
        return [
            {"id": found[made.view.nos[i]].mid, "number": made.view.nos[i], "fate": plan.fate(i),
             "reason": plan.reason(i), "tokens": made.scale.part(made.view.history.tokens[i]),
             "score": round(plan.scores[i], 2)}
            for i in some if made.view.nos[i] in found
        ]  # fmt: skip

    # -- applying

    def apply(self, session_id: str, wish: Mapping[str, Any], actor: str = "user") -> dict[str, Any]:
        """Applies the plan with `plan_id`, or one made now for `{max_tokens?, strategy?}`.

        Raises:
            NotFound: there is no such session.
            StalePlan: the session, its settings or its limits have changed since the plan was made.
            Conflict: the plan takes nothing out.
        """
        with ExitStack() as held:
            held.enter_context(self._environment.lock(session_id))
            row = self._store.sessions.get(session_id)
            if wish.get("plan_id"):
                made = self._planning.recall(wish["plan_id"], row)
            else:
                made = self._planning.make(
                    row, max_tokens=wish.get("max_tokens"), strategy=wish.get("strategy")
                )
            if not made.plan.removed and not made.plan.shortened:
                raise Conflict(_nothing(made) or "this plan takes nothing out")
            if self._covering.has_model:
                held.close()  # a model may take minutes; `carry` looks again
            return self.carry(made, self._covering.prepare(row, made), actor)

    def carry(self, made: SessionPlan, prepared: Prepared | None, actor: str) -> dict[str, Any]:
        """Applies a plan with the summary that was written for it.

        Raises:
            StalePlan: as `check`.
        """
        reason = reason_of(actor)
        with self._environment.lock(made.session_id):
            with self._store.write():
                row = self._store.sessions.get(made.session_id)
                self.check(row, made, prepared)
                totals = self._store.contexts.totals(row.key)
                operation, events = self.carry_out(row, totals, made, actor, reason, prepared)
            self._histories.drop(row.key)
        failed = stood_in(row.id, prepared.text.problems) if prepared is not None else []
        self._environment.bus.publish(*events, *failed, SessionUpdated(row.id))
        return applied_json(session_json(self._environment, row, totals), operation, pruned_event(events))

    def check(self, row: SessionRow, made: SessionPlan, prepared: Prepared | None) -> None:
        """That a plan may still be carried out, inside the caller's transaction.

        Raises:
            StalePlan: the session has changed; where a summary was being written, in more than what came in.
        """
        if row.version == made.version:
            return
        if prepared is not None:
            self._covering.check(row, prepared)
            planned = [made.view.nos[i] for i in (*made.plan.removed, *made.plan.shortened)]
            found = self._store.log.messages(row.key, planned)
            still = all(m.out_operation is None and not m.pinned for m in found.values())
            if still and len(found) == len(planned):
                return
        raise StalePlan("the session has changed since this plan was made; look at a new one")

    def carry_out(
        self,
        row: SessionRow,
        totals: Totals,
        made: SessionPlan,
        actor: str,
        reason: str,
        prepared: Prepared | None = None,
    ) -> tuple[OperationRow, list[Event]]:
        """Applies a plan inside the caller's transaction, with the summary that it asks for."""
        with no_collection():
            return self._carry_out(row, totals, made, actor, reason, prepared)

    def _carry_out(
        self,
        row: SessionRow,
        totals: Totals,
        made: SessionPlan,
        actor: str,
        reason: str,
        prepared: Prepared | None,
    ) -> tuple[OperationRow, list[Event]]:
        plan, nos = made.plan, made.view.nos
        stand_ins = self._stand_ins(row, made)
        change = Change(self._store, row, totals, self._environment.clock())
        gone = self._store.log.messages(row.key, [nos[i] for i in plan.removed])
        details = {nos[i]: explain(made, i) for i in (*plan.removed, *plan.shortened)}
        change.take_out([gone[nos[i]] for i in plan.removed], details)
        if stand_ins:
            change.stand(
                list(self._store.log.messages(row.key, list(stand_ins)).values()), dict(stand_ins), details
            )
        facts: dict[str, Any] = {
            "strategy": plan.strategy, "max_tokens": made.max_tokens, "preset": made.preset,
            "weights": dict(made.settings.weights),
        }  # fmt: skip
        summary = self._covering.put(change, prepared) if prepared is not None else None
        if prepared is not None and summary is not None:
            facts |= self._covering.facts(prepared, summary)
        operation = change.record("prune", actor, reason, len(plan.removed) + len(stand_ins), facts)
        event = ContextPruned(
            row.id, operation.n, reason, operation.tokens_before, operation.tokens_after, len(plan.removed),
            tuple(gone[nos[i]].mid for i in plan.removed), percent(operation.tokens_after, made.limits.limit),
            len(stand_ins), len(plan.summary.covers) if plan.summary is not None else 0,
        )  # fmt: skip
        return operation, [event] if summary is None else [event, summarised_event(row, totals, summary)]

    def _stand_ins(self, row: SessionRow, made: SessionPlan) -> dict[int, str]:
        """Message number -> what stands for the outputs that the plan shortens, counted exactly."""
        if not made.plan.shortened:
            return {}
        view, counter = made.view, self._environment.measure(row).counter
        found = self._store.log.rows_of(row.key, [view.nos[i] for i in made.plan.shortened])

        def message(position: int) -> Message:
            no = view.nos[position]
            return with_stand_in(whole(view.history.roles[position], found[no]), view.stand_ins.get(no))

        def count(message: Message) -> int:
            return estimate_message_tokens(message, counter)

        settled = settle(made.base, view.history, message, count)
        by_hand = {
            i: made.plan.shortenings[i].apply(message(i))
            for i in made.plan.shortened
            if i not in made.base.shortenings
        }
        costs = settled.costs | {i: made.plan.shortenings[i].tokens for i in by_hand}
        return {
            view.nos[i]: stand_in(costs[i], {r.call_id: r.text for r in short.results})
            for i, short in (settled.stand_ins | by_hand).items()
        }


def pruned_event(events: Sequence[Event]) -> ContextPruned:
    """The event that tells of the prune, among those of one operation."""
    return next(event for event in events if isinstance(event, ContextPruned))


def explain(made: SessionPlan, position: int) -> dict[str, Any]:
    """Why a plan does what it does to one message, kept with the operation."""
    plan = made.plan
    parts = {name: round(column[position], 4) for name, column in plan.parts.items()}
    unit = made.view.history.unit(position)
    cause, reason = why(plan, position)
    return {
        "score": round(plan.scores[position], 2),
        "parts": parts,
        "fate": plan.fate(position),
        "reason": reason,
        "cause": cause,
        "unit": made.view.nos[unit[0]],
        "unit_size": len(unit),
    }


def _fill(tokens: int, limit: int, messages: int) -> dict[str, Any]:
    return {"tokens": tokens, "utilization": percent(tokens, limit), "messages": messages}


def _nothing(made: SessionPlan) -> str | None:
    if made.plan.removed or made.plan.shortened:
        return None
    if made.size == 0:
        return "the context is empty"
    if made.chosen:
        return "nothing of what was chosen can go or be shortened: system messages and the last message stay"
    if made.plan.over_budget is not None:
        return "everything in the context is protected"
    return f"the context of {made.scale.tokens:,} tokens is within {made.max_tokens:,} already"


def _changed(made: SessionPlan, saved: SessionPlan) -> int:
    size = min(made.size, saved.size)
    here, there = made.plan, saved.plan
    return sum(here.fate(i) != there.fate(i) for i in range(size))

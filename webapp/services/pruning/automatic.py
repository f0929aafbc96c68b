"""What is done to a context by itself, inside the transaction of the append that makes it necessary.

Above the target (or what is usable, where a small window makes that less) a plan cuts to the aim: once a crossing, and
only for a gain worth it. What is protected stays, even where it takes more than the aim or the target. Where the
context then exceeds what is usable all the same, the model would soon refuse it, protected or not: the emergency path
cuts below that by a margin, so that the next message does not call for it again. Where it can gain nothing, that is
said once, and it waits until the context has grown.
"""

from __future__ import annotations

import logging
import sys
import threading

from webapp.errors import Conflict
from webapp.events import Event, ProblemReported
from webapp.services.context.assembling import usable_estimate
from webapp.services.ingest.append_batch import AppendBatch
from webapp.services.planning.planning import Planning, SessionPlan
from webapp.services.pruning.overflow import Overflow
from webapp.services.pruning.prunes import Prunes
from webapp.services.session.environment import Environment
from webapp.services.session.gauges import Scale, Totals
from webapp.services.session.histories import Histories
from webapp.services.session.state import SessionState
from webapp.services.summaries.plan_summary import Covering, Prepared
from webapp.store.context import PRUNED
from webapp.store.sessions import SessionRow

log = logging.getLogger(__name__)
# After an attempt that gained too little, the context has to grow by this share before the next one.
BACK_OFF = 1.05
# An emergency ends below what is usable by this share of it at least.
MARGIN = 0.1
SUMMARISE = "summarise"


class Automatic:
    """The use cases that nobody calls for."""

    def __init__(
        self,
        environment: Environment,
        histories: Histories,
        planning: Planning,
        prunes: Prunes,
        covering: Covering,
        overflow: Overflow,
    ) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories
        self._planning, self._prunes, self._covering, self._overflow = planning, prunes, covering, overflow

    def after_append(self, row: SessionRow, draft: AppendBatch) -> list[Event]:
        """Prunes if the append that is being written crossed the target, and relieves what exceeds what is usable."""
        events = self._prune(row, draft)
        return [*events, *self._relieve(row, draft.totals)]

    # -- above the target

    def _prune(self, row: SessionRow, draft: AppendBatch) -> list[Event]:
        carried, by_itself = draft.carried, self._environment.automatic(row)
        if not (by_itself or carried.fired or carried.backed_off):
            return []
        tokens = draft.gauge(PRUNED)
        engages = self._engages(row, draft.totals)
        if tokens <= engages:
            if carried.fired or carried.backed_off:
                carried.fired, carried.backed_off = False, 0
                self._save(row, carried)
            return []
        if not by_itself or carried.fired or tokens < carried.backed_off:
            return []
        made = self._plan(row, draft.totals, engages)
        worth = _gain(made) >= made.limits.least_gain
        if worth and self._waits_for_a_model(row, made, draft.totals):
            return []
        still_above = made.scale.shown(made.scale.estimate - made.plan.freed) > engages
        carried.fired, carried.backed_off = worth and still_above, 0 if worth else int(tokens * BACK_OFF)
        row.state = carried.to_dict()
        if not worth:
            self._save(row, carried)
            return []
        made, prepared = self._prepared(row, draft.totals, made)
        _, events = self._prunes.carry_out(row, draft.totals, made, "automatic", "automatic", prepared)
        self._histories.drop(row.key)
        return events

    def _prepared(
        self, row: SessionRow, totals: Totals, made: SessionPlan
    ) -> tuple[SessionPlan, Prepared | None]:
        """The plan with its summary written; what goes wrong there never reaches whoever appended (SPEC C9)."""
        try:
            return made, self._covering.prepare(row, made, ask=False)
        except Conflict as error:
            log.info("no summary for %s: %s", row.id, error)
        except Exception:
            log.exception("a summary failed")
        return self._planning.make(row, totals, max_tokens=made.max_tokens, strategy="score"), None

    def _engages(self, row: SessionRow, totals: Totals) -> int:
        """The size above which a context is pruned: its target, or what is usable where that is less.

        None is, where nothing is usable: a plan would take all it may and gain nothing.
        """
        usable = usable_estimate(self._environment, row, totals)
        if not usable:
            return sys.maxsize
        scale = Scale(SessionState.from_dict(row.state), totals, PRUNED, row.followed)
        return min(self._environment.limits(row).target_tokens, scale.shown(usable))

    def _plan(self, row: SessionRow, totals: Totals, engages: int) -> SessionPlan:
        """The plan for the aim, never for more than where it engages."""
        aim = self._environment.limits(row).aim_tokens
        return self._planning.make(row, totals, max_tokens=engages if engages < aim else None)

    def _waits_for_a_model(self, row: SessionRow, made: SessionPlan, totals: Totals) -> bool:
        """Whether the plan's summary is left to a model: it takes its time, which there is while the context fits."""
        if made.plan.summary is None or not self._covering.has_model:
            return False
        return made.scale.estimate <= usable_estimate(self._environment, row, totals)

    def wants_a_model(self, row: SessionRow) -> bool:
        """Whether a model is to write a summary now, because the context is above its target."""
        settings = self._environment.settings_of(row)
        if (
            not self._covering.has_model
            or settings.strategy != SUMMARISE
            or not self._environment.automatic(row)
        ):
            return False
        carried, totals = SessionState.from_dict(row.state), self._store.contexts.totals(row.key)
        tokens = Scale(carried, totals, PRUNED, row.followed).tokens
        above = tokens > self._engages(row, totals)
        return above and not carried.fired and tokens >= carried.backed_off

    def summarise(self, session_id: str, cancelled: threading.Event | None = None) -> None:
        """Prunes a session above its target by a summary that a model writes; the built-in one stands in for it.

        Raises:
            Conflict: it was given up, or the session has changed in more than what came in.
        """
        with self._environment.lock(session_id):
            row = self._store.sessions.get(session_id)
            if not self.wants_a_model(row):
                return
            totals = self._store.contexts.totals(row.key)
            made = self._plan(row, totals, self._engages(row, totals))
        if made.plan.removed or made.plan.shortened:
            prepared = self._covering.prepare(row, made, cancelled=cancelled)
            self._prunes.carry(made, prepared, "automatic")

    # -- above what is usable

    def _relieve(self, row: SessionRow, totals: Totals) -> list[Event]:
        if not self._environment.automatic(row):
            return []
        carried = SessionState.from_dict(row.state)
        scale = Scale(carried, totals, PRUNED, row.followed)
        usable = usable_estimate(self._environment, row, totals)
        if scale.estimate <= usable:
            if carried.relieved:
                carried.relieved = 0
                self._save(row, carried)
            return []
        if scale.tokens < carried.relieved:
            return []
        try:
            return self._relieved(row, totals, scale, usable)
        except Conflict as error:
            carried.relieved = int(scale.tokens * BACK_OFF)
            self._save(row, carried)
            return [ProblemReported(row.id, f"the emergency path could not help: {error}", failed=True)]

    def _relieved(self, row: SessionRow, totals: Totals, scale: Scale, usable: int) -> list[Event]:
        goal = min(int(usable * (1 - MARGIN)), scale.estimated(self._environment.limits(row).target_tokens))
        reason = f"{scale.tokens:,} tokens, {scale.shown(usable):,} are usable"
        done = self._overflow.within(row, totals, overflow=False, goal=goal, reason=reason)
        if sum(tokens for tokens, _ in totals[PRUNED].values()) > usable * (1 - MARGIN / 2):
            # Hardly any room was gained: the system prompt takes nearly all. Not for every message again.
            carried = SessionState.from_dict(row.state)
            carried.relieved = int(scale.shown(usable) * BACK_OFF)
            self._save(row, carried)
        self._histories.drop(row.key)
        return [done.event]

    def _save(self, row: SessionRow, carried: SessionState) -> None:
        row.state = carried.to_dict()
        self._store.sessions.update(row.key, state=row.state)


def _gain(made: SessionPlan) -> int:
    """The tokens that a plan gains, as shown."""
    return made.scale.part(made.plan.freed)

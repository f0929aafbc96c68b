"""Automatic pruning: changes made without a request, in the transaction of the append that makes them necessary.

Above the target, or above the usable tokens if those are fewer in a small window, a plan cuts to the aim: once
per crossing, and only if it frees enough. A provider's cache that is still of use is not broken while the window has
room for another turn: the prune waits until the cache expires or something else has changed the context before the
pruned place (X26). While a tool loop with thoughts runs, it waits for the user's next message. Protected messages stay
even if they exceed the aim or the target. If the context then still exceeds the usable tokens, the model would soon
refuse it, so the emergency path cuts it to a margin below that, and the next message does not trigger it again. If the
emergency path can free nothing, it reports this once and waits until the context has grown.
"""

from __future__ import annotations

import logging
import sys
import threading
from contextlib import suppress

from scoring.settings import STRATEGIES
from webapp.errors import Conflict, NotFound
from webapp.events import CacheExpired, Event, ProblemReported, SessionUpdated
from webapp.services.planning.cache_cost import cache_figures
from webapp.services.planning.planning import PlanInputs, Planning, SessionPlan
from webapp.services.pruning.cold_caches import ColdCaches
from webapp.services.pruning.overflow import Overflow
from webapp.services.pruning.plan_summaries import PlanSummaries, PreparedSummary
from webapp.services.pruning.prunes import Prunes
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.scale import Scale
from webapp.services.session.session import Session

log = logging.getLogger(__name__)
# After an attempt that gained too little, the context has to grow by this share before the next one.
BACK_OFF = 1.05
# An emergency ends at least this share below the usable tokens.
MARGIN = 0.1


class AutomaticPruning:
    """Prunes and relieves sessions automatically."""

    def __init__(
        self,
        environment: Environment,
        histories: Histories,
        planning: Planning,
        prunes: Prunes,
        summaries: PlanSummaries,
        overflow: Overflow,
        cold_caches: ColdCaches,
    ) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories
        self._planning, self._prunes, self._summaries, self._overflow = planning, prunes, summaries, overflow
        self._cold_caches = cold_caches
        environment.bus.subscribe(self._on_event)

    def after_append(self, session: Session) -> list[Event]:
        """Prune if the append being written crossed the target, and relieve a context above what is usable."""
        self._cold_caches.watch(session)
        session.is_between_calls = True
        return [*self._prune(session), *self._relieve(session)]

    def _on_event(self, event: Event) -> None:
        """Prune what waited for its cache to expire, so that the next call is sent pruned."""
        if not isinstance(event, CacheExpired):
            return
        with suppress(NotFound), self._environment.lock(event.session_id):
            with self._store.write(event.session_id):
                events = self._prune(Session.load(self._environment, event.session_id))
            if events:
                self._environment.bus.publish(*events, SessionUpdated(event.session_id))

    # -- above the target

    def _prune(self, session: Session) -> list[Event]:
        state = session.state
        if not (session.automatic or state.fired or state.backed_off):
            return []
        tokens, threshold = session.pruned.tokens, _threshold(session)
        if tokens <= threshold:
            if state.fired or state.backed_off:
                state.fired, state.backed_off = False, 0
                session.save()
            return []
        if not session.automatic or state.fired or tokens < state.backed_off or self._is_too_early(session):
            return []
        planned = self._plan(session, threshold)
        worth = planned.freed >= planned.limits.least_gain
        if worth and (self._breaks_the_cache(session, planned) or self._waits_for_a_model(session, planned)):
            return []
        still_above = planned.tokens_after > threshold
        state.fired, state.backed_off = worth and still_above, 0 if worth else int(tokens * BACK_OFF)
        if not worth:
            session.save()
            return []
        planned, prepared = self._prepared(session, planned)
        _, events = self._prunes.apply_in_transaction(session, planned, "automatic", prepared)
        self._histories.drop(session.key)
        return events

    def _is_too_early(self, session: Session) -> bool:
        """Return whether any prune would break a cache that is of use, and the window has room for another turn.

        A prune also waits for the end of a tool loop with thoughts.
        """
        if session.awaits_end_of_loop:
            return True
        return not session.state.changed_from and session.awaits_cold_cache(session.pruned.tokens)

    def _breaks_the_cache(self, session: Session, planned: SessionPlan) -> bool:
        """Return whether this prune would, although something after the pruned place has changed already."""
        waits = session.awaits_cold_cache(session.pruned.tokens)
        return waits and bool(cache_figures(planned).break_even_calls)

    def _prepared(self, session: Session, planned: SessionPlan) -> tuple[SessionPlan, PreparedSummary | None]:
        """Return the plan with its summary written; a failure there never reaches the caller of the append (C9)."""
        try:
            return planned, self._summaries.prepare(session, planned, ask=False)
        except Conflict as error:
            log.info("no summary for %s: %s", session.id, error)
        except Exception:
            log.exception("a summary failed")
        other = STRATEGIES[planned.plan.strategy].without_summary
        return self._planning.make(session, PlanInputs(max_tokens=planned.max_tokens, strategy=other)), None

    def _plan(self, session: Session, threshold: int) -> SessionPlan:
        """Return the plan for the aim, which is never above the size at which pruning starts."""
        most = threshold if threshold < session.limits.aim_tokens else None
        return self._planning.make(session, PlanInputs(max_tokens=most))

    def _waits_for_a_model(self, session: Session, planned: SessionPlan) -> bool:
        """Return whether a model writes the plan's summary; there is time for that while the context fits."""
        if planned.plan.summary is None or not self._summaries.has_model:
            return False
        return planned.scale.estimate <= session.usable_estimate

    def wants_a_model(self, session: Session) -> bool:
        """Return whether a model is to write a summary now, because the context is above its target."""
        summarises = STRATEGIES[session.settings.strategy].makes_summaries
        if not self._summaries.has_model or not summarises or not session.automatic:
            return False
        if self._is_too_early(session):
            return False
        tokens, state = session.pruned.tokens, session.state
        return tokens > _threshold(session) and not state.fired and tokens >= state.backed_off

    def summarise(self, session_id: str, cancelled: threading.Event | None) -> None:
        """Prune a session above its target by a summary that a model writes, or by the built-in one if that fails.

        Raises:
            Conflict: it was cancelled, or something other than new messages has changed meanwhile.
        """
        with self._environment.lock(session_id), self._store.read():
            session = Session.load(self._environment, session_id)
            if not self.wants_a_model(session):
                return
            planned = self._plan(session, _threshold(session))
        if planned.plan.removed or planned.plan.shortened:
            prepared = self._summaries.prepare(session, planned, cancelled=cancelled)
            self._prunes.apply_plan(planned, prepared, "automatic")

    # -- above what is usable

    def _relieve(self, session: Session) -> list[Event]:
        if not session.automatic:
            return []
        state, scale, usable = session.state, session.pruned.scale, session.usable_estimate
        if scale.estimate <= usable:
            if state.relieved:
                state.relieved = 0
                session.save()
            return []
        if scale.tokens < state.relieved:
            return []
        try:
            return self._relieved(session, scale, usable)
        except Conflict as error:
            state.relieved = int(scale.tokens * BACK_OFF)
            session.save()
            return [ProblemReported(session.id, f"the emergency path could not help: {error}", failed=True)]

    def _relieved(self, session: Session, scale: Scale, usable: int) -> list[Event]:
        goal = min(int(usable * (1 - MARGIN)), scale.estimated(session.limits.target_tokens))
        reason = f"{scale.tokens:,} tokens, {scale.shown(usable):,} are usable"
        done = self._overflow.within(session, overflow=False, goal=goal, reason=reason)
        if session.pruned.estimate > usable * (1 - MARGIN / 2):
            # Little was gained because the system prompt takes nearly everything: do not repeat it at each
            # message.
            session.state.relieved = int(scale.shown(usable) * BACK_OFF)
            session.save()
        self._histories.drop(session.key)
        return done.events


def _threshold(session: Session) -> int:
    """Return the size above which a context is pruned: its target, or the usable tokens if those are fewer.

    If nothing is usable, no context is pruned: a plan would take out everything and still not fit.
    """
    usable = session.usable_estimate
    if not usable:
        return sys.maxsize
    return min(session.limits.target_tokens, session.pruned.scale.shown(usable))

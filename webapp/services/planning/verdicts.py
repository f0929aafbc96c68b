"""Verdicts with their price: the verdict on one session, computed from the plan that its action would show
(X18).
"""

from __future__ import annotations

from dataclasses import replace

from scoring.planning import redundant_outputs
from scoring.verdict import Clearing, Price, SessionFigures, verdict_of
from webapp.services.planning.cache_cost import cache_figures
from webapp.services.planning.planning import Planning, SessionPlan
from webapp.services.session.answers import Verdict
from webapp.services.session.environment import Environment
from webapp.services.session.gauges import verdict_figures
from webapp.services.session.session import Session
from webapp.services.session.verdicts import verdict_answer


class Verdicts:
    """Judges one session with the prices of plans, which a list of sessions leaves out."""

    def __init__(self, environment: Environment, planning: Planning) -> None:
        self._environment, self._store, self._planning = environment, environment.store, planning

    def of(self, session_id: str) -> Verdict:
        """Return the verdict on a session; a plan is made if the verdict depends on one.

        Raises:
            NotFound: there is no such session.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            figures = verdict_figures(session)
            if verdict_of(figures).kind in ("above", "now") and figures.pruned > figures.target:
                figures = replace(figures, prune=_price(self._planning.make(session)))
            elif 0 < figures.tokens <= figures.target and figures.activity in ("live", "resting"):
                figures = replace(figures, clear=self._clearing(session, figures))
        return verdict_answer(verdict_of(figures), session.version)

    def _clearing(self, session: Session, figures: SessionFigures) -> Clearing | None:
        """Return the plan that clears only redundant outputs; None if it is not worth it."""
        settings = session.task_settings
        if not (settings.stage_duplicates or settings.stage_superseded):
            return None
        history = self._planning.history(session)
        found = redundant_outputs(history, settings)
        scale = session.pruned.scale
        if scale.part(found.tokens) < figures.least_gain:
            return None
        planned = self._planning.make(session, max_tokens=scale.shown(scale.estimate - found.tokens))
        if planned.plan.removed or not planned.plan.shortened:
            return None
        return Clearing(found.superseded, found.repeated, _price(planned), planned.max_tokens)


def _price(planned: SessionPlan) -> Price:
    cost = cache_figures(planned)
    return Price(cost.saved_per_call, cost.break_even_calls)

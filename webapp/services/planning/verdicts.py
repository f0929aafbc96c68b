"""Verdicts with their price: the verdict on one session, from the plan that its action would show (X18).

The price is cached, so that all lists and pages show the same verdict from then on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from scoring.planning import redundant_outputs
from scoring.verdict import Clearing, Price, Situation, price_needed
from webapp.events import SessionJudged
from webapp.services.planning.cache_cost import cache_figures
from webapp.services.planning.planning import PlanInputs, Planning, SessionPlan
from webapp.services.session.answers import Session as SessionAnswer
from webapp.services.session.answers import Verdict
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.session import Session
from webapp.services.session.session_worker import SessionWorker
from webapp.services.session.verdicts import remember_prices, situation_of, verdict_for

# The pause after a verdict in the background, as a multiple of the processor time that it took.
REST = 9
MOST_WAITING = 10_000


class Verdicts:
    """Judges one session with the prices of plans, which a list of sessions does not make."""

    def __init__(self, environment: Environment, histories: Histories, planning: Planning) -> None:
        self._environment, self._store = environment, environment.store
        self._histories, self._planning = histories, planning

    def of(self, session_id: str) -> Verdict:
        """Return the verdict on a session; a plan is made if the verdict depends on one.

        Raises:
            NotFound: there is no such session.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            situation = situation_of(session)
            if price_needed(situation) is None:
                return verdict_for(session, situation)
        with self._planning.reading(session_id) as session:
            situation = situation_of(session)
            listed = verdict_for(session, situation)
            match price_needed(situation):
                case "prune":
                    priced = replace(situation, prune=_price(self._planning.make(session, exactly=True)))
                case "clear":
                    priced = replace(situation, clear=self._clearing(session, situation))
                case None:
                    return listed
        remember_prices(session, priced)
        verdict = verdict_for(session, situation)
        if (verdict.text, verdict.action) != (listed.text, listed.action):
            self._environment.bus.publish(SessionJudged(session_id))
        return verdict

    def _clearing(self, session: Session, situation: Situation) -> Clearing | None:
        """Return the plan that clears only redundant outputs; None if it is not worth it."""
        settings = session.task_settings
        if not (settings.stage_duplicates or settings.stage_superseded):
            return None
        history = self._histories.of(session).history
        found = redundant_outputs(history, settings)
        scale = session.pruned.scale
        if scale.part(found.tokens) < situation.least_gain:
            return None
        inputs = PlanInputs(max_tokens=scale.shown(scale.estimate - found.tokens))
        planned = self._planning.make(session, inputs, exactly=True)
        if planned.plan.removed or not planned.plan.shortened:
            return None
        return Clearing(found.superseded, found.repeated, _price(planned), planned.max_tokens)


def _price(planned: SessionPlan) -> Price:
    cost = cache_figures(planned)
    over = planned.tokens_after - planned.max_tokens if planned.plan.over_budget is not None else 0
    return Price(cost.saved_per_call, cost.break_even_calls, max(0, over))


class VerdictRefresher:
    """Judges in the background, one at a time, the sessions of lists that were shown without a price.

    A list is answered at once, with the known prices; pages are notified of each verdict that changes.
    """

    def __init__(self, verdicts: Verdicts) -> None:
        self._worker = SessionWorker("judging", verdicts.of, rest=REST)

    def request(self, sessions: Iterable[SessionAnswer]) -> None:
        """Queue the sessions whose verdict lacks the price of a plan."""
        if self._worker.queued < MOST_WAITING:
            self._worker.put(*(one.id for one in sessions if not one.verdict.priced))

    def close(self) -> None:
        """Stop judging."""
        self._worker.close()

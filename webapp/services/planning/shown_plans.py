"""The plans that were shown, so that exactly the plan that somebody saw is applied, by any worker.

The plans of this process are kept themselves. Other workers get what a plan was made from and a digest of what it does;
they make it again, and refuse it if it would now be another.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import asdict

import orjson

from scoring.errors import InvalidSettings
from webapp.errors import Conflict, StalePlan
from webapp.services.planning.planning import PlanInputs, Planning, SessionPlan, settings_with
from webapp.services.session.environment import Environment
from webapp.services.session.session import Session

PLANS_KEPT = 64
# The time for which another worker can apply a plan that was shown.
SHARED_SECONDS = 3600
PLAN = "plan:"
SESSION_CHANGED = "the session has changed since this plan was made; look at a new one"
SETTINGS_CHANGED = "settings or limits have changed since this plan was made; look at a new one"


class ShownPlans:
    """The last plans that were shown, by their ids."""

    def __init__(self, environment: Environment, planning: Planning) -> None:
        self._environment, self._planning = environment, planning
        self._plans: OrderedDict[str, SessionPlan] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, planned: SessionPlan) -> None:
        """Keep a plan that was shown, so that exactly that plan can be applied, by any worker."""
        shared_values = self._environment.shared_values
        if shared_values is not None:
            kept = [planned.view.session, planned.version, asdict(planned.inputs), planned.digest()]
            shared_values.put(PLAN + planned.id, orjson.dumps(kept), SHARED_SECONDS)
        self._keep(planned)

    def _keep(self, planned: SessionPlan) -> SessionPlan:
        with self._lock:
            self._plans[planned.id] = planned
            while len(self._plans) > PLANS_KEPT:
                self._plans.popitem(last=False)
        return planned

    def recall(self, plan_id: str, session: Session) -> SessionPlan:
        """Return the plan that was shown under this id.

        Raises:
            StalePlan: the session, its settings or its limits have changed since, or the plan is no longer kept.
        """
        with self._lock:
            planned = self._plans.get(plan_id)
        planned = planned or self._made_again(plan_id, session)
        if planned is None or planned.view.session != session.key:
            raise StalePlan("this plan is no longer known; look at a new one")
        if planned.version != session.version:
            raise StalePlan(SESSION_CHANGED)
        if not _has_same_settings(planned, session):
            raise StalePlan(SETTINGS_CHANGED)
        return planned

    def _made_again(self, plan_id: str, session: Session) -> SessionPlan | None:
        """Return the plan that another worker showed, made of the same session and inputs; None if there is none.

        Raises:
            StalePlan: the session has changed since, or the plan would now be another.
        """
        shared_values = self._environment.shared_values
        kept = shared_values.get(PLAN + plan_id) if shared_values is not None else None
        if kept is None:
            return None
        key, version, inputs, digest = orjson.loads(kept)
        if key != session.key:
            return None
        if version != session.version:
            raise StalePlan(SESSION_CHANGED)
        try:
            planned = self._planning.make(session, PlanInputs(**inputs), exactly=True)
        except (InvalidSettings, Conflict) as error:
            raise StalePlan(f"this plan can no longer be made, because {error}; look at a new one") from error
        if planned.digest() != digest:
            raise StalePlan(SETTINGS_CHANGED)
        planned.id = plan_id
        return self._keep(planned)

    def recall_or_none(self, plan_id: str, session: Session) -> SessionPlan | None:
        """Return the plan that was shown under this id if it still applies to the session."""
        try:
            return self.recall(plan_id, session)
        except StalePlan:
            return None


def _has_same_settings(planned: SessionPlan, session: Session) -> bool:
    """Return whether settings and limits still equal those of the plan."""
    try:
        settings = settings_with(session, planned.inputs.tried)
    except InvalidSettings:  # what was tried conflicts with what was saved since
        return False
    return settings == planned.asked and session.limits_with(settings) == planned.limits

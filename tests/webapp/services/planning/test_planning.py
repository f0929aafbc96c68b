"""Plans from the current state of a session, with saved or tried settings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.webapp.building import call, conversation, entry, followed, result, said, usage, user
from webapp.app import App
from webapp.bodies import MessagesQuery, ModelRow, PlanBody, PruneBody, SessionChange
from webapp.errors import StalePlan
from webapp.services.planning.planning import PlanInputs, Planning
from webapp.services.planning.shown_plans import PLANS_KEPT
from webapp.services.session.session import Session


@pytest.fixture
def planning(app: App) -> Planning:
    """Planning over the application's store."""
    made: Planning = app.prunes._planning
    return made


class TestPlanning:
    """Plans are made once and kept for a while."""

    def test_makes_a_plan_once_per_version(self, app: App, planning: Planning) -> None:
        """The same request gets the same plan."""
        followed(app, *conversation(5))
        row = app.store.sessions.get("s")
        assert (
            planning.make(Session.of(app.environment, row)).plan
            is planning.make(Session.of(app.environment, row)).plan
        )

    def test_plans_for_the_shown_tokens(self, app: App, planning: Planning) -> None:
        """Tokens that the log lacks count, too, so the gauge after a prune is within the budget."""
        app.ingest.ensure("s", "claude-code", model="claude-sonnet-4-5")
        rows = [entry(n, message) for n, message in enumerate(conversation(12))]
        app.ingest.append_records("s", [*rows, entry(90, said("done"), usage=usage(30_000), call_key="k")])
        tokens = app.sessions.get("s").pruned.tokens
        applied = app.prunes.apply("s", PruneBody(max_tokens=tokens - 300))
        assert applied.session.pruned.tokens <= tokens - 300
        assert applied.session.agent.tokens == tokens

    def test_forgets_the_oldest_plans(self, app: App, planning: Planning) -> None:
        """A bounded number of plans is kept, and a forgotten one is stale."""
        followed(app, *conversation(2))
        first = app.prunes.plan("s", PlanBody()).plan_id
        for _ in range(PLANS_KEPT):
            app.prunes.plan("s", PlanBody())
        with pytest.raises(StalePlan, match="no longer known"):
            app.prunes.apply("s", PruneBody(plan_id=first))

    def test_rates_keywords_again_after_a_change_of_their_list(
        self, app: App, planning: Planning
    ) -> None:  # B16
        """Stored ratings belong to an earlier list, so trying and saving a list both rate again."""
        followed(
            app, user("the marmalade is ready"), said("ok"), call("c"), result("c", "plain"), user("end")
        )
        row = app.store.sessions.get("s")
        words = {"keywords": [{"name": "food", "share": 1.0, "words": ["marmalade"]}]}
        app.settings.put({"strategy": "score"})
        tried = planning.make(Session.of(app.environment, row), PlanInputs(tried=words))
        assert list(tried.plan.parts["keywords"]) == [1.0, 0.0, 0.0, 0.0, 0.0]
        assert planning.make(Session.of(app.environment, row)).plan.parts["keywords"][0] == 0.0
        app.settings.put(words)
        assert planning.make(Session.of(app.environment, row)).plan.parts["keywords"][0] == 1.0
        app.ingest.append_records("s", [entry(50, user("more marmalade"))])
        assert planning.make(Session.load(app.environment, "s")).plan.parts["keywords"][-1] == 1.0


# Each input of a plan besides the messages, with a change of it.
CHANGES: dict[str, Callable[[App], object]] = {
    "model": lambda app: app.sessions.patch("s", SessionChange(model="claude-sonnet-4-5")),
    "target": lambda app: app.sessions.patch("s", SessionChange(settings={"target_percent": 70})),
    "aim": lambda app: app.sessions.patch("s", SessionChange(settings={"aim_percent": 40})),
    "cap": lambda app: app.sessions.patch("s", SessionChange(settings={"cap_tokens": 9_000})),
    "strategy": lambda app: app.sessions.patch("s", SessionChange(settings={"strategy": "score"})),
    "weights": lambda app: app.sessions.patch("s", SessionChange(settings={"weights": {"recency": 1}})),
    "task type": lambda app: app.sessions.patch("s", SessionChange(settings={"task_type": "support"})),
    "settings of all": lambda app: app.settings.put({"fresh_tail": 2}),
    "limits of the model": lambda app: app.models.put("gpt-5", ModelRow(input_limit=30_000)),
}


class TestValidity:
    """A plan, which is valid for one state of log, context, settings and limits."""

    @pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
    def test_ends_with_a_change_of_an_input(self, app: App, change: Callable[[App], object]) -> None:  # X1
        """A stale plan cannot be applied, and lists show current fates instead."""
        followed(app, *conversation(12), model="gpt-5")
        plan = app.prunes.plan("s", PlanBody(max_tokens=900)).plan_id
        change(app)
        with pytest.raises(StalePlan, match="settings or limits have changed since this plan was made"):
            app.prunes.apply("s", PruneBody(plan_id=plan))
        assert app.messages.page("s", MessagesQuery(plan_id=plan)).plan_id is None

    def test_survives_other_changes(self, app: App) -> None:
        """A new title and an unchanged value leave the plan valid."""
        followed(app, *conversation(12), model="gpt-5")
        plan = app.prunes.plan("s", PlanBody(max_tokens=900)).plan_id
        app.sessions.patch("s", SessionChange(title="another", model="gpt-5", automatic=False))
        assert app.prunes.apply("s", PruneBody(plan_id=plan)).operation.n == 1

    def test_survives_saving_its_tried_settings(self, app: App) -> None:  # X4
        """Saving the tried settings does not make the plan stale."""
        followed(app, *conversation(12), model="gpt-5")
        tried = {"strategy": "score", "weights": {"recency": 60}}
        plan = app.prunes.plan("s", PlanBody(max_tokens=900, settings=tried)).plan_id
        app.sessions.patch("s", SessionChange(settings=tried))
        assert app.prunes.apply("s", PruneBody(plan_id=plan)).operation.n == 1

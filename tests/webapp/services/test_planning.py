"""Plans: from the session as it is, with whatever settings are tried."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.settings import Settings
from tests.webapp.building import call, conversation, entry, followed, result, said, usage, user
from webapp.errors import StalePlan
from webapp.services.planning import PLANS_KEPT, Planning


@pytest.fixture
def planning(app: Any) -> Planning:
    """Planning over the application's store."""
    made: Planning = app.prunes._planning
    return made


class TestPlanning:
    """Plans are made once and kept for a while."""

    def test_makes_a_plan_once_a_version(self, app: Any, planning: Planning) -> None:
        """The same question gets the same plan."""
        followed(app, *conversation(5))
        row = app.store.sessions.get("s")
        assert planning.make(row).plan is planning.make(row).plan

    def test_speaks_of_tokens_as_they_are_shown(self, app: Any, planning: Planning) -> None:
        """A budget includes what is not in the transcript, so that the gauge afterwards is within it."""
        app.ingest.ensure("s", "claude-code", model="claude-sonnet-4-5")
        rows = [entry(n, message) for n, message in enumerate(conversation(12))]
        app.ingest.append_records("s", [*rows, entry(90, said("done"), usage=usage(30_000), call_key="k")])
        tokens = app.sessions.get("s")["pruned"]["tokens"]
        applied = app.prunes.apply("s", {"max_tokens": tokens - 300})
        assert applied["session"]["pruned"]["tokens"] <= tokens - 300
        assert applied["session"]["agent"]["tokens"] == tokens

    def test_forgets_the_oldest_plans(self, app: Any, planning: Planning) -> None:
        """A bounded number is kept; a forgotten one is stale."""
        followed(app, *conversation(2))
        first = app.prunes.plan("s", {})["plan_id"]
        for _ in range(PLANS_KEPT):
            app.prunes.plan("s", {})
        with pytest.raises(StalePlan, match="no longer known"):
            app.prunes.apply("s", {"plan_id": first})

    def test_rates_keywords_anew_when_their_list_is_another(
        self, app: Any, planning: Planning
    ) -> None:  # B16
        """Stored ratings are for the list they were made with; what-if and saving both count anew."""
        followed(
            app, user("the marmalade is ready"), said("ok"), call("c"), result("c", "plain"), user("end")
        )
        row = app.store.sessions.get("s")
        words = {"keywords": [{"name": "food", "share": 1.0, "words": ["marmalade"]}]}
        app.settings.put({"strategy": "score"})
        tried = planning.make(row, settings=Settings.from_dict(words, base=app.desk.settings()))
        assert list(tried.plan.parts["keywords"]) == [1.0, 0.0, 0.0, 0.0, 0.0]
        assert planning.make(row).plan.parts["keywords"][0] == 0.0
        app.settings.put(words)
        assert planning.make(row).plan.parts["keywords"][0] == 1.0
        app.ingest.append_records("s", [entry(50, user("more marmalade"))])
        assert planning.make(app.store.sessions.get("s")).plan.parts["keywords"][-1] == 1.0

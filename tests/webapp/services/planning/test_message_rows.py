"""Message rows, with the explanation of each message."""

from __future__ import annotations

import pytest

from tests.webapp.building import call, conversation, followed, result, user
from webapp.app import App
from webapp.bodies import MessagesQuery, PlanBody, PruneBody
from webapp.services.planning.answers import Call
from webapp.services.planning.message_rows import contributions


class TestRow:
    """The row of a message in a list."""

    def test_shows_the_contribution_of_each_signal(self, app: App) -> None:  # X3
        """The contributions add up to the score."""
        followed(app, *conversation(10), user("end"))
        rows = app.messages.page("s", MessagesQuery(limit=50)).messages
        assert len(rows) == 41
        for row in rows:
            assert sum(row.contributions.values()) == pytest.approx(row.score, abs=0.05)
            assert set(row.signals) == set(row.contributions) >= {"recency", "role", "keywords", "length"}
            assert row.reason.split(":")[0] in ("kept", "protected", "dropped")

    def test_shows_the_unit(self, app: App) -> None:  # X3
        """A call and its results are one unit, named by the number of the call."""
        followed(app, user("go"), call("c"), result("c", "out"), user("end"))
        rows = {row.number: row for row in app.messages.page("s").messages}
        assert [(rows[n].unit, rows[n].unit_size) for n in (1, 2, 3)] == [(1, 1), (2, 2), (2, 2)]
        assert rows[2].calls == [Call(name="Bash", summary="ls")]
        assert rows[3].tool == "Bash"

    def test_explains_a_pruned_message_as_at_its_prune(self, app: App) -> None:  # X3
        """Score, contributions and reason are those of the prune, even after a change of settings."""
        followed(app, *conversation(10), user("end"))
        plan = app.prunes.plan("s", PlanBody(max_tokens=500))
        before = {row.id: row for row in plan.removed}
        app.prunes.apply("s", PruneBody(plan_id=plan.plan_id))
        app.settings.put({"weights": {"recency": 1, "role": 99}})
        out = app.search.archive("s").messages
        assert {row.id for row in out} == {*before} != set()
        for row in out:
            for name in ("score", "reason", "cause", "contributions", "unit", "unit_size"):
                assert getattr(row, name) == getattr(before[row.id], name)
            assert (row.fate, row.in_context, row.operation) == ("out", False, 1)

    def test_weights_each_signal(self) -> None:
        """A contribution is weight times rating."""
        assert contributions({"role": 0.5, "new": 1.0}, {"role": 30}) == {"role": 15.0, "new": 0.0}

"""The regions of the context before and after each operation, as the gauges showed them then."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.webapp.building import conversation, entry, followed, mid, result, said, usage, user
from webapp.agents.records import Compaction, Rewind
from webapp.app import App
from webapp.bodies import MessagesQuery, PlanBody, PruneBody
from webapp.services.session.answers import Gauge, Region
from webapp.store.operations import Facts

KEPT = tuple(f"id-{n}" for n in range(30, 41))
ACTS: dict[str, Callable[[App], object]] = {
    "prune": lambda app: app.prunes.apply("s", PruneBody(max_tokens=1_000)),
    "drop": lambda app: app.by_hand.drop("s", mid(app, "s", 3)),
    "pin": lambda app: app.by_hand.pin("s", mid(app, "s", 3)),
    "emergency": lambda app: app.overflow.relieve("s"),
    "summary": lambda app: app.summarising.summarise("s"),
    "compaction": lambda app: app.ingest.append_records(
        "s", [Compaction(None, "auto", None, "c", kept=KEPT)]
    ),
    "rewind": lambda app: app.ingest.append_records("s", [Rewind("id-6", "r", live=KEPT)]),
}


def gauge_of(app: App, act: str) -> Gauge:
    """Return the gauge of the context that an operation changes: the agent's own for an agent's operation."""
    session = app.sessions.get("s")
    agent = session.agent if act in ("compaction", "rewind") else None
    return agent or session.pruned


def shares(regions: list[Region] | None) -> dict[str, int]:
    """Return the tokens by region."""
    assert regions is not None
    return {region.name: region.tokens for region in regions}


class TestComparison:
    """The contexts before and after an operation, side by side."""

    @pytest.mark.parametrize("act", ACTS)
    def test_shows_the_gauges_of_both_moments(self, app: App, act: str) -> None:  # X3
        """For every kind of operation the regions add up to the tokens before and after."""
        followed(app, *conversation(10), user("end"))
        before = gauge_of(app, act)
        ACTS[act](app)
        after = gauge_of(app, act)
        done = app.operations.one("s", 1)
        assert shares(done.regions_before) == shares(before.regions)
        assert shares(done.regions_after) == shares(after.regions)
        assert (sum(shares(done.regions_before).values()), sum(shares(done.regions_after).values())) == (
            done.tokens_before,
            done.tokens_after,
        )

    def test_stays_after_an_undo(self, app: App) -> None:  # X2, X3
        """Both states are still known, and the one before is the one that the undo restored."""
        followed(app, *conversation(10), user("end"))
        app.prunes.apply("s", PruneBody(max_tokens=1_000))
        app.operations.undo("s")
        done = app.operations.one("s", 1)
        assert shares(done.regions_before) == shares(app.sessions.get("s").pruned.regions)
        assert shares(done.regions_after) != shares(done.regions_before)

    def test_equals_the_plan(self, app: App) -> None:  # X1
        """The regions after the operation are those of the applied plan."""
        followed(app, *conversation(10), user("end"))
        plan = app.prunes.plan("s", PlanBody(max_tokens=1_000))
        app.prunes.apply("s", PruneBody(plan_id=plan.plan_id))
        assert shares(app.operations.one("s", 1).regions_after) == shares(plan.regions_after)

    def test_has_rows_that_add_up(self, app: App) -> None:  # X3
        """Real usage is half of the estimate; all tokens of the operation and of the archive are those of the list."""
        followed(app, *conversation(10, 400), result("call-9", "line 8 of output " * 400), user("end"))
        estimate = app.sessions.get("s").pruned.tokens
        app.ingest.append_records("s", [entry(90, said("yes"), usage=usage(estimate // 2), call_key="k")])
        rows = app.messages.page("s", MessagesQuery(limit=100)).messages
        listed = {row.number: row.tokens for row in rows}
        plan = app.prunes.plan("s", PlanBody(max_tokens=estimate // 4))
        done = app.prunes.apply("s", PruneBody(plan_id=plan.plan_id)).operation
        items = app.operations.one("s", done.n).items
        assert {item.change for item in items} == {"out", "shortened"}
        assert [item.tokens for item in items] == [listed[item.number] for item in items]
        freed = sum(item.tokens - (item.tokens_after or 0) for item in items)
        assert freed == pytest.approx(done.freed, rel=0.01)
        archived = app.search.archive("s").messages
        assert [row.tokens for row in archived] == [listed[row.number] for row in archived] != []

    def test_has_no_reason_for_a_pin(self, app: App) -> None:  # X3
        """A pinned message has no reason for leaving the context."""
        followed(app, *conversation(2))
        app.by_hand.pin("s", mid(app, "s", 1))
        assert [item.reason for item in app.operations.one("s", 1).items] == [None]

    def test_is_unknown_for_an_operation_of_an_earlier_version(self, app: App) -> None:  # X3
        """Regions that were not stored are not guessed."""
        followed(app, *conversation(10), user("end"))
        app.by_hand.drop("s", mid(app, "s", 3))
        row = app.store.operations.get(1, 1)
        assert row is not None
        row.n, row.facts = 2, Facts(number=41, removed=2, shortened=0)
        with app.store.write():
            app.store.operations.add(1, row, [])
        done = app.operations.one("s", 2)
        assert (done.regions_before, done.regions_after) == (None, None)

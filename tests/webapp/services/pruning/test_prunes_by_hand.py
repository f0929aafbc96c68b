"""Messages chosen by a user to drop or shorten: previewed, applied and undone like any other prune."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.building import call, followed, mid, result, said, user
from webapp.app import App
from webapp.bodies import PlanBody, PruneBody
from webapp.errors import Conflict, Invalid

LONG = "".join(f"line {n} of the build\n" for n in range(400)) + "ERROR: it broke\n" + "more\n" * 400
PLENTY = 10**9


@pytest.fixture
def session(app: App) -> str:
    """A session with two long outputs, the second one in the fresh tail."""
    return followed(
        app, user("please build"), call("a"), result("a", LONG), said("again"), call("b"), result("b", LONG),
        said("done"), user("thanks"),
    )  # fmt: skip


class TestShortening:
    """Outputs that the user chose to shorten."""

    def test_is_planned_applied_and_undone(self, app: App, session: str) -> None:  # X1, X2, X7
        """Errors stay, protected messages are shortened, too, and undo restores every character."""
        whole = app.context.get(session, "openai").messages
        before = app.sessions.get(session).pruned.tokens
        chosen = [mid(app, session, 3), mid(app, session, 6)]
        plan = app.prunes.plan(session, PlanBody(max_tokens=PLENTY, shorten=chosen))
        assert [m.number for m in plan.shortened] == [3, 6]
        assert all("by you" in m.reason for m in plan.shortened)
        assert (plan.removed_count, plan.nothing_to_do) == (0, None)
        done = app.prunes.apply(session, PruneBody(plan_id=plan.plan_id))
        assert done.session.pruned.tokens == plan.after.tokens < before
        assert done.operation.shortened == 2
        outputs = [m["content"] for m in app.context.get(session, "openai").messages if m["role"] == "tool"]
        assert all("ERROR: it broke" in text and len(text) < len(LONG) / 2 for text in outputs)
        inside = app.operations.one(session, done.operation.n).items
        assert all("by you" in item.reason for item in inside)
        undone = app.operations.undo(session, done.operation.n)
        assert undone.message == "prune undone, 2 outputs in full again"
        assert app.context.get(session, "openai").messages == whole

    def test_names_who_chose_what_is_dropped(self, app: App, session: str) -> None:  # X3
        """The reason of a dropped message and of its group is the choice; the undo names messages and outputs."""
        drop, shorten = [mid(app, session, 1)], [mid(app, session, 3)]
        plan = app.prunes.plan(session, PlanBody(max_tokens=PLENTY, drop=drop, shorten=shorten))
        assert [m.reason for m in plan.removed] == ["dropped: chosen by you"]
        assert "chosen by you" in [group.label for group in plan.groups]
        done = app.prunes.apply(session, PruneBody(plan_id=plan.plan_id))
        undone = app.operations.undo(session, done.operation.n)
        assert undone.message == "prune undone, 1 message back, 1 output in full again"

    def test_can_be_combined_with_a_prune(self, app: App, session: str) -> None:
        """Chosen messages are either dropped by the plan or shortened."""
        everything = [mid(app, session, no) for no in range(1, 9)]
        plan = app.prunes.plan(
            session, PlanBody(max_tokens=2_200, shorten=everything, settings={"fresh_tail": 1})
        )
        assert plan.after.tokens <= 2_200
        gone = {m.id for m in plan.removed}
        assert gone.isdisjoint(m.id for m in plan.shortened)
        done = app.prunes.apply(session, PruneBody(plan_id=plan.plan_id))
        assert done.session.pruned.tokens <= 2_200

    def test_does_nothing_a_second_time(self, app: App, session: str) -> None:
        """The plan says that no chosen message can be shortened."""
        chosen = [mid(app, session, 3)]
        first = app.prunes.plan(session, PlanBody(max_tokens=PLENTY, shorten=chosen))
        app.prunes.apply(session, PruneBody(plan_id=first.plan_id))
        again = app.prunes.plan(session, PlanBody(max_tokens=PLENTY, shorten=chosen))
        assert again.shortened_count == 0
        assert again.nothing_to_do.startswith("none of the chosen messages")
        with pytest.raises(Conflict, match="none of the chosen messages"):
            app.prunes.apply(session, PruneBody(plan_id=again.plan_id))


class TestDropping:
    """Units that the user chose to drop."""

    def test_drops_only_the_chosen_unit(self, app: App, session: str) -> None:  # X1
        """A call is dropped with its result, and nothing else."""
        plan = app.prunes.plan(session, PlanBody(max_tokens=PLENTY, drop=[mid(app, session, 3)]))
        assert [m.number for m in plan.removed] == [2, 3]
        assert [g.cause for g in plan.groups] == ["dropped"]

    def test_of_a_pinned_unit_is_refused(self, app: App, session: str) -> None:  # B7, X5
        """The whole unit counts as pinned, and the error says to unpin it first."""
        app.by_hand.pin(session, mid(app, session, 2))
        wanted = PlanBody(max_tokens=PLENTY, drop=[mid(app, session, 3)])
        with pytest.raises(
            Conflict, match="message 3 is pinned, and never dropped: unpin it first"
        ) as refused:
            app.prunes.plan(session, wanted)
        assert [fault["field"] for fault in refused.value.details] == ["drop"]
        app.by_hand.unpin(session, mid(app, session, 2))
        assert [m.number for m in app.prunes.plan(session, wanted).removed] == [2, 3]

    def test_of_a_spared_message_is_ignored(self, app: App, session: str) -> None:
        """A pinned message that is also spared stays, without an error."""
        app.by_hand.pin(session, mid(app, session, 3))
        chosen = [mid(app, session, 3)]
        plan = app.prunes.plan(session, PlanBody(max_tokens=PLENTY, drop=chosen, spare=chosen))
        assert plan.removed_count == 0


class TestChosen:
    """Chosen messages, named by their ids."""

    @pytest.mark.parametrize("list_name", ["drop", "spare", "shorten"])
    def test_belong_to_the_session(self, app: App, session: str, list_name: str) -> None:
        """An id of another session is refused, even if a message has the same number."""
        other = mid(app, followed(app, user("please"), said("done"), session_id="other"), 2)
        wanted: dict[str, Any] = {list_name: [other]}
        with pytest.raises(Invalid, match=other) as caught:
            app.prunes.plan(session, PlanBody(**wanted))
        assert [one["field"] for one in caught.value.details] == [f"{list_name}.0"]

"""Changes of single messages by hand, each with its unit."""

from __future__ import annotations

import pytest

from tests.webapp.building import (
    call,
    context_numbers,
    conversation,
    entries,
    followed,
    heard,
    managed,
    mid,
    result,
    said,
    user,
    wire,
)
from webapp.app import App
from webapp.bodies import PlanBody, SessionChange
from webapp.errors import Conflict, NotFound
from webapp.events import ContextPruned, ContextRestored


class TestByHand:
    """Operations by hand, each on a whole unit."""

    def test_drop_removes_the_unit(self, app: App, session: str) -> None:  # X5
        """A call is never dropped without its result."""
        done = app.by_hand.drop(session, mid(app, session, 3))
        assert context_numbers(app, session) == [1, 4, 5, 6]
        assert (done.operation.kind, done.message) == ("drop", "2 messages dropped")
        assert app.sessions.get(session).agent.messages == 6

    def test_drop_removes_the_approval_of_a_call(self, app: App) -> None:  # P4
        """The provider refuses a call without its approval, so they are one unit."""
        call = {"name": "f", "arguments": "{}", "server_label": "s"}
        asked, done = (wire("user", text) | {"type": "message"} for text in ("go", "thanks"))
        session = managed(
            app,
            asked,
            {"type": "mcp_approval_request", "id": "a1", **call},
            {"type": "mcp_approval_response", "approval_request_id": "a1", "approve": True},
            {"type": "mcp_call", "id": "c1", "approval_request_id": "a1", "output": "x", **call},
            done,
            format="responses",
        )
        app.by_hand.drop(session, mid(app, session, 4))
        assert context_numbers(app, session) == [1, 5]

    def test_drop_is_announced_as_a_prune(self, app: App, session: str) -> None:  # B14, X5
        """The event has the ids and the freed tokens; its undo is reported as a restore."""
        events = heard(app)
        dropped = app.by_hand.drop(session, mid(app, session, 3)).operation
        [event] = [e for e in events if isinstance(e, ContextPruned | ContextRestored)]
        assert (event.n, event.reason, event.removed) == (dropped.n, "manual", 2)
        assert event.removed_ids == (mid(app, session, 2), mid(app, session, 3))
        assert event.original - event.final == dropped.freed > 0
        app.operations.undo(session)
        assert isinstance(events[-2], ContextRestored)

    def test_restore_returns_the_unit_to_its_place(self, app: App, session: str) -> None:  # X2
        """The unit returns in the order of the log."""
        app.by_hand.drop(session, mid(app, session, 3))
        events = heard(app)
        app.by_hand.restore(session, app.search.archive(session).messages[0].id)
        assert context_numbers(app, session) == [1, 2, 3, 4, 5, 6]
        [event] = [e for e in events if isinstance(e, ContextRestored)]
        assert len(event.message_ids) == 2
        assert list(app.verify()) == []

    def test_pin_protects_the_unit_from_a_prune(self, app: App) -> None:  # X5
        """After unpin the unit can be pruned again."""
        followed(app, *conversation(10), user("end"))
        app.by_hand.pin("s", mid(app, "s", 2))
        plan = app.prunes.plan("s", PlanBody(max_tokens=300))
        assert not {2, 3} & {m.number for m in plan.removed}
        app.by_hand.unpin("s", mid(app, "s", 3))
        plan = app.prunes.plan("s", PlanBody(max_tokens=300))
        assert {2, 3} <= {m.number for m in plan.removed}

    def test_drop_first_selects_the_unit_before_others(self, app: App) -> None:  # X5
        """The unit is dropped before those with lower scores, and a second request removes the mark."""
        followed(app, *conversation(10), user("end"))
        tokens = app.sessions.get("s").pruned.tokens
        app.sessions.patch("s", SessionChange(settings={"fresh_tail": 0}))
        app.by_hand.drop_first("s", mid(app, "s", 38))
        assert {m.number for m in app.prunes.plan("s", PlanBody(max_tokens=tokens - 1)).removed} == {
            38,
            39,
        }
        app.by_hand.drop_first("s", mid(app, "s", 39))
        assert not {38, 39} & {
            m.number for m in app.prunes.plan("s", PlanBody(max_tokens=tokens - 1)).removed
        }
        assert [one.kind for one in app.operations.list("s")] == ["unmark", "drop_first"]

    @pytest.mark.parametrize(
        ("first", "second", "why"),
        [
            ("drop", "drop", "out of the context"), ("", "restore", "in the context"), ("pin", "pin", "pinned already"),
            ("", "unpin", "not pinned"),
        ],
    )  # fmt: skip
    def test_without_an_effect_is_refused(
        self, app: App, session: str, first: str, second: str, why: str
    ) -> None:
        """The error gives the reason, and no operation is stored."""
        if first:
            getattr(app.by_hand, first)(session, mid(app, session, 2))
        count = len(app.operations.list(session))
        with pytest.raises(Conflict, match=why):
            getattr(app.by_hand, second)(session, mid(app, session, 2))
        assert len(app.operations.list(session)) == count

    def test_never_drops_protected_messages(self, app: App) -> None:  # B7
        """System messages and the last message are refused."""
        session = managed(app, wire("system", "rules"), wire("user", "hi"))
        for no, why in ((1, "system"), (2, "last")):
            with pytest.raises(Conflict, match=why):
                app.by_hand.drop(session, mid(app, session, no))

    def test_never_drops_a_pinned_unit(self, app: App, session: str) -> None:  # X5, B7
        """Later messages of a pinned unit stay, too; after unpin the unit can be dropped."""
        app.by_hand.pin(session, mid(app, session, 2))
        app.ingest.append_records("s", entries(result("c1", "more"), user("end"), start=40))
        for no in (3, 7):
            with pytest.raises(Conflict, match="unpin it first"):
                app.by_hand.drop(session, mid(app, session, no))
        app.by_hand.unpin(session, mid(app, session, 2))
        assert app.by_hand.drop(session, mid(app, session, 2)).message == "3 messages dropped"

    def test_never_drops_a_call_that_waits_for_its_result(self, app: App) -> None:  # P4
        """The result would arrive without its call; after it both can be dropped."""
        followed(app, user("go"), call("late"), user("more"), said("done"))
        with pytest.raises(Conflict, match="waits for the result of a call"):
            app.by_hand.drop("s", mid(app, "s", 2))
        app.ingest.append_records("s", entries(result("late", "out"), user("end"), start=40))
        assert app.by_hand.drop("s", mid(app, "s", 2)).message == "2 messages dropped"
        assert list(app.verify()) == []

    def test_of_an_unknown_message_is_refused(self, app: App, session: str) -> None:
        """An unknown session, message or operation is an error."""
        with pytest.raises(NotFound):
            app.by_hand.pin(session, "99-00")
        with pytest.raises(NotFound):
            app.operations.undo(session, 99)
        with pytest.raises(NotFound):
            app.operations.list("nobody")

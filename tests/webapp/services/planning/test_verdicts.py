"""The verdict on a session: without a plan in lists, and with the price of a plan on its page."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.waiting import until
from tests.webapp.building import heard, wire
from webapp.app import App
from webapp.bodies import PlanBody, PruneBody, SessionChange, SessionsQuery
from webapp.events import SessionJudged
from webapp.services.planning.planning import Planning

MODEL = "claude-sonnet-4-5"


def read(n: int, path: str, words: int) -> list[dict[str, Any]]:
    """Return the messages of a file read: the call and its output."""
    asked = {"name": "read_file", "arguments": json.dumps({"path": path})}
    text = f"{path} version {n} " + "some words of it " * words
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{n}", "type": "function", "function": asked}]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": text},
    ]  # fmt: skip


def reading(app: App, reads: int, words: int = 2_500, path: str = "docs/spec.md", **given: Any) -> str:
    """Create a session that reads `path` in each of `reads` turns; return its id."""
    session = app.new_sessions.create(**{"model": MODEL, **given}).id
    for n in range(reads):
        asked = [wire("user", f"question {n}"), *read(n, path, words)]
        app.ingest.append_messages(session, [*asked, wire("assistant", f"answer {n}")])
    return session


class TestVerdicts:
    """Verdicts, with the price of the plan that their action opens."""

    def test_name_superseded_reads_and_the_plan_that_clears_them(self, app: App) -> None:  # X18
        """The action's plan shortens the named outputs and pays back after the stated calls."""
        session = reading(app, 6)
        found = app.verdicts.of(session)
        assert (found.kind, found.safety) == ("clear", "Can be undone.")
        assert found.text.startswith("5 superseded reads of spec.md hold ")
        assert found.action is not None
        plan = app.prunes.plan(session, PlanBody(max_tokens=found.action.max_tokens))
        assert (plan.removed_count, plan.shortened_count) == (0, 5)
        assert f"pays back after {plan.cache.break_even_calls} call" in found.text

    def test_price_the_plan_that_the_panel_shows(self, app: App) -> None:  # X18
        """Both count shortened outputs from their texts, which the estimates of a plan miss by a percent."""
        session = app.new_sessions.create(model=MODEL, settings={"cap_tokens": 7_000}).id
        for n in range(8):
            code = "\n".join(
                f"line {n} {i}: def function_{n}_{i}(argument): return argument + {i}" for i in range(40)
            )
            call, output = read(n, f"src/file{n}.py", 0)
            output["content"] = code
            said = [wire("user", f"about function_{n}_3"), call, output, wire("assistant", f"function_{n}_7")]
            app.ingest.append_messages(session, said)
        plan, found = app.prunes.plan(session, PlanBody()), app.verdicts.of(session)
        assert plan.shortened_count > 0
        assert f"frees about {plan.freed / 1000:.1f}k tokens" in found.text

    def test_are_not_those_of_a_deleted_session_of_the_same_id(self, app: App) -> None:  # X18
        """A session that comes back with other messages is priced by its own plan."""
        session = reading(app, 6, id="a")
        app.verdicts.of(session)
        assert "spec.md" in app.sessions.get(session).verdict.text
        app.sessions.delete(session)
        reading(app, 6, id=session, path="docs/other.md")
        assert "spec.md" not in app.sessions.get(session).verdict.text

    def test_need_nothing_after_their_action(self, app: App) -> None:  # X18
        """After the action the verdict advises nothing."""
        session = reading(app, 6)
        action = app.verdicts.of(session).action
        assert action is not None
        app.prunes.apply(session, PruneBody(max_tokens=action.max_tokens))
        assert app.verdicts.of(session).kind == "fine"

    def test_compare_the_price_with_the_calls_left(self, app: App) -> None:  # X18
        """Close to the target too few calls are left to pay back."""
        session = reading(app, 6)
        tokens = app.sessions.get(session).pruned.tokens
        app.sessions.patch(session, SessionChange(settings={"cap_tokens": tokens + 500}))
        assert app.verdicts.of(session).kind == "fine"

    def test_advise_a_prune_above_the_target(self, app: App) -> None:  # X18
        """The list has no price before a plan is made; the session's own verdict has one."""
        session = reading(app, 4, settings={"cap_tokens": 20_000, "stage_superseded": False})
        listed, own = app.sessions.get(session).verdict, app.verdicts.of(session)
        assert listed.kind == own.kind
        assert (listed.priced, own.priced) == (False, True)
        assert own.action is not None
        assert (own.action.kind, own.action.max_tokens) == ("prune", None)
        assert "pays back" in own.text
        assert "pays back" not in listed.text

    def test_promise_no_more_than_the_plan_reaches(self, app: App) -> None:  # B7, X18
        """The last message is always kept and takes more than the aim."""
        session = app.new_sessions.create(model=MODEL, settings={"cap_tokens": 20_000}).id
        texts = [("user", "first " * 9_000), ("assistant", "yes"), ("user", "last " * 15_000)]
        app.ingest.append_messages(session, [wire(role, text) for role, text in texts])
        plan, found = app.prunes.plan(session, PlanBody()), app.verdicts.of(session)
        assert plan.over_budget is not None
        assert plan.after.tokens > plan.max_tokens
        assert f"pruning to {plan.after.utilization:.0f} % frees" in found.text

    def test_of_a_list_need_no_plan(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:  # X18
        """Lists judge sessions from their rows."""
        reading(app, 4)
        monkeypatch.setattr(Planning, "make", None)
        (listed,) = app.sessions.list(SessionsQuery(sort="verdict"))
        assert listed.verdict.kind == "fine"

    def test_order_the_list(self, app: App) -> None:  # X18
        """Sessions that need an action come first, before newer ones."""
        full = reading(app, 4, settings={"cap_tokens": 5_000})
        calm, empty = reading(app, 1), app.new_sessions.create(model=MODEL).id
        assert [one.id for one in app.sessions.list(SessionsQuery(sort="verdict"))] == [full, calm, empty]
        assert app.sessions.list()[0].id != full


class TestPrices:
    """Prices, stored so that lists and the session page agree."""

    def test_appear_in_later_lists(self, app: App) -> None:  # X18
        """The row has the verdict of the session page and its place in the order."""
        session, calm = reading(app, 6), reading(app, 1)
        own = app.verdicts.of(session)
        rows = app.sessions.list(SessionsQuery(sort="verdict"))
        assert own.kind == "clear"
        assert (rows[0].id, rows[0].verdict) == (session, own)
        assert calm in {row.id for row in rows[1:]}

    def test_stay_while_the_session_grows(self, app: App) -> None:  # X18
        """The verdict does not flicker with each message; it is marked as not priced again."""
        session = reading(app, 6)
        own = app.verdicts.of(session)
        app.ingest.append_messages(session, [wire("user", "go on")])
        listed = app.sessions.get(session).verdict
        assert (listed.kind, listed.text, listed.priced) == ("clear", own.text, False)
        assert app.verdicts.of(session).priced

    @pytest.mark.parametrize("act", ["prune", "undo", "settings"])
    def test_end_with_an_operation_or_other_settings(self, app: App, act: str) -> None:  # X18
        """A price for an earlier context is not shown."""
        session = reading(app, 6)
        action = app.verdicts.of(session).action
        assert action is not None
        if act == "settings":
            app.sessions.patch(session, SessionChange(settings={"stage_superseded": False}))
        else:
            app.prunes.apply(session, PruneBody(max_tokens=action.max_tokens))
        if act == "undo":
            app.verdicts.of(session)
            app.operations.undo(session)
        listed = app.sessions.get(session).verdict
        assert (listed.kind, listed.priced) == ("fine", False)
        assert app.verdicts.of(session).kind == ("clear" if act == "undo" else "fine")

    def test_cause_an_event_only_if_the_verdict_changes(self, app: App) -> None:  # X18
        """VerdictRefresher the same session again sends no event."""
        calm, session = reading(app, 1), reading(app, 6)
        events = heard(app)
        for one in (calm, session, session):
            app.verdicts.of(one)
        assert events == [SessionJudged(session)]


class TestJudging:
    """VerdictRefresher in the background: pricing the verdicts of a list."""

    def test_prices_every_listed_session(self, app: App) -> None:  # X18
        """Each session listed without a price is judged."""
        for _ in range(3):
            reading(app, 6)
        empty = app.new_sessions.create(model=MODEL).id
        app.verdict_refresher.request(app.sessions.list())
        until(lambda: all(one.verdict.priced for one in app.sessions.list()))
        assert {one.verdict.kind for one in app.sessions.list() if one.id != empty} == {"clear"}

    def test_skips_a_deleted_session(self, app: App) -> None:  # X18
        """The next session is still judged."""
        gone, session = reading(app, 1), reading(app, 6)
        rows = [app.sessions.get(gone), app.sessions.get(session)]
        app.sessions.delete(gone)
        app.verdict_refresher.request(rows)
        until(lambda: app.sessions.get(session).verdict.kind == "clear")

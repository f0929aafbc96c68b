"""Outputs that a stage replaces before anything is dropped: previewed, applied, sent, exported and taken back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.webapp.building import call, followed, mid, result, said, user
from webapp.app import App
from webapp.services.planning.answers import PlanGroup
from webapp.services.planning.requests import PlanRequest, PruneRequest

LOG = "".join(f"line {n} of the build\n" for n in range(300))
FILE = "".join(f"{n:>4} def function_{n}(): ...\n" for n in range(200))


def read(call_id: str, path: str) -> Any:
    """A call that reads a file."""
    return call(call_id, "Read", json.dumps({"file_path": path}))


@pytest.fixture
def session(app: App) -> str:
    """The same output twice, and a file that is read twice, with another text."""
    return followed(
        app, user("please build"), user("with all warnings"), call("a"), result("a", LOG),
        read("b", "/repo/config.py"), result("b", FILE), call("c"), result("c", LOG),
        read("d", "/repo/config.py"), result("d", FILE + "# the end\n"), said("done"), user("thanks"),
    )  # fmt: skip


def slightly_less(app: App, session: str) -> int:
    """Return an aim just below the current size."""
    return int(app.sessions.get(session).pruned.tokens) - 30


class TestStages:
    """Duplicates and superseded reads."""

    def test_stand_among_the_groups_of_the_plan(self, app: App, session: str) -> None:  # X1, X3, X7
        """Each group has its cause and freed tokens; the reason names the other message by its number."""
        plan = app.prunes.plan(session, PlanRequest(max_tokens=slightly_less(app, session)))
        [group] = plan.groups
        assert group == PlanGroup(
            cause="duplicate", label="the same output again", fate="shortened", messages=1, tokens=plan.freed
        )
        [row] = plan.shortened
        assert (row.number, row.cause, row.fate) == (4, "duplicate", "shortened")
        assert row.reason == "cleared: message 8 holds the same output"
        assert plan.removed == []

    def test_are_applied_sent_and_taken_back(self, app: App, session: str) -> None:  # X1, X2, X7
        """Calls and results stay paired, the newest copy whole; undo gives every character back."""
        whole = app.context.get(session, "openai").messages
        half = app.sessions.get(session).pruned.tokens // 2 + 250
        plan = app.prunes.plan(session, PlanRequest(max_tokens=half))
        assert {m.cause for m in plan.shortened} >= {"duplicate", "superseded"}
        done = app.prunes.apply(session, PruneRequest(plan_id=plan.plan_id))
        assert done.session.pruned.tokens <= half
        items = {i.number: i.reason for i in app.operations.one(session, done.operation.n).items}
        assert items[6].startswith("cleared: config.py ")
        sent = app.context.get(session, "anthropic").messages
        text = json.dumps(sent)
        assert "[output of Bash cleared: the same came again later]" in text
        assert "[output of Read cleared: the file was read again later]" in text
        assert list(app.verify()) == []
        app.operations.undo(session, done.operation.n)
        assert app.context.get(session, "openai").messages == whole

    @pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
    def test_are_exported_as_they_stand(self, app: App, session: str, name: str) -> None:  # X7
        """A list to go on from has the line in place of the older output, and the newer one whole."""
        app.prunes.apply(session, PruneRequest(max_tokens=slightly_less(app, session)))
        _, _, chunks = app.exporting.export(session, name)
        text = b"".join(chunks).decode()
        assert (
            text.count("Bash cleared: the same came again later") == text.count("line 299 of the build") == 1
        )
        assert text.index("Bash cleared") < text.index("line 299 of the build")

    def test_rely_on_nothing_that_stands_cleared_already(self, app: App, session: str) -> None:  # X7
        """A second plan takes no cleared output for a copy, nor clears it again."""
        app.prunes.apply(session, PruneRequest(max_tokens=slightly_less(app, session)))
        again = app.prunes.plan(session, PlanRequest(max_tokens=slightly_less(app, session)))
        assert [(m.number, m.cause) for m in again.shortened] == [(6, "superseded")]

    def test_name_messages_as_the_list_does(self, app: App, session: str) -> None:  # X3
        """The numbers are right even if some messages are out of the context."""
        app.operations.drop(session, mid(app, session, 2))
        plan = app.prunes.plan(session, PlanRequest(max_tokens=slightly_less(app, session)))
        assert plan.shortened[0].reason == "cleared: message 8 holds the same output"

    def test_follow_what_is_spared_and_dropped(self, app: App, session: str) -> None:  # X5, X7
        """A spared output stays; a copy that is dropped does not make the other one redundant."""
        aim = slightly_less(app, session)
        spared = app.prunes.plan(session, PlanRequest(max_tokens=aim, spare=[mid(app, session, 4)]))
        assert [m.number for m in spared.shortened] == [6]
        dropped = app.prunes.plan(session, PlanRequest(max_tokens=aim, drop=[mid(app, session, 8)]))
        assert 4 not in [m.number for m in dropped.shortened]

    def test_are_settings_of_the_session(self, app: App, session: str) -> None:  # X7, X4
        """With stages off, the strategy chooses alone; trying them in a what-if changes no setting."""
        aim = slightly_less(app, session)
        off = {"stage_duplicates": False, "stage_superseded": False, "strategy": "newest_first"}
        assert app.prunes.plan(session, PlanRequest(max_tokens=aim, settings=off)).shortened == []
        old = {**off, "stage_outputs": "shorten", "tool_outputs_keep_tokens": 0, "tool_outputs_keep_turns": 0}
        plan = app.prunes.plan(session, PlanRequest(max_tokens=aim, settings=old))
        assert [g.cause for g in plan.groups] == ["old_shortened"]
        assert plan.shortened[0].number == 4
        assert app.sessions.get(session).operations == 0

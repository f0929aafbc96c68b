"""Stages: outputs cleared before anything is dropped; planned, applied, exported and undone."""

from __future__ import annotations

import json

import pytest

from scoring.messages import Message
from tests.webapp.building import call, followed, mid, result, said, user
from webapp.app import App
from webapp.services.planning.answers import PlanGroup
from webapp.services.planning.requests import PlanRequest, PruneRequest

LOG = "".join(f"line {n} of the build\n" for n in range(300))
FILE = "".join(f"{n:>4} def function_{n}(): ...\n" for n in range(200))


def read(call_id: str, path: str) -> Message:
    """Return a call that reads a file."""
    return call(call_id, "Read", json.dumps({"file_path": path}))


@pytest.fixture
def session(app: App) -> str:
    """A session with one output twice, and a file that changed between two reads."""
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

    def test_are_groups_of_the_plan(self, app: App, session: str) -> None:  # X1, X3, X7
        """A group has its cause and freed tokens, and the reason names the other message."""
        plan = app.prunes.plan(session, PlanRequest(max_tokens=slightly_less(app, session)))
        [group] = plan.groups
        assert group == PlanGroup(
            cause="duplicate", label="the same output again", fate="shortened", messages=1, tokens=plan.freed
        )
        [row] = plan.shortened
        assert (row.number, row.cause, row.fate) == (4, "duplicate", "shortened")
        assert row.reason == "cleared: message 8 holds the same output"
        assert plan.removed == []

    def test_are_applied_and_undone(self, app: App, session: str) -> None:  # X1, X2, X7
        """Cleared outputs have a line instead, and undo restores every character."""
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
    def test_are_exported_with_their_replacements(self, app: App, session: str, name: str) -> None:  # X7
        """An export has a line in place of the older output, and the newer one in full."""
        app.prunes.apply(session, PruneRequest(max_tokens=slightly_less(app, session)))
        _, _, chunks = app.exporting.export(session, name)
        text = b"".join(chunks).decode()
        assert (
            text.count("Bash cleared: the same came again later") == text.count("line 299 of the build") == 1
        )
        assert text.index("Bash cleared") < text.index("line 299 of the build")

    def test_ignore_outputs_that_are_already_cleared(self, app: App, session: str) -> None:  # X7
        """A second plan neither clears a cleared output again nor takes it for a copy."""
        app.prunes.apply(session, PruneRequest(max_tokens=slightly_less(app, session)))
        again = app.prunes.plan(session, PlanRequest(max_tokens=slightly_less(app, session)))
        assert [(m.number, m.cause) for m in again.shortened] == [(6, "superseded")]

    def test_name_messages_by_their_numbers(self, app: App, session: str) -> None:  # X3
        """The numbers are those of the list, even if some messages are out of the context."""
        app.operations.drop(session, mid(app, session, 2))
        plan = app.prunes.plan(session, PlanRequest(max_tokens=slightly_less(app, session)))
        assert plan.shortened[0].reason == "cleared: message 8 holds the same output"

    def test_respect_spared_and_dropped_messages(self, app: App, session: str) -> None:  # X5, X7
        """A spared output stays, and a dropped copy does not make the other one redundant."""
        aim = slightly_less(app, session)
        spared = app.prunes.plan(session, PlanRequest(max_tokens=aim, spare=[mid(app, session, 4)]))
        assert [m.number for m in spared.shortened] == [6]
        dropped = app.prunes.plan(session, PlanRequest(max_tokens=aim, drop=[mid(app, session, 8)]))
        assert 4 not in [m.number for m in dropped.shortened]

    def test_can_be_switched_off(self, app: App, session: str) -> None:  # X7, X4
        """Each stage is a setting, which a plan can also try."""
        aim = slightly_less(app, session)
        off = {"stage_duplicates": False, "stage_superseded": False, "strategy": "newest_first"}
        assert app.prunes.plan(session, PlanRequest(max_tokens=aim, settings=off)).shortened == []
        old = {**off, "stage_outputs": "shorten", "tool_outputs_keep_tokens": 0, "tool_outputs_keep_turns": 0}
        plan = app.prunes.plan(session, PlanRequest(max_tokens=aim, settings=old))
        assert [g.cause for g in plan.groups] == ["old_shortened"]
        assert plan.shortened[0].number == 4
        assert app.sessions.get(session).operations == 0

"""Stages: outputs cleared before anything is dropped; planned, applied, exported and undone."""

from __future__ import annotations

import json
import re

import pytest

from scoring.messages import Message
from tests.webapp.building import call, entry, followed, mid, result, said, user
from webapp.app import App
from webapp.bodies import ModelRow, PlanBody, PruneBody, SessionChange
from webapp.services.planning.answers import PlanGroup

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
        plan = app.prunes.plan(session, PlanBody(max_tokens=slightly_less(app, session)))
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
        half = app.sessions.get(session).pruned.tokens // 2 + 300
        plan = app.prunes.plan(session, PlanBody(max_tokens=half))
        assert {m.cause for m in plan.shortened} >= {"duplicate", "superseded"}
        done = app.prunes.apply(session, PruneBody(plan_id=plan.plan_id))
        assert done.session.pruned.tokens <= half
        items = {i.number: i.reason for i in app.operations.one(session, done.operation.n).items}
        assert items[6].startswith("cleared: config.py ")
        sent = app.context.get(session, "anthropic").messages
        text = json.dumps(sent)
        assert "[output of Bash from 2026-01-31 12:00 cleared: the same came again later]" in text
        assert "[output of Read from 2026-01-31 12:00 cleared: the file was read again later]" in text
        assert list(app.verify()) == []
        app.operations.undo(session, done.operation.n)
        assert app.context.get(session, "openai").messages == whole

    @pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
    def test_are_exported_with_their_replacements(self, app: App, session: str, name: str) -> None:  # X7
        """An export has a line in place of the older output, and the newer one in full."""
        app.prunes.apply(session, PruneBody(max_tokens=slightly_less(app, session)))
        _, _, chunks = app.exporting.export(session, name)
        text = b"".join(chunks).decode()
        assert text.count("cleared: the same came again later") == text.count("line 299 of the build") == 1
        assert text.index("cleared: the same") < text.index("line 299 of the build")

    def test_ignore_outputs_that_are_already_cleared(self, app: App, session: str) -> None:  # X7
        """A second plan neither clears a cleared output again nor takes it for a copy."""
        app.prunes.apply(session, PruneBody(max_tokens=slightly_less(app, session)))
        again = app.prunes.plan(session, PlanBody(max_tokens=slightly_less(app, session)))
        assert [(m.number, m.cause) for m in again.shortened] == [(6, "superseded")]

    def test_name_messages_by_their_numbers(self, app: App, session: str) -> None:  # X3
        """The numbers are those of the list, even if some messages are out of the context."""
        app.by_hand.drop(session, mid(app, session, 2))
        plan = app.prunes.plan(session, PlanBody(max_tokens=slightly_less(app, session)))
        assert plan.shortened[0].reason == "cleared: message 8 holds the same output"

    def test_respect_spared_and_dropped_messages(self, app: App, session: str) -> None:  # X5, X7
        """A spared output stays, and a dropped copy does not make the other one redundant."""
        aim = slightly_less(app, session)
        spared = app.prunes.plan(session, PlanBody(max_tokens=aim, spare=[mid(app, session, 4)]))
        assert [m.number for m in spared.shortened] == [6]
        dropped = app.prunes.plan(session, PlanBody(max_tokens=aim, drop=[mid(app, session, 8)]))
        assert 4 not in [m.number for m in dropped.shortened]

    def test_can_be_switched_off(self, app: App, session: str) -> None:  # X7, X4
        """Each stage is a setting, which a plan can also try."""
        aim = slightly_less(app, session)
        off = {"stage_duplicates": False, "stage_superseded": False, "strategy": "newest_first"}
        assert app.prunes.plan(session, PlanBody(max_tokens=aim, settings=off)).shortened == []
        old = {**off, "stage_outputs": "shorten", "tool_outputs_keep_tokens": 0, "tool_outputs_keep_turns": 0}
        plan = app.prunes.plan(session, PlanBody(max_tokens=aim, settings=old))
        assert [g.cause for g in plan.groups] == ["old_shortened"]
        assert plan.shortened[0].number == 4
        assert app.sessions.get(session).operations == 0


class TestTheTombstone:
    """The line in place of a cleared output."""

    @pytest.fixture
    def pruned(self, app: App) -> str:
        """A session with old outputs, whose tool only the call names, cleared by *tool outputs first*."""
        turns = [m for n in range(6) for m in (user(f"go {n}"), call(f"c{n}"), result(f"c{n}", f"{n} {LOG}"))]
        session = followed(app, *turns, user("thanks"))
        rules = {"tool_outputs_keep_tokens": 3_000, "tool_outputs_minimum_gain": 1_000}
        app.sessions.patch(session, SessionChange(settings={"strategy": "tool_outputs_first", **rules}))
        return session

    def prune(self, app: App, session: str) -> int:
        """Clear the old outputs as planned; return the tokens that the plan promised."""
        plan = app.prunes.plan(session, PlanBody(max_tokens=slightly_less(app, session)))
        assert {one.cause for one in plan.shortened} == {"cleared"}
        app.prunes.apply(session, PruneBody(plan_id=plan.plan_id))
        return plan.after.tokens

    def outputs(self, app: App, session: str) -> list[str]:
        """Return the outputs as they are sent."""
        sent = app.context.get(session, "openai").messages
        return [one["content"] for one in sent if one["role"] == "tool"]

    def test_names_the_tool_and_the_time(self, app: App, pruned: str) -> None:  # C3, X1
        """The tool is that of the call, the time that of the output; the plan counts exactly this line."""
        promised = self.prune(app, pruned)
        line = r"\[output of Bash from 2026-01-31 12:00 cleared; it took [\d,]+ tokens\]"
        assert re.fullmatch(line, self.outputs(app, pruned)[0])
        assert app.sessions.get(pruned).pruned.tokens == app.context.get(pruned).tokens == promised
        assert list(app.verify()) == []

    def test_stays_the_same_in_every_later_list(self, app: App, pruned: str) -> None:  # C3, X9
        """The provider's cache of what was sent before stays valid."""
        self.prune(app, pruned)
        before = app.context.get(pruned, "anthropic").messages
        app.environment.clock = lambda: 4_000_000_000_000
        app.ingest.append_records(pruned, [entry(9_999, said("you are welcome"))])
        assert app.context.get(pruned, "anthropic").messages[: len(before)] == before

    def test_is_the_same_after_an_undo_and_another_prune(self, app: App, pruned: str) -> None:  # C3, X2
        """It names the time of the output, not that of the prune."""
        whole = self.outputs(app, pruned)
        self.prune(app, pruned)
        once = self.outputs(app, pruned)
        app.operations.undo(pruned)
        assert self.outputs(app, pruned) == whole
        app.environment.clock = lambda: 4_000_000_000_000
        self.prune(app, pruned)
        assert self.outputs(app, pruned) == once

    def test_is_in_an_export_and_its_import(self, app: App, pruned: str) -> None:  # C3, S1
        """The imported session sends the same list."""
        self.prune(app, pruned)
        before = app.context.get(pruned).messages
        exported = b"".join(app.exporting.export(pruned, "jsonl")[2])
        app.sessions.delete(pruned)
        app.importing.import_file("s.jsonl", exported)
        assert app.context.get(pruned).messages == before

    def test_names_both_in_a_list_that_is_fitted_to_its_window(self, app: App, pruned: str) -> None:  # C3, C5
        """Outputs that are cleared for one call alone read as those of a prune do."""
        self.prune(app, pruned)
        [once, *_] = self.outputs(app, pruned)
        app.operations.undo(pruned)
        app.models.put("small", ModelRow(window=8_192))
        app.sessions.patch(
            pruned, SessionChange(model="small", settings={"fresh_tail": 2, "min_recent_messages": 2})
        )
        assert once in self.outputs(app, pruned)

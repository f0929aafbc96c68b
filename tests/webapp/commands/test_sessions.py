"""`coppice sessions` and `coppice context` show the same numbers as the page."""

from __future__ import annotations

import io
import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

from tests.webapp.commands.running import Run
from webapp.bodies import SessionChange
from webapp.commands.sessions import bar, table_of
from webapp.config import Config
from webapp.wiring import build


@pytest.fixture
def fed(run: Run, tmp_path: Path) -> Run:
    """A store with one session."""
    file = tmp_path / "a talk.json"
    file.write_text(json.dumps([{"role": "user", "content": "hello [bold]there[/bold] " * 200}]))
    run("import", file, "--model", "gpt-5")
    return run


class TestSessions:
    """The table of sessions."""

    def test_has_a_row_per_session(self, fed: Run) -> None:
        """A row has id, source, model, tokens, their limit and utilization in full."""
        done = fed("sessions")
        [one] = json.loads(fed("sessions", "--json").out)
        [row] = [line for line in done.out.splitlines() if one["id"] in line]
        for cell in ("gpt-5", f"{one['pruned']['tokens']:,}", f"{one['limit']:,}", "import"):
            assert cell in row
        assert one["limit"] < one["window"]

    @pytest.mark.parametrize("width", [40, 80, 120])
    def test_has_every_number_in_a_narrow_terminal(self, db: Path, width: int) -> None:
        """Names are cut in a line of the width of the terminal; numbers make it longer if they have to."""
        with closing(build(Config.load(db=db, follow=False))) as app:
            for n in range(3):
                app.new_sessions.create(
                    id=f"a-long-id-of-a-session-{n}", title="a long title " * 8, model="gpt-5"
                )
            found = app.sessions.list()
        file = io.StringIO()
        table, least = table_of(found)
        console = Console(width=max(width, least), file=file, soft_wrap=True)
        console.print(table)
        head, *rows = file.getvalue().splitlines()
        assert len(rows) == 3
        for row in rows:
            assert f"{found[0].limit:,}" in row
            assert "0.0 %" in row
            assert len(row) <= max(width, least)
        assert head.split()[-5:] == ["tokens", "limit", "utilization", "last", "activity"]

    def test_names_the_next_step_without_sessions(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The text names the commands."""
        monkeypatch.delenv("COPPICE_DB")
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
        assert "coppice import" in run("sessions").out

    def test_needs_an_existing_store(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Reading a store that is named, by an option or COPPICE_DB, does not create it."""
        missing = tmp_path / "no" / "where.db"
        monkeypatch.setenv("COPPICE_DB", str(missing))
        for arguments in (("sessions",), ("context", "x"), ("export", "x"), ("suggest-weights",)):
            for option in (("--db", missing), ()):
                done = run(*arguments, *option)
                assert (done.code, "there is no database at" in done.err) == (2, True)
        assert not (tmp_path / "no").exists()


class TestContext:
    """The status view."""

    def test_shows_the_regions(self, fed: Run) -> None:  # S7
        """The view has the regions, a bar and the status line."""
        [one] = json.loads(fed("sessions", "--json").out)
        done = fed("context", one["id"][:8])
        assert done.code == 0
        assert re.search(r"user +~?[\d,]+", done.out)
        assert re.search(
            r"tokens: [\d,]+ msgs \+ [\d,]+ (tools|not in the transcript) \| context: [\d,]+ / [\d,]+ \([\d.]+ %\)",
            done.out,
        )

    def test_agrees_with_its_numbers(self, run: Run, db: Path) -> None:  # S7
        """One tool is no plural, and nothing is exactly nothing."""
        app = build(Config(db=db, tokenizer=False, follow=False, env={}))
        tool = {"name": "read", "input_schema": {"type": "object"}}
        app.new_sessions.create(id="one", model="gpt-5", tools=[tool])
        app.new_sessions.create(id="none", model="gpt-5")
        app.close()
        assert re.search(r"tools +\d+ tokens of 1 tool;", run("context", "one").out)
        assert " 0 / " in run("context", "none").out
        assert "~0" not in run("context", "none").out + run("sessions").out

    def test_shows_both_triggers_and_the_last_summary(self, fed: Run, db: Path) -> None:  # S7
        """The output has tool definitions, bars of automatic summaries, and the result of the last summary."""
        [one] = json.loads(fed("sessions", "--json").out)
        done = fed("context", one["id"])
        assert re.search(r"Messages \d+ so far\n +Tokens [\d,]+ so far", done.out)
        assert "summary   on request; none yet" in done.out
        app = build(Config(db=db, tokenizer=False, follow=False, env={}))
        app.sessions.patch(one["id"], SessionChange(settings={"auto_summarize": True}))
        app.close()
        done = fed("context", one["id"])
        assert re.search(r"[█░|]{20} Messages \d+ / 30 \([\d.]+ %\)", done.out)
        assert re.search(r"[█░|]{20} Tokens [\d,]+ / 128,000 \([\d.]+ %\)", done.out)
        assert re.search(r"tools     [\d,]+ tokens.*; [\d,]+ available for messages", done.out)

    def test_can_be_the_json_of_the_api(self, fed: Run) -> None:
        """The JSON is for other programs."""
        [one] = json.loads(fed("sessions", "--json").out)
        assert json.loads(fed("context", one["id"], "--json").out)["session"]["id"] == one["id"]


class TestTheBar:
    """The bar of twenty cells."""

    def test_marks_the_target(self) -> None:
        """The bar has a mark at the target."""
        assert bar(0, 80) == "░" * 16 + "|" + "░" * 3

    def test_is_full_at_the_limit(self) -> None:
        """It is not full before."""
        assert bar(99.9, 80) == "█" * 19 + "░"
        assert bar(100, 80) == "█" * 20

    def test_is_longer_above_the_limit(self) -> None:
        """The bar is longer above 100 %."""
        assert len(bar(120, 80)) == 24
        assert len(bar(100.4, 80)) == 21
        assert len(bar(5000, 80)) == 40

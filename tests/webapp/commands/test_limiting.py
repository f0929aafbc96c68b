"""`coppice retention`: shown, set, applied."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.webapp.building import followed, user
from tests.webapp.commands.running import Run
from webapp.config import Config
from webapp.wiring import build


@pytest.fixture
def old(db: Path) -> None:
    """Make a store with a session of January 2026."""
    app = build(Config(db=db, tokenizer=False, follow=False, env={}))
    followed(app, user("hello"), session_id="old")
    app.close()


@pytest.mark.usefixtures("old")
class TestRetention:
    """The command, on a store with an old session."""

    def test_shows_that_there_are_no_limits(self, run: Run) -> None:
        """The default."""
        assert "no session is ever deleted" in run("retention").out

    def test_shows_what_limits_would_delete_and_sets_nothing(self, run: Run) -> None:
        """`--dry-run`."""
        shown = run("retention", "set", "--days", "1", "--dry-run")
        assert "1 session, 0.1 MiB, last used before 2026-02-01, would be deleted." in shown.out
        assert "(old)" in shown.out
        assert json.loads(run("retention", "--json").out)["limits"]["days"] is None

    def test_deletes_after_it_was_confirmed(self, run: Run) -> None:
        """The session is gone; the limits stay."""
        assert "will be deleted tonight" in run("retention", "set", "--days", "1").out
        assert run("retention", "apply").code != 0  # nobody answers the question
        assert "1 session, 0.1 MiB deleted." in run("retention", "apply", "--yes").out
        assert "No session is beyond the limits." in run("retention").out
        assert "no session is ever deleted" in run("retention", "off").out

    def test_keeps_a_session(self, run: Run) -> None:
        """And lets it go again."""
        run("retention", "set", "--days", "1")
        run("retention", "keep", "old")
        assert json.loads(run("retention", "--json").out)["sessions"] == 0
        run("retention", "keep", "old", "--no-longer")
        assert json.loads(run("retention", "--json").out)["sessions"] == 1

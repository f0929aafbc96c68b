"""`coppice retention`: limits shown, set and applied."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.webapp.building import followed, user
from tests.webapp.commands.running import Run
from webapp.commands.retention import show
from webapp.config import Config
from webapp.services.catalog.answers import Retention, RetentionLimits, SessionToDelete
from webapp.wiring import build


@pytest.fixture
def old(db: Path) -> None:
    """Create a store with a session of January 2026."""
    app = build(Config(db=db, tokenizer=False, follow=False, env={}))
    followed(app, user("hello"), session_id="old")
    app.close()


@pytest.mark.usefixtures("old")
class TestRetention:
    """The command, on a store with an old session."""

    def test_shows_that_there_are_no_limits(self, run: Run) -> None:
        """The default has no limits."""
        assert "no session is ever deleted" in run("retention").out

    def test_shows_what_limits_would_delete_and_sets_nothing(self, run: Run) -> None:
        """`--dry-run` shows the sessions and stores no limit."""
        shown = run("retention", "set", "--days", "1", "--dry-run")
        assert "1 session, 0.1 MiB, last used before 2026-02-01, would be deleted." in shown.out
        assert "(old)" in shown.out
        assert json.loads(run("retention", "--json").out)["limits"]["days"] is None

    def test_deletes_after_a_confirmation(self, run: Run) -> None:
        """The session is deleted, and the limits stay."""
        assert "will be deleted tonight" in run("retention", "set", "--days", "1").out
        assert run("retention", "apply").code != 0  # the question gets no answer
        assert "1 session, 0.1 MiB deleted." in run("retention", "apply", "--yes").out
        assert "No session is beyond the limits." in run("retention").out
        assert "no session is ever deleted" in run("retention", "off").out

    def test_exempts_a_session(self, run: Run) -> None:
        """A session can be kept, and released again."""
        run("retention", "set", "--days", "1")
        run("retention", "keep", "old")
        assert json.loads(run("retention", "--json").out)["sessions"] == 0
        run("retention", "keep", "old", "--no-longer")
        assert json.loads(run("retention", "--json").out)["sessions"] == 1

    def test_exempts_a_session_by_the_beginning_of_its_id(self, run: Run) -> None:
        """The answer names the whole id."""
        assert run("retention", "keep", "ol").out == "old is kept.\n"


class TestAShortenedList:
    """The printed list where more sessions are selected than it names."""

    def test_counts_the_others(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The noun agrees with the number."""
        found = Retention(
            limits=RetentionLimits(days=1, size_mib=None, user_size_mib=None), sessions=2, bytes=20, used_before=None,
            next_at=None, text="2 sessions", named=[
                SessionToDelete(
                    id="a", title="A", user=None, last_activity=None, sessions=1, bytes=10, reason="age"
                )
            ],
        )  # fmt: skip
        show(found)
        assert capsys.readouterr().out.endswith("and 1 more session\n")

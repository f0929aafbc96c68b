"""Naming a session on the command line, and formatting numbers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from scoring.counted import counted
from tests.webapp.building import entry, followed, user
from webapp.app import App
from webapp.commands.common import ago_text, find_session, percent_text, tokens_text
from webapp.errors import Invalid, NotFound


class TestNamingASession:
    """A session is named by its id or the beginning of it."""

    @pytest.fixture(autouse=True)
    def sessions(self, app: App) -> None:
        """Three sessions."""
        for name in ("abc-1", "abc-2", "xyz"):
            app.new_sessions.create(id=name, model="gpt-5")

    def test_accepts_the_id_or_its_beginning(self, app: App) -> None:
        """The beginning must match only one session."""
        assert [find_session(app, name) for name in ("xyz", "x", "abc-1")] == ["xyz", "xyz", "abc-1"]

    def test_refuses_an_ambiguous_beginning(self, app: App) -> None:
        """The error names some of them."""
        with pytest.raises(Invalid, match=r"2 sessions begin with abc: abc-\d, abc-\d; give more of the id"):
            find_session(app, "abc")

    def test_prefers_a_session_to_its_sub_agents(self, app: App) -> None:
        """A prefix shared by a session and its sub-agents means the session."""
        app.ingest.ensure("def-1", "claude-code")
        app.ingest.append_records("def-1", [entry(0, user("hi")), entry(1, user("go"), stream="agent-a")])
        assert find_session(app, "def") == "def-1"
        assert find_session(app, "def-1.ag") == "def-1.agent-a"

    def test_reports_an_unknown_session(self, app: App) -> None:
        """The error repeats the given name."""
        with pytest.raises(NotFound, match="nobody"):
            find_session(app, "nobody")


class TestNumbers:
    """Numbers in the format of the pages."""

    def test_of_things_agree_with_their_noun(self) -> None:
        """One has the singular."""
        assert [counted(n, "message") for n in (0, 1, 2_000)] == ["0 messages", "1 message", "2,000 messages"]

    def test_of_tokens_are_marked_if_estimated(self) -> None:
        """Exact numbers have no mark."""
        assert [tokens_text(1234567, c) for c in ("exact", "calibrated", "estimated")] == [
            "1,234,567", "1,234,567", "~1,234,567"
        ]  # fmt: skip

    def test_of_percent_have_one_decimal(self) -> None:
        """Percentages have no further digits."""
        assert percent_text(28.725) == "28.7 %"

    @pytest.mark.parametrize(
        ("at", "text"),
        [
            (None, "never"),
            ("2026-01-02T12:00:00Z", "just now"),
            ("2026-01-02T11:58:00.123Z", "2 min ago"),
            ("2026-01-02T09:00:00Z", "3 h ago"),
            ("2025-12-30T12:00:00Z", "3 d ago"),
            ("2027-01-01T00:00:00Z", "just now"),
        ],
    )
    def test_of_time_are_relative(self, at: str | None, text: str) -> None:
        """The largest non-zero unit is used; a time in the future is shown as now."""
        assert ago_text(at, datetime(2026, 1, 2, 12, 0, 20, tzinfo=UTC)) == text

    def test_of_the_gauge_are_those_of_the_main_context(self, app: App) -> None:
        """The main context is the agent's in a followed session, and the only one in a managed session."""
        followed(app, user("hi"))
        session = app.sessions.get("s")
        assert session.main is session.agent
        assert replace(session, agent=None).main is session.pruned

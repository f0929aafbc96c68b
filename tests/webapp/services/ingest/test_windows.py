"""The window that a session runs with."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.models import ModelLimits, find_model
from tests.webapp.building import followed
from webapp.app import App
from webapp.services.ingest.windows import narrow, widen

WIDE = find_model("claude-opus-4-7")


@pytest.fixture
def session(app: App) -> Any:
    """A session of the agent that tells its window."""
    return app.store.sessions.get(followed(app))


class TestWindows:
    """Windows learned from real calls and from the agent's own compactions."""

    def test_stay_where_nothing_contradicts_the_table(self, session: Any) -> None:
        """Or nothing is known of the model."""
        assert not widen(session, WIDE, 900_000)
        assert not widen(session, None, 10**9)
        assert not narrow(session, None, 167_000, 0)
        assert (session.window, session.notes) == (None, [])

    def test_widen_at_a_call_and_narrow_at_a_compaction(self, session: Any) -> None:  # X10
        """Each with a note; a call of before is never forgotten."""
        assert narrow(session, WIDE, 167_000, 150_000)
        assert session.window == 200_000
        assert widen(session, WIDE, 250_000)
        assert session.window == 1_000_000
        assert not narrow(session, WIDE, 167_000, 250_000)
        assert len(session.notes) == 2

    def test_are_left_to_the_user_and_to_agents_that_tell_them(self, session: Any) -> None:
        """An own row wins; another agent's compactions stand elsewhere."""
        own = ModelLimits("claude-opus-4-7", 1_000_000, own=True)
        assert not narrow(session, own, 167_000, 0)
        session.source = "codex"
        assert not narrow(session, WIDE, 167_000, 0)

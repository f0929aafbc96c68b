"""Sessions that a program creates."""

from __future__ import annotations

import pytest

from scoring.errors import InvalidSettings
from tests.webapp.building import managed
from webapp.app import App
from webapp.bodies import ModelRow
from webapp.errors import Conflict, NotFound


class TestCreate:
    """Creating a managed session."""

    def test_counts_system_prompt_and_tools(self, app: App) -> None:  # P1
        """System prompt and tools are separate regions, before the first message."""
        tools = [{"name": "read", "description": "reads a file", "input_schema": {"type": "object"}}]
        session = app.new_sessions.create(id="x", model="gpt-5", system="be brief " * 20, tools=tools)
        regions = {r.name: r.tokens for r in session.pruned.regions}
        assert set(regions) == {"system", "tools"}
        assert (session.id, session.kind, session.agent, session.source) == ("x", "managed", None, "api")

    def test_refuses_an_existing_id(self, app: App) -> None:
        """The existing session stays unchanged."""
        managed(app, id="x", title="first")
        with pytest.raises(Conflict):
            app.new_sessions.create(id="x", title="second")
        assert app.sessions.get("x").title == "first"

    def test_refuses_invalid_settings(self, app: App) -> None:
        """No session is created."""
        with pytest.raises(InvalidSettings):
            app.new_sessions.create(id="x", settings={"fresh_tail": -1})
        with pytest.raises(NotFound):
            app.sessions.get("x")

    def test_refuses_a_window_without_usable_tokens(self, app: App) -> None:  # C5
        """The reserve for the answer and the buffer needs all of it, and the error has the numbers."""
        app.models.put("tiny", ModelRow(window=4_000))
        with pytest.raises(InvalidSettings, match="expected more than 4,496 tokens, got 4,000"):
            app.new_sessions.create(id="x", model="tiny")

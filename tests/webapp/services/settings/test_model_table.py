"""The model table: overrides of its rows, checked and announced."""

from __future__ import annotations

import pytest

from scoring.errors import InvalidSettings
from tests.webapp.building import heard, managed
from webapp.app import App
from webapp.bodies import ModelRow
from webapp.errors import NotFound
from webapp.events import ModelsChanged


class TestModels:
    """The model table."""

    def test_can_be_overridden_and_reset(self, app: App) -> None:  # B13
        """Sessions use the override until it is deleted."""
        session, events = managed(app, model="gpt-5"), heard(app)
        before = app.sessions.get(session).window
        row = app.models.put("gpt-5", ModelRow(window=50_000, input_limit=None))
        assert (row.window, row.overridden) == (50_000, True)
        assert app.sessions.get(session).window == 50_000
        app.models.delete("gpt-5")
        assert app.sessions.get(session).window == before
        assert events == [ModelsChanged(), ModelsChanged()]

    def test_can_be_added(self, app: App) -> None:  # B13
        """A model with limits of the user is known."""
        session = managed(app, model="nobody-knows-1")
        app.models.put("nobody-knows-1", ModelRow(window=64_000))
        found = app.sessions.get(session)
        assert (found.model_known, found.window, found.notes) == (True, 64_000, [])
        assert app.models.list().models[0].name == "nobody-knows-1"

    def test_get_a_window_from_the_output_limit_of_an_unknown_model(self, app: App) -> None:  # P1
        """The window is four times the output limit, and a row without any number is refused."""
        session = managed(app, model="nobody-knows-2")
        assert app.models.put("nobody-knows-2", ModelRow(output_limit=8_000)).window == 32_000
        assert app.sessions.get(session).window == 32_000
        with pytest.raises(InvalidSettings):
            app.models.put("nobody-knows-2", ModelRow(window=None))

    def test_refuse_invalid_limits(self, app: App) -> None:
        """An input limit above the window stores no override."""
        with pytest.raises(InvalidSettings):
            app.models.put("gpt-5", ModelRow(window=1_000, input_limit=5_000))
        with pytest.raises(NotFound):
            app.models.delete("gpt-5")

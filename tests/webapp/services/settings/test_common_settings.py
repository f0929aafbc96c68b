"""The settings of all sessions: checked as a whole, and announced."""

from __future__ import annotations

import pytest

from scoring.errors import InvalidSettings
from scoring.settings import STRATEGY_NAMES, TASK_TYPE_CHOICES
from scoring.signals import SIGNALS, Signal
from tests.webapp.building import heard, managed
from webapp.app import App
from webapp.config import Config
from webapp.events import SettingsChanged
from webapp.wiring import build


class TestSettings:
    """The common settings."""

    def test_are_saved_completely_or_not_at_all(self, app: App) -> None:  # B16
        """There is a fault for each wrong field, and valid fields are not saved either."""
        with pytest.raises(InvalidSettings) as caught:
            app.settings.put({"fresh_tail": 4, "aim_percent": 900, "weights": {"recency": -1}})
        assert {f.field for f in caught.value.faults} >= {"aim_percent", "weights.recency"}
        assert app.settings.get().settings == app.settings.get().defaults

    def test_are_announced_and_apply_to_every_session(self, app: App) -> None:
        """Saved settings apply immediately."""
        session, events = managed(app), heard(app)
        document = app.settings.put({"target_percent": 50})
        assert document.settings.target_percent == 50
        assert document.preset == "custom"
        assert events == [SettingsChanged()]
        assert app.sessions.get(session).target_percent == 50

    def test_are_saved_on_top_of_those_of_another_process(self, app: App, config: Config) -> None:
        """Settings that another process saved a moment ago stay."""
        other = build(config)
        app.settings.put({"fresh_tail": 4})
        other.settings.put({"target_percent": 50})
        found = app.settings.put({"aim_percent": 30}).settings
        assert (found.fresh_tail, found.target_percent, found.aim_percent) == (4, 50, 30)
        other.close()

    def test_can_be_set_to_a_preset_and_reset(self, app: App) -> None:
        """A preset is selected by its name or by its full settings."""
        assert app.settings.put(preset="Blueprint").preset == "Blueprint"
        assert app.settings.put(app.settings.get().settings.to_dict()).preset == "Blueprint"
        assert app.settings.reset().settings == app.settings.get().defaults
        with pytest.raises(InvalidSettings):
            app.settings.put(preset="Magic")

    def test_name_the_range_of_every_number(self, app: App) -> None:
        """The sliders use these ranges."""
        document = app.settings.get()
        fields = document.settings.to_dict()
        numbers = {name for name, value in fields.items() if type(value) in (int, float)}
        assert {"fresh_tail", "target_percent"} <= numbers <= document.limits.keys()
        assert all(one.min < one.max for one in document.limits.values())

    def test_include_every_signal_of_the_table(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """A row in the table adds a signal to the document, with its label and weight."""
        signal = Signal(
            "novel", "Novel", "what was never said before", lambda history, _: [1.0] * len(history), {}
        )
        monkeypatch.setitem(SIGNALS, "novel", signal)
        assert app.settings.get().signals[-1].label == "Novel"
        assert app.settings.put({"weights": {"novel": 30}}).settings.weights["novel"] == 30

    def test_have_a_label_for_every_choice(self, app: App) -> None:
        """Each value that a field accepts has a label and a meaning."""
        document = app.settings.get()
        assert [one.name for one in document.choices["strategy"]] == list(STRATEGY_NAMES)
        assert all(one.label and one.meaning for table in document.choices.values() for one in table)
        assert [one.name for one in document.choices["task_type"]] == list(TASK_TYPE_CHOICES)
        assert "Blueprint" in document.presets

"""The ranges of settings."""

from __future__ import annotations

from scoring.settings.ranges import LIMITS
from scoring.settings.settings import DEFAULT_PRESET, PRESETS


class TestLimits:
    """The ranges of sliders on the settings page."""

    def test_hold_every_preset(self) -> None:
        """No preset lies outside of what a person may set."""
        for preset in PRESETS.values():
            values = preset.to_dict()
            for name, limit in LIMITS.items():
                value = values.get(name)
                if isinstance(value, int | float):
                    assert limit.minimum <= value <= limit.maximum, name

    def test_are_there_for_every_number(self) -> None:
        """A number without a range cannot be checked."""
        values = PRESETS[DEFAULT_PRESET].to_dict()
        numbers = {name for name, value in values.items() if value is None or type(value) in (int, float)}
        assert numbers <= LIMITS.keys(), "a row in scoring/settings/ranges.py is missing"

    def test_are_json_ready(self) -> None:
        """Minimum, maximum and step."""
        assert LIMITS["fresh_tail"].to_dict() == {"min": 0, "max": 10_000, "step": 1}

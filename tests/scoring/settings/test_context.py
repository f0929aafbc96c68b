"""Settings of the assembled context: their names, presets and checks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.errors import InvalidSettings
from scoring.settings.context import CONTEXT_PRESETS, ContextSettings
from tests.scoring.builders import BALANCED


class TestContextSettings:
    """The fields and where they come from."""

    def test_have_the_names_and_defaults_that_sessions_override(self) -> None:  # S3
        """Five settings under their names, with their defaults."""
        said = ContextSettings().to_dict()
        assert said["max_messages_before_summary"] == 30
        assert said["max_tokens_before_summary"] == 128_000
        assert said["min_recent_messages"] == 6
        assert said["response_reserve"] == 4_096
        assert "auto_summarize" in said

    def test_take_what_larger_settings_carry(self) -> None:
        """A field of the same name wins over the default."""
        settings = replace(BALANCED, response_reserve=9_000)
        assert ContextSettings.of(settings).response_reserve == 9_000

    def test_read_back_what_they_write(self) -> None:
        """A dict there and back is the same value."""
        one = ContextSettings(tool_outputs_exempt=("read",), auto_summarize=True)
        assert ContextSettings.from_dict(one.to_dict()) == one

    @pytest.mark.parametrize("name", CONTEXT_PRESETS)
    def test_every_preset_is_valid(self, name: str) -> None:  # S10
        """A preset is a set of overrides that the check accepts."""
        assert ContextSettings.from_dict(CONTEXT_PRESETS[name]) != ContextSettings()

    def test_presets_hold_the_numbers_of_their_situation(self) -> None:  # S10
        """Five situations, each with the numbers it is known for."""
        made = {name: ContextSettings.from_dict(data) for name, data in CONTEXT_PRESETS.items()}
        seen = {
            name: (one.max_messages_before_summary, one.max_tokens_before_summary, one.min_recent_messages)
            for name, one in made.items()
        }
        assert seen == {
            "Short conversations": (50, 200_000, 6),
            "Long coding sessions": (20, 128_000, 8),
            "Large tool outputs": (30, 80_000, 6),
            "Small context models": (10, 20_000, 4),
            "Large context models": (50, 150_000, 6),
        }
        assert made["Large tool outputs"].response_reserve == 8_192

    def test_name_every_wrong_field_at_once(self) -> None:
        """Unknown, out of range and of a wrong type: one fault each."""
        wrong = {
            "nonsense": 1,
            "min_recent_messages": -1,
            "auto_summarize": "yes",
            "tool_outputs_exempt": "read",
        }
        with pytest.raises(InvalidSettings) as caught:
            ContextSettings.from_dict(wrong)
        assert [fault.field for fault in caught.value.faults] == list(wrong)

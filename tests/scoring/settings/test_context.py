"""Settings of the assembled context: their names, presets and checks."""

from __future__ import annotations

import pytest

from scoring.errors import InvalidSettings
from scoring.settings import Settings
from scoring.settings.settings import CONTEXT_PRESETS


class TestContextSettings:
    """Names, defaults and checks."""

    def test_have_the_names_and_defaults_that_sessions_override(self) -> None:  # S3
        """Five settings under their names, with their defaults."""
        said = Settings().to_dict()
        assert said["max_messages_before_summary"] == 30
        assert said["max_tokens_before_summary"] == 128_000
        assert said["min_recent_messages"] == 6
        assert said["response_reserve"] == 4_096
        assert "auto_summarize" in said

    @pytest.mark.parametrize("name", CONTEXT_PRESETS)
    def test_every_preset_is_valid(self, name: str) -> None:  # S10
        """A preset is a set of overrides that the check accepts."""
        assert Settings.from_dict(CONTEXT_PRESETS[name]) != Settings()

    def test_presets_hold_the_numbers_of_their_situation(self) -> None:  # S10
        """Five situations, each with the numbers it is known for."""
        made = {name: Settings.from_dict(data) for name, data in CONTEXT_PRESETS.items()}
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
            Settings.from_dict(wrong)
        assert [fault.field for fault in caught.value.faults] == list(wrong)

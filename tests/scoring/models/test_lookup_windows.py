"""Windows above what the table says."""

from __future__ import annotations

import pytest

from scoring.models.lookup import ModelLimits, find_model, window_above


class TestAWindowAbove:
    """A call took more than the row says."""

    @pytest.mark.parametrize(
        ("tokens", "row", "window"),
        [
            (200_001, find_model("claude-sonnet-4-5"), 1_000_000),
            (280_000, find_model("gpt-5"), 1_000_000),
            (1_200_000, find_model("gemini-2.5-pro"), 2_000_000),
            (110_000, find_model("nobody-knows-it"), 128_000),
            (150_000, find_model("nobody-knows-it"), 200_000),
            (99_000_000, ModelLimits("m", 200_000), 99_000_000),
        ],
    )
    def test_is_the_next_that_providers_have(self, tokens: int, row: ModelLimits, window: int) -> None:  # X10
        """A known model's is its wide variant; beyond all of them it is what was seen."""
        assert window_above(tokens, row) == window

"""Windows above the assumed window of a session."""

from __future__ import annotations

import pytest

from scoring.models.lookup import find_model, is_wide, window_above, window_to_offer


class TestAWindowAbove:
    """The window after a call that was larger than the assumed one."""

    @pytest.mark.parametrize(
        ("tokens", "model", "window", "found"),
        [
            (200_001, "claude-sonnet-4-5", 200_000, 1_000_000),
            (250_000, "claude-opus-4-7", 200_000, 1_000_000),
            (1_100_000, "claude-opus-4-7", 1_000_000, None),
            (280_000, "gpt-5", 400_000, None),
            (250_000, "claude-haiku-4-5", 200_000, None),
            (110_000, "nobody-knows-it", 100_000, None),
        ],
    )
    def test_is_the_next_that_the_model_is_known_to_have(
        self, tokens: int, model: str, window: int, found: int | None
    ) -> None:  # X10
        """It is None if no larger window is known."""
        assert window_above(tokens, find_model(model), window) == found

    @pytest.mark.parametrize(
        ("tokens", "offered"), [(5_100, 128_000), (150_000, 200_000), (99_000_000, 99_000_000)]
    )
    def test_is_offered_by_size_where_none_is_known(self, tokens: int, offered: int) -> None:  # X10
        """It is the smallest usual window that holds the tokens."""
        assert window_to_offer(tokens) == offered


def test_a_name_says_that_the_window_is_wide() -> None:  # X10
    """Claude Code adds a suffix to the name."""
    assert is_wide("claude-opus-4-6[1M]")
    assert not is_wide("claude-opus-4-6")
    assert not is_wide(None)

"""The window that follows from compactions of Claude Code."""

from __future__ import annotations

import pytest

from webapp.agents.claude_code.window import window_of_compaction


@pytest.mark.parametrize(
    ("tokens", "window"),
    [
        (167_094, 200_000), (155_000, 200_000), (180_000, 200_000), (367_500, 400_000), (967_000, 1_000_000),
        (600_000, None), (50_000, None), (0, None),
    ],
)  # fmt: skip
def test_a_compaction_happens_near_the_end_of_the_window(tokens: int, window: int | None) -> None:  # X10
    """An early compaction does not show the window."""
    assert window_of_compaction(tokens) == window

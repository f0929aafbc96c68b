"""The window that follows from compactions of Claude Code."""

from __future__ import annotations

import pytest

from scoring.models import find_model
from webapp.agents.claude_code.window import usual_window, window_of_compaction


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


@pytest.mark.parametrize(
    ("model", "version", "window"),
    [
        ("claude-opus-5-5", "2.1.332", None), ("claude-opus-4-7", "2.1.117", None), ("claude-opus-4-7", "", None),
        ("claude-opus-4-7", "2.1.90", 200_000), ("claude-opus-4-6", "2.1.332", 200_000),
        ("somebody-else-1", "2.1.332", 200_000),
    ],
)  # fmt: skip
def test_newer_models_have_their_whole_window(model: str, version: str, window: int | None) -> None:  # X10
    """Older ones need a suffix for it, which transcripts lack."""
    assert usual_window(find_model(model), version, False) == window

"""The window that a session runs with, where what happens in it shows another one than the table: with a note."""

from __future__ import annotations

from scoring.models import ModelLimits, window_above, window_of_compaction
from webapp.store.sessions import SessionRow

# The agent that compacts by itself at a known distance from the end of its window.
TELLS_WINDOW = "claude-code"


def widen(row: SessionRow, limits: ModelLimits | None, tokens: int) -> bool:
    """A call that took more than the session's window moves it to a larger one, for good; whether it did."""
    if limits is None:
        return False
    if row.source == TELLS_WINDOW and row.window and row.window < tokens <= limits.limit:
        note = f"a call took {tokens:,} tokens, more than the {row.window:,} that a compaction implied"
        return _take(row, limits.window, note)
    if tokens <= max(limits.limit, row.window or 0):
        return False
    note = f"a call took {tokens:,} tokens, more than the {limits.limit:,} known for {limits.name}"
    return _take(row, window_above(tokens, limits), note)


def narrow(row: SessionRow, limits: ModelLimits | None, tokens: int, most: int) -> bool:
    """The agent compacted by itself at `tokens`, which tells its window; not below `most`, the largest call so far."""
    if limits is None or limits.own or row.source != TELLS_WINDOW:
        return False
    window = window_of_compaction(tokens, row.window or limits.limit)
    if window is None or most > window:
        return False
    return _take(row, window, f"the agent compacted by itself at {tokens:,} tokens")


def _take(row: SessionRow, window: int, why: str) -> bool:
    row.window = window
    row.notes = [*row.notes, f"{why}: the window is taken to be {window:,}"]
    return True

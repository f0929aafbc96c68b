"""The window of a session, corrected by what happens in it; each correction leaves a note."""

from __future__ import annotations

from scoring.models import ModelLimits, window_above
from webapp.agents import AGENTS
from webapp.store.sessions import SessionRow


def widen(row: SessionRow, limits: ModelLimits | None, tokens: int) -> bool:
    """Move a session for good to a larger window than its own, where a call took more; return whether it did."""
    if limits is None:
        return False
    if _tells_window(row) and row.window and row.window < tokens <= limits.limit:
        note = f"a call took {tokens:,} tokens, more than the {row.window:,} that a compaction implied"
        return _take(row, limits.window, note)
    if tokens <= max(limits.limit, row.window or 0):
        return False
    note = f"a call took {tokens:,} tokens, more than the {limits.limit:,} known for {limits.name}"
    return _take(row, window_above(tokens, limits), note)


def narrow(row: SessionRow, limits: ModelLimits | None, tokens: int, most: int) -> bool:
    """Take the window that an agent's own compaction at `tokens` implies, if no call took more; return whether it did.

    `most` is the largest call so far. A window that the user has set stays.
    """
    told = AGENTS[row.source].window_of_compaction if row.source in AGENTS else None
    if limits is None or limits.own or told is None:
        return False
    window = told(tokens, row.window or limits.limit)
    if window is None or most > window:
        return False
    return _take(row, window, f"the agent compacted by itself at {tokens:,} tokens")


def _tells_window(row: SessionRow) -> bool:
    return row.source in AGENTS and AGENTS[row.source].window_of_compaction is not None


def _take(row: SessionRow, window: int, why: str) -> bool:
    row.window = window
    row.notes = [*row.notes, f"{why}: the window is taken to be {window:,}"]
    return True

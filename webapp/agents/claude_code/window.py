"""The window that Claude Code runs with, as its own compactions tell it.

It compacts by itself at its window less some 33,000 tokens (167,094 of 200,000), whatever the model could take: the
same model runs with 200,000, which is the default, and with 1,000,000 where its name has the suffix `[1m]`.
"""

from __future__ import annotations

USUAL = 200_000
_WINDOWS = (USUAL, 400_000, 1_000_000)
_RESERVE, _EARLY_SHARE, _LATE_SHARE = 33_000, 0.75, 0.1


def window_of_compaction(tokens: int) -> int | None:
    """Return the window of a session that compacted by itself at `tokens`, None where they imply none.

    The last answer before it may go a tenth beyond. Far below the line, where a compaction was set to come early,
    nothing is implied.
    """
    implied = tokens + _RESERVE
    return next((w for w in _WINDOWS if _EARLY_SHARE * w <= implied <= (1 + _LATE_SHARE) * w), None)

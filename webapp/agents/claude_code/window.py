"""The window that Claude Code runs with, derived from its own compactions.

It compacts by itself at its window less some 33,000 tokens (167,094 of 200,000), whatever the model accepts: the
same model runs with 200,000 by default, and with 1,000,000 if its name has the suffix `[1m]`.
"""

from __future__ import annotations

USUAL = 200_000
_WINDOWS = (USUAL, 400_000, 1_000_000)
_RESERVE, _EARLY_SHARE, _LATE_SHARE = 33_000, 0.75, 0.1


def window_of_compaction(tokens: int) -> int | None:
    """Return the window of a session that compacted by itself at `tokens`, None if they imply none.

    The last answer before it can exceed the limit by a tenth. A size far below it implies nothing, because the user can
    set compactions to come early.
    """
    implied = tokens + _RESERVE
    return next((w for w in _WINDOWS if _EARLY_SHARE * w <= implied <= (1 + _LATE_SHARE) * w), None)

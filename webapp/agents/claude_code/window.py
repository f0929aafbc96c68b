"""The window that Claude Code runs with: by its model and version, or derived from its own compactions.

It compacts by itself at its window less some 33,000 tokens (167,094 of 200,000). The window of older models is 200,000
by default, and 1,000,000 if their name has the suffix `[1m]`, which transcripts lack. Newer models have their whole
window, in some versions only at Anthropic's own address.
"""

from __future__ import annotations

from scoring.models import ModelLimits

USUAL = 200_000
# Models with a larger window that needs the suffix.
_WITH_SUFFIX = frozenset({"claude-opus-4-6", "claude-sonnet-4-6"})
# The first version that uses the whole window of the other models, and the first one seen to do so at any address:
# 2.1.270 uses 200,000 behind a proxy, 2.1.285 does not.
_WHOLE_FROM, _ANYWHERE_FROM = (2, 1, 117), (2, 1, 285)
_WINDOWS = (USUAL, 400_000, 1_000_000)
_RESERVE, _EARLY_SHARE, _LATE_SHARE = 33_000, 0.75, 0.1


def usual_window(model: ModelLimits, version: str, behind_proxy: bool) -> int | None:
    """Return the default window with a model, None if it is the model's own.

    An unknown `version` counts as a new one.
    """
    if not model.known or model.name in _WITH_SUFFIX:
        return USUAL
    numbers = tuple(int(n) for n in version.split(".") if n.isdigit())
    if numbers and numbers < (_ANYWHERE_FROM if behind_proxy else _WHOLE_FROM):
        return USUAL
    return None


def window_of_compaction(tokens: int) -> int | None:
    """Return the window of a session that compacted by itself at `tokens`, None if they imply none.

    The last answer before it can exceed the limit by a tenth. A size far below it implies nothing, because the user can
    set compactions to come early.
    """
    implied = tokens + _RESERVE
    return next((w for w in _WINDOWS if _EARLY_SHARE * w <= implied <= (1 + _LATE_SHARE) * w), None)

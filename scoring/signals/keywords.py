"""Keywords: words that mark errors, outcomes, tool use and changes."""

from __future__ import annotations

from scoring.history import History
from scoring.settings import Settings


def rate(history: History, settings: Settings) -> list[float]:
    """The rating that each message got when it was analysed; it depends on its text and the lexicon alone."""
    return history.keywords[:]

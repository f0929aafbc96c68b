"""Keywords: words that mark errors, outcomes, tool use and changes."""

from __future__ import annotations

from scoring.history import History
from scoring.settings import Settings


def rate(history: History, settings: Settings) -> list[float]:
    """The rating that each message got when it was analysed; it depends on its text and the lexicon alone."""
    return history.keywords[:]


MOST_COUNTED = 16


def of_marks() -> list[float]:
    """For *Foresight*: the rating of a mark by how many messages name it, up to `MOST_COUNTED`.

    Its own words are what a session shows to be its keywords: those that come again.
    """
    return [count / (count + 1) for count in range(MOST_COUNTED + 1)]

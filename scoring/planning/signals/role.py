"""Role: who speaks."""

from __future__ import annotations

from scoring.history import AGENT, HAS_DIGIT, KINDS, TASK, USER, History
from scoring.settings import Settings


def rate(history: History, settings: Settings) -> list[float]:
    """What the settings' table says of each message's role."""
    return list(map(settings.roles.__getitem__, history.roles))


BY_USER, BY_TOOL = 0.5, 0.25


def of_marks() -> list[float]:
    """For *Foresight*: the rating of a mark by who named it (`Marks.said`).

    What the agent itself or the task named is named again most often; then what a user named, and codes and numbers;
    what only tool outputs said, least.
    """
    return [_of_mark(said) for said in range(KINDS)]


def _of_mark(said: int) -> float:
    if said & (AGENT | TASK):
        return 1.0
    return BY_USER if said & (USER | HAS_DIGIT) else BY_TOOL

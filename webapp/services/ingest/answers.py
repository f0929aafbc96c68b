"""Answers to appends."""

from __future__ import annotations

from webapp.answers import answer
from webapp.services.session.answers import Applied, Certainty, State


@answer
class BriefStats:
    """The size of the context after an append."""

    tokens: int
    utilization: float
    """Percent of `limit`, with one decimal, not capped at 100."""
    certainty: Certainty
    messages: int
    limit: int
    needsPruning: bool  # noqa: N815  # the name is part of the interface
    """True above the target."""
    state: State


@answer
class Appended:
    """The messages that an append added, and the size of the context afterwards."""

    ids: list[str]
    """The new messages."""
    added: int
    stats: BriefStats
    prune: Applied | None
    """The automatic prune that the append caused."""
    line: str | None = None
    """The context in one line, if the settings ask for it (`status_line`)."""

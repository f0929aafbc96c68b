"""Answers about all sessions: what a search finds."""

from __future__ import annotations

from scoring.messages import Role
from webapp.answers import answer


@answer
class Hit:
    """A message that a search found."""

    session_id: str
    session_title: str
    message_id: str
    number: int
    """The message's number in its session."""
    role: Role
    snippet: str
    """One line around the words that were found, with … where it was cut."""
    at: str | None
    in_context: bool


@answer
class Results:
    """The messages that a search found, best match first."""

    results: list[Hit]
    total: int
    """At most 100 are returned."""

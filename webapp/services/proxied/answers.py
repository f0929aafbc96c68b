"""Answers to the proxy."""

from __future__ import annotations

from webapp.answers import answer


@answer
class TakenCall:
    """A copy of a call that was taken in."""

    session_id: str | None
    """The session that it belongs to; null if there is none: the call was refused, or its session was deleted."""
    added: int
    """Messages that are new."""

"""Answers about summaries."""

from __future__ import annotations

from scoring.summary import Level
from webapp.answers import answer
from webapp.services.session.answers import Operation, Session


@answer
class Covered:
    """The parts of a context that a summary covers."""

    messages: int
    summaries: list[int]
    """The numbers of earlier summaries."""


@answer
class SummaryAnswer:
    """A text that replaces messages, or replaced them until it was undone or expanded."""

    id: int
    text: str
    note: str
    depth: int
    """1 for a summary of messages only; else one more than the deepest summary that it covers."""
    messages: int
    """All messages behind it."""
    tokens: int
    replaced_tokens: int
    """The tokens of what it covers."""
    first_at: str | None
    last_at: str | None
    level: Level
    """"structured" or "terser" when a model wrote it, "deterministic" without one."""
    model: str | None
    cost: float | None
    """US dollars."""
    covers: Covered
    in_context: bool
    """True while it is in the context."""
    at: str | None


@answer
class SummaryFull(SummaryAnswer):
    """One summary with the messages that it covers."""

    message_ids: list[str]


@answer
class Summaries:
    """The summaries of a session, newest first."""

    summaries: list[SummaryAnswer]


@answer
class Summarised:
    """A summary that was written, or that is being written in the background."""

    summary: SummaryAnswer | None
    """Null while it is being written."""
    operation: Operation | None
    session: Session | None
    problems: list[str]
    """The reasons the model's text was not used unchanged."""
    running: bool
    """True while it is being written."""
    started: bool
    """False where one was being written already."""
    message: str

"""Answers about memories and learnings."""

from __future__ import annotations

from webapp.answers import answer


@answer
class Memory:
    """A memory or a learning."""

    id: int
    text: str
    session_id: str | None
    """The session that it was recorded in; null if it was typed in."""
    message_id: str | None
    created_at: str | None
    updated_at: str | None


@answer
class Memories:
    """Texts remembered across sessions."""

    memories: list[Memory]


@answer
class Learnings:
    """Lessons learned across sessions."""

    learnings: list[Memory]


@answer
class Proposal:
    """A decision or refusal of a session's last turn that may be kept as a learning."""

    text: str
    session_id: str
    session_title: str
    message_id: str
    number: int
    """The message's number in its session."""
    at: str | None


@answer
class Proposals:
    """Learnings that are proposed."""

    proposals: list[Proposal]

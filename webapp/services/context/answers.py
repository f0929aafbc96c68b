"""Answers about the assembled context, memories and learnings."""

from __future__ import annotations

from typing import Any

from scoring.tokens import Certainty
from webapp.answers import answer


@answer
class ContextBudget:
    """The tokens that the next call may use, as shown."""

    window: int
    limit: int
    target_tokens: int
    output_reserve: int
    usable: int
    memory: int
    learnings: int


@answer
class TooLarge:
    """A context that exceeds what the model accepts, or what is usable of it."""

    tokens: int
    limit: int
    message: str


@answer
class ContextSummaries:
    """The summaries in an assembled context."""

    tokens: int
    left_out: list[str]
    """Summaries that do not fit."""


@answer
class Context:
    """The message list for the next call, in the wire format asked for."""

    messages: Any
    """The list; its shape is that of the format."""
    format: str
    key: str
    """The field of the request's body that the list belongs in."""
    envelope: dict[str, Any]
    """The other fields of the body that the session's list arrived in, for example `system` and `tools`."""
    tokens: int
    certainty: Certainty
    budget: ContextBudget
    over_budget: TooLarge | None
    left_out: list[str]
    """Messages that do not fit, by id."""
    oldest_included_message_id: str | None
    """The first message that is included, by id; null where none is."""
    newest_cut: bool
    """True where the newest message had to be cut."""
    raw_message_tokens: int
    """The tokens of the messages that are no summary."""
    tool_output_tokens: int
    """The tokens of tool outputs among them."""
    has_summary: bool
    """True where a summary is in the list."""
    summaries: ContextSummaries
    memories: int
    """Memories in the system prompt."""
    learnings: int
    """Learnings in the system prompt."""
    notes: list[str]
    """Repairs made so that the list is valid for its format."""
    version: int
    as_of: str | None
    """The time of the last change of the context."""


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

"""Answers about messages and plans."""

from __future__ import annotations

from typing import Any, Literal

from scoring.messages import Role
from scoring.models import PruneCost
from scoring.tokens import Certainty
from webapp.answers import answer
from webapp.services.session.answers import Region

Fate = Literal["kept", "protected", "goes", "shortened", "out", "pending"]


@answer
class Call:
    """A tool call in short."""

    name: str
    summary: str
    """The most telling argument."""


@answer
class Message:
    """One message of a list: its beginning, its score, and its fate in a plan."""

    id: str
    number: int
    """Its number in the session, from 1."""
    role: Role
    kind: str
    """"message", or another kind of entry that the agent wrote, for example "compaction_summary"."""
    text: str
    """The beginning of its text."""
    chars: int
    tokens: int
    tokens_after: int | None
    """Its tokens if the plan is applied, where it would be shortened."""
    score: float | None
    """From 0 to 100; null while there is no plan."""
    signals: dict[str, float]
    """The rating of each signal, from 0 to 1."""
    contributions: dict[str, float]
    """The points of the score from each signal."""
    unit: int
    """The number of the first message of its unit, which is kept or dropped together."""
    unit_size: int
    fate: Fate
    """"pending" while there is no plan; "out" when it is not in the context."""
    reason: str | None
    cause: str
    """The kind of the reason, a stable name."""
    pinned: bool
    drop_first: bool
    """The next prune drops it first."""
    shortened: bool
    """A shorter text replaces it in the context."""
    in_context: bool
    operation: int | None
    """The operation that took it out of the context."""
    at: str | None
    turn: int
    calls: list[Call]
    tool: str | None
    """The tool whose result it is."""
    is_error: bool
    media: int
    """The number of images and other media."""


@answer
class LogEntry:
    """An entry of the log that a message was read from."""

    seq: int
    id: str
    source_id: str | None
    """Its id in the agent's file."""


@answer
class MessageFull(Message):
    """One message with all its parts."""

    parts: list[dict[str, Any]]
    """Each has a `type`: text, reasoning, tool_call, tool_result, media or file. Empty fields are missing."""
    sent_parts: list[dict[str, Any]] | None
    """The parts that are sent instead, if it is shortened."""
    entries: list[LogEntry]


@answer
class Page:
    """A page of messages."""

    messages: list[Message]
    total: int
    """The messages of all pages."""
    next: str | None
    """The cursor of the next page; null on the last."""
    version: int
    """The session's version."""
    plan_id: str | None
    """The plan that was shown and gives the fates; null for the plan that would be made now."""
    pending: bool
    """True while there is no plan: scores and fates are missing."""
    counts: dict[str, int]
    """The messages of each fate; while pending, of those that need no plan."""
    tools: list[str]
    """The tools whose calls are in the context, the most used first; empty while pending."""


HeavyKind = Literal["file", "tool", "role", "repeated"]


@answer
class GroupMember:
    """A message of a group that a plan may take."""

    id: str
    number: int


@answer
class HeavyGroup:
    """Messages in the context that belong together."""

    kind: HeavyKind
    """A file, a tool, a role (its messages without calls and results), or outputs that a plan may clear as repeated."""
    name: str
    """The path as the agent wrote it, the tool, or the role; empty for repeated outputs."""
    tokens: int
    messages: int
    reads: int
    """The results in which the file was read; 0 for other kinds."""
    writes: int
    """The calls that wrote the whole file."""
    edits: int
    """The calls that changed a part of it; 0 if the settings do without the contents of messages."""
    superseded: int
    """The reads that a plan may clear because a later read or write of the file supersedes them."""
    superseded_tokens: int
    removable: int
    """The messages of it that a plan may take: neither pinned nor of the system."""


@answer
class Heaviest:
    """The heaviest files, tools, roles and repeated outputs in the context, each kind by tokens."""

    tokens: int
    """The size of the context that the groups are parts of; a message may be in several."""
    certainty: Certainty
    groups: list[HeavyGroup]


@answer
class GroupMembers:
    """The heaviest 500 messages of a group that a plan may take, by number."""

    members: list[GroupMember]


@answer
class Archive:
    """Messages that are not in the context, newest first."""

    messages: list[Message]


@answer
class Fill:
    """The size of a context before or after a plan."""

    tokens: int
    utilization: float
    """Percent of the limit, not capped at 100."""
    messages: int
    """Messages and summaries in it."""


@answer
class PlannedSummary:
    """A summary that a plan asks for, before it is written."""

    messages: int
    """The messages that it covers."""
    first: int
    """The number of the first of them."""
    last: int
    covered_tokens: int
    most_tokens: int
    """The most tokens that it may take."""
    absorbed_tokens: int
    """Tokens of earlier summaries that it replaces."""
    by_model: bool


@answer
class OverBudget:
    """The protected messages take more than the budget."""

    protected_tokens: int
    max_tokens: int
    message: str
    usable: int
    """The tokens that the model accepts besides its answer."""
    emergency: bool
    """True where the context exceeds them and they have room for messages, so that the emergency path is offered."""


@answer
class PlanGroup:
    """The messages that a plan drops or shortens for one reason."""

    cause: str
    label: str
    fate: Literal["goes", "shortened"]
    messages: int
    tokens: int
    """The tokens that they free."""


@answer
class Kept:
    """A message that a plan keeps."""

    id: str
    number: int
    fate: str
    reason: str | None
    tokens: int
    score: float


@answer
class Plan:
    """A prune that is not applied yet: its effect and its reasons.

    It is kept in memory and becomes stale when the session, its settings or its limits change.
    """

    plan_id: str
    session_id: str
    version: int
    """The session's version."""
    strategy: str
    preset: str
    weights: dict[str, float]
    """The points that each signal could give in this plan."""
    weights_of: str | None
    """The task type whose own weights these are; null for the common ones."""
    fresh_tail: int
    """The newest messages that are never pruned."""
    own_settings: list[str]
    """The names of the session's own settings."""
    max_tokens: int
    aim_tokens: int
    """The aim with these settings: `max_tokens`, unless another number was asked for."""
    limit: int
    before: Fill
    after: Fill
    regions_after: list[Region]
    """The regions afterwards; they add up to `after.tokens`."""
    removed_count: int
    removed_units: int
    shortened_count: int
    summary: PlannedSummary | None
    freed: int
    over_budget: OverBudget | None
    nothing_to_do: str | None
    """The reason the plan changes nothing, if it does not."""
    groups: list[PlanGroup]
    removed: list[Message]
    """The first 500 of them."""
    shortened: list[Message]
    """The first 500 of them."""
    kept: list[Kept]
    """The last 500 of them."""
    cache: PruneCost
    """The effect on the provider's prompt cache."""
    changed: int | None
    """Messages whose fate differs from that with the saved settings, if asked to compare."""

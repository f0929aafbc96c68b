"""Answers about the list of sessions, the status of one, and searches."""

from __future__ import annotations

from typing import Literal

from scoring.messages import Role
from webapp.answers import answer
from webapp.services.session.answers import Region, Session
from webapp.store.operations import OperationKind


@answer
class Sessions:
    """A list of sessions, or one page of it."""

    sessions: list[Session]
    total: int
    """The sessions of all pages."""
    next: str | None
    """The `after` of the next page; null on the last one."""


@answer
class SubAgentCost:
    """The cost of a session's sub-agents, at any depth."""

    sessions: int
    """Sub-agents that made a call."""
    calls: int
    unreported: int
    """Their calls whose usage nobody reported."""
    spent: float | None
    """The price of `calls`; null if none is known."""
    spent_at_least: bool


@answer
class Cost:
    """The cost of a session in US dollars at list prices."""

    per_call: float | None
    """The input of one call with the context as it is, none of it cached; null if the present model has no known
    price, while earlier calls of other models, or those of sub-agents, have one."""
    per_call_cached: float | None
    """The same with all of it read from the provider's cache."""
    at_least: bool
    """True where the provider charges more for so long a context."""
    free: bool
    """True for a local model, and one that is offered without a price."""
    calls: int
    """Calls so far whose usage was reported."""
    unreported: int
    """Calls so far whose usage nobody reported; they are not part of `calls` and `spent`."""
    spent: float | None
    """The price of all calls so far, each by its own model; null if none is known. The calls of its parent that a fork
    repeats are not part of it, where its transcript marks them."""
    spent_at_least: bool
    """True if the real price is higher or not known: a long context, an answer whose size was reported in part, a call
    without price or without reported usage, such as one that wrote the summary of an agent's own compaction. An
    agent's suggestions and side questions, which it writes to files of their own, are never counted."""
    sub_agents: SubAgentCost | None
    """The calls of the session's sub-agents, not part of `spent`; null where they made none."""
    currency: str


@answer
class WindowMeans:
    """The mean of windows of model calls: things done again that had been done before the window, once each."""

    windows: int
    files: float
    """Files of which lines were read again, without those that the agent had just written."""
    commands: float
    """Commands and searches made again with nothing changed since the window began."""
    errors: float
    """Outputs with an error that had been met before."""
    said: float
    """Messages of the user that repeat earlier ones."""
    tokens: int | None
    """Estimated tokens that came before the first call with new work; null where none of the windows has any."""


@answer
class EventCount:
    """The number of events of one kind."""

    kind: str
    """compaction or clearing by the agent, prune or summary by Coppice, or resume."""
    events: int


@answer
class Aftermaths:
    """The calls after compactions, clearings, prunes and resumes of all sessions, beside others (X25).

    Nothing of it says that an event caused what was done again.
    """

    kinds: list[EventCount]
    calls: int
    """The most model calls of a window; the next event ends it, too."""
    events: WindowMeans
    """The windows after the events."""
    compared: WindowMeans | None
    """Those of sessions that have stretches of calls without an event; null where none has."""
    elsewhere: WindowMeans | None
    """The same as those stretches lead to expect of as many calls; null where none has."""


@answer
class EventAftermath:
    """The model calls after one event, and what was done again in them (X25)."""

    seen: bool
    """False for a prune of which the agent's own calls showed nothing; then nothing is counted."""
    files: int
    commands: int
    errors: int
    said: int
    tokens: int | None
    """Estimated tokens that came before the first call with new work; null while there is none."""
    calls: int
    """The model calls that were counted."""
    complete: bool
    """False while more calls belong to the window."""


@answer
class Savings:
    """The tokens that prunes, summaries and drops kept out of later calls, over all sessions."""

    tokens: int
    """For each call the tokens by which its context was smaller, without those that had come back before it."""
    calls: int
    sessions: int
    """Sessions that were pruned and made a call since, including pruned copies."""
    of_sessions: int
    """All sessions."""
    out: int
    """Tokens that are out of contexts now, whether or not a call was made since."""
    amount: float | None
    """The price of these tokens read from the provider's cache; null where no price is known."""
    at_least: bool
    """True where the price of some of them is not known."""
    currency: str
    aftermath: Aftermaths | None
    """The real outcomes beside the savings; null before the first."""


@answer
class Parent:
    """The session that a sub-agent belongs to."""

    id: str
    title: str


@answer
class Trigger:
    """One trigger of a summary as a bar."""

    name: str
    value: int
    limit: int
    percent: float | None
    """Null if summaries are made on request only: nothing happens at the limit."""
    text: str


@answer
class Due:
    """The trigger that makes a summary due, and the reason."""

    cause: str | None
    reason: str


@answer
class LastSummary:
    """The newest summary in the context."""

    id: int
    messages: int
    tokens: int
    at: str
    text: str


@answer
class AgentSummary:
    """The newest summary in the context that the agent itself wrote when it compacted."""

    number: int
    """Its message's number in the session."""
    tokens: int
    at: str | None


@answer
class Status:
    """The status view of a session (S7)."""

    triggers: list[Trigger]
    due: Due
    running: bool
    """True while a summary is being made."""
    nothing_to_summarise: str
    """The reason why there is nothing to summarise now; empty if older messages than the newest ones are there."""
    auto_summarize: bool
    made: str
    """The occasions on which a summary is made, in words."""
    last_summary: LastSummary | None
    agent_summary: AgentSummary | None
    """Null also where `last_summary` covers it."""
    tool_tokens: int
    """Tokens of the tool definitions; those that no transcript contains are in `unseen_tokens`."""
    tool_count: int | None
    """Null if a transcript does not contain the tool definitions."""
    unseen_tokens: int
    """Tokens of every call that are not in the transcript: the agent's own prompt and tool definitions."""
    available: int
    line: str
    show_line: bool
    """True where the settings ask for the line at each appended turn."""


@answer
class Copy:
    """A pruned copy of a session, from which its agent resumes, with the expected and the real saving (X22)."""

    session_id: str
    title: str
    origin_id: str
    origin_title: str | None
    """Null where the origin was deleted."""
    at: str
    tokens_before: int
    """Tokens in the origin's context when the copy was made."""
    tokens_promised: int
    """Tokens that the copy's context should have."""
    tokens_first_call: int | None
    """The real input of the copy's first call, the next message included; null before it."""


@answer
class SessionSize:
    """The size of a session's context, in all and by region (B11)."""

    session: Session
    items: int
    """Messages and summaries in it."""
    tokens: int
    limit: int
    utilizationPercent: float  # noqa: N815  # the name is part of the interface
    needsPruning: bool  # noqa: N815  # the name is part of the interface
    regions: list[Region]
    cost: Cost | None
    parent: Parent | None
    """The session that started this one; null if it has no messages, or was deleted."""
    copy_of: Copy | None
    """The session that this one is a pruned copy of."""
    copies: list[Copy]
    """The pruned copies made of the session, newest first."""
    as_of: str


@answer
class Stats(SessionSize, Status):
    """The size of a session's context, with its triggers."""


@answer
class Cause:
    """The message behind a step of the chart, the largest since the previous point."""

    number: int
    label: str
    """A few words: "Read spec.md", or its role."""
    tokens: int


@answer
class Point:
    """The size of a session after one message."""

    at: str | None
    number: int
    agent: int | None
    pruned: int
    regions: list[int]
    """The tokens of each region of the agent's context, or of the only one, in the order of `Timeline.regions`."""
    cause: Cause | None
    """The largest message since the previous point; null if none came."""


@answer
class TimelineChange:
    """A change of the context by an operation, or by the undo of one, for the chart."""

    at: str | None
    number: int | None
    kind: Literal[OperationKind, "undo", "resume"]
    before: int
    after: int
    label: str
    aftermath: EventAftermath | None
    """The calls after it; null where nothing was counted, as after an undo or before the next call."""


@answer
class Timeline:
    """Tokens over time, and what happened to the context."""

    points: list[Point]
    regions: list[str]
    """The names of the regions that the points have, in the order in which they are stacked."""
    changes: list[TimelineChange]
    elsewhere: WindowMeans | None
    """The session's stretches of calls without an event; null where there are none to compare with."""
    window_calls: int
    """The model calls of such a stretch, and the most after an event."""
    limit: int
    target: int


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
    """The messages of this page, at most 100."""
    next: int | None
    """The `after` of the next page; null on the last one."""


@answer
class RetentionLimits:
    """Limits on sessions; null for none."""

    days: int | None
    """Sessions that were not used for so many days are deleted."""
    size_mib: int | None
    """The logs of all sessions may take so many MiB; those unused for longest are deleted beyond it."""
    user_size_mib: int | None
    """The same for the sessions of each user."""


@answer
class SessionToDelete:
    """A session that the limits select, with its sub-agents."""

    id: str
    title: str
    user: str | None
    last_activity: str | None
    sessions: int
    """Itself and its sub-agents."""
    bytes: int
    reason: Literal["age", "size", "user_size"]
    """The limit that selects it."""


@answer
class Retention:
    """The limits on sessions, and what they delete."""

    limits: RetentionLimits
    sessions: int
    """Sessions to delete, sub-agents included."""
    bytes: int
    used_before: str | None
    """The latest activity of any of them; null if there are none."""
    next_at: str | None
    """The next time the limits are applied; null without limits, or for limits that are not stored."""
    text: str
    """All of that in a sentence."""
    named: list[SessionToDelete]
    """The first 200 of them, those unused for longest first."""

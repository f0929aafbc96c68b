"""The shapes of what we answer, for the OpenAPI document and the tests that hold the answers against it.

Services make plain dicts; nothing is converted on the way out. A shape names what a client may rely on; more fields
may come.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Json = dict[str, Any]
TaskType = Literal["any", "coding", "support", "research", "chat"]
Fate = Literal["kept", "protected", "goes", "shortened", "out", "pending"]


class Shape(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(extra="allow")


class Region(Shape):
    """One part of a context."""

    name: str
    tokens: int
    certainty: Literal["exact", "calibrated", "estimated"]


class Gauge(Shape):
    """How full a context is; `utilization` in percent, not capped. The regions add up to `tokens`."""

    tokens: int
    utilization: float
    certainty: Literal["exact", "calibrated", "estimated"]
    messages: int
    regions: list[Region]


class Looks(Shape):
    """What a session looks like, "any" for none of the task types, and by which facts."""

    name: TaskType
    reason: str


class SessionType(Shape):
    """The task type that a session is treated as (`name`), and why. `setting` is what the settings in force say, "auto"
    for what it looks like; `own` says that these are the session's.
    """

    name: TaskType
    setting: Literal["any", "auto", "coding", "support", "research", "chat"]
    own: bool
    reason: str
    looks_like: Looks


class SessionStrategy(Shape):
    """How a session's units are chosen: by the session's `own` strategy, else by that of the settings."""

    name: str
    own: str | None
    setting: str


class Session(Shape):
    """One session with its figures. `limit` is what utilization divides by."""

    id: str
    title: str | None
    source: str
    source_label: str
    kind: Literal["followed", "managed"]
    model: str | None
    model_known: bool
    parent_id: str | None
    state: Literal["idle", "active", "warning"]
    activity: Literal["working", "waiting", "idle", "stale", "ended"]
    window: int
    limit: int
    target_percent: float
    target_tokens: int
    aim_tokens: int
    agent: Gauge | None
    pruned: Gauge
    prunes: int
    messages: int
    turns: int
    created_at: str | None
    last_activity: str | None
    automatic: bool
    task_type: SessionType
    strategy: SessionStrategy
    trend: list[float]
    version: int


class Sessions(Shape):
    """A list of sessions."""

    sessions: list[Session]


class Cost(Shape):
    """What a session costs in US dollars at list prices: the input of a call with the context as it is, new
    (`per_call`) and from the cache; and all calls so far. `at_least`: the provider charges more for so long a context.
    """

    per_call: float
    per_call_cached: float
    at_least: bool
    calls: int
    spent: float | None
    currency: str


class Stats(Shape):
    """How full a session's context is, for whoever asks about itself.

    `parent` is the session that a sub-agent belongs to, its `id` and `title`, null where there is none to look at.
    """

    session: Session
    items: int
    tokens: int
    limit: int
    utilizationPercent: float  # noqa: N815  # the name is part of the interface
    needsPruning: bool  # noqa: N815  # the name is part of the interface
    regions: list[Region]
    cost: Cost | None
    parent: Json | None
    as_of: str


class Message(Shape):
    """One row of the list: what it says in short, what it scores and what would become of it.

    `tokens_after` is what it would take where it would be shortened.
    """

    id: str
    number: int
    role: Literal["system", "user", "assistant", "tool"]
    text: str
    chars: int
    tokens: int
    tokens_after: int | None
    score: float | None
    fate: Fate
    reason: str | None
    pinned: bool
    in_context: bool
    shortened: bool
    at: str | None
    turn: int


class MessageFull(Message):
    """One message with all its parts; `stands` is what stands for them in the context where it was shortened."""

    parts: list[Json]
    stands: list[Json] | None


class Page(Shape):
    """Some messages. `next` is the cursor of the page after this one, null on the last.

    `plan_id` is the plan whose fates they have, null for the plan that would be made now; where `pending`, there is
    none yet, and `counts` has only what needs none.
    """

    messages: list[Message]
    total: int
    next: str | int | None
    version: int
    plan_id: str | None
    pending: bool
    counts: dict[str, int]


class Fill(Shape):
    """A context before or after a plan."""

    tokens: int
    utilization: float
    messages: int


class Plan(Shape):
    """What a prune would do, and why. Stored nowhere but in memory; stale once the session, its settings or its
    limits change.

    `regions_after` are the regions of the context as it would be, and add up to `after.tokens`.
    """

    plan_id: str
    session_id: str
    version: int
    strategy: str
    max_tokens: int
    before: Fill
    after: Fill
    regions_after: list[Region]
    removed_count: int
    shortened_count: int
    freed: int
    summary: Json | None
    over_budget: Json | None
    nothing_to_do: str | None
    groups: list[Json]
    removed: list[Message]
    shortened: list[Message]
    kept: list[Json]
    cache: Json


class Operation(Shape):
    """Something that changed the context. `undoes_also` are the later operations that an undo takes along.

    `messages` counts all that it changed; of these so many were `removed` from the context, or `shortened` in it,
    both null in operations of earlier versions.
    """

    n: int
    kind: str
    actor: str
    reason: str | None
    at: str
    tokens_before: int
    tokens_after: int
    messages: int
    removed: int | None
    shortened: int | None
    freed: int
    undone_at: str | None
    undoable: bool
    undoes_also: list[int]


class OperationFull(Operation):
    """One operation with each message that it changed."""

    items: list[Json]


class Operations(Shape):
    """The history of a session's context."""

    operations: list[Operation]


class Applied(Shape):
    """An operation that was done. `event` holds what `context:pruned` carried."""

    operation: Operation
    session: Session
    message: str


class Undone(Shape):
    """What an undo took back."""

    undone: list[int]
    restored_ids: list[str]
    session: Session
    message: str


class Appended(Shape):
    """The ids of the messages that were sent, how full the context is now, and the prune if one was automatic."""

    ids: list[str]
    added: int
    stats: Json
    prune: Applied | None


class Context(Shape):
    """The list for the next call in the wire format asked for, with its estimate and what it may use."""

    messages: list[Any] | Json
    format: str
    tokens: int
    over_budget: Any = None
    notes: list[str]
    as_of: str


class Timeline(Shape):
    """Tokens over time, with what happened to the context."""

    points: list[Json]
    marks: list[Json]
    limit: int
    target: int


class Archive(Shape):
    """Messages that are out of the context."""

    messages: list[Message]


class Imported(Shape):
    """What became of a file: one entry a session, with what could not be read and where."""

    imported: list[Json]

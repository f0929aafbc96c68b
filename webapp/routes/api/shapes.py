"""The shapes of what we answer, for the OpenAPI document and the tests that hold the answers against it.

Services make plain dicts; nothing is converted on the way out. A shape names what a client may rely on; more fields
may come.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from webapp.services.session.answers import Region

Json = dict[str, Any]
TaskType = Literal["any", "coding", "support", "research", "chat"]
Fate = Literal["kept", "protected", "goes", "shortened", "out", "pending"]


class Shape(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(extra="allow")


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


class Archive(Shape):
    """Messages that are out of the context."""

    messages: list[Message]


class Imported(Shape):
    """What became of a file: one entry a session, with what could not be read and where."""

    imported: list[Json]

"""Events: frozen values, published after the commit of the change that they name.

Their docstrings are their documentation, from which `docs/events.md` is generated; `webapp.live.notices` turns events
into messages for browsers. An event has the fields by which a listener decides to act; it reads everything else itself.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""


@dataclass(frozen=True, slots=True)
class SessionCreated(Event):
    """A session was created, with the id `session_id`."""

    session_id: str


@dataclass(frozen=True, slots=True)
class SessionUpdated(Event):
    """The session's row changed: title, model, limits, sizes or notes."""

    session_id: str


@dataclass(frozen=True, slots=True)
class SessionJudged(Event):
    """The price of a plan became known and changed the verdict on the session. Nothing else changed."""

    session_id: str


@dataclass(frozen=True, slots=True)
class CacheExpired(Event):
    """The provider's cache of the session has expired because no call came in time. A prune costs nothing extra now."""

    session_id: str


@dataclass(frozen=True, slots=True)
class SessionDeleted(Event):
    """The session and its log were deleted."""

    session_id: str


@dataclass(frozen=True, slots=True)
class MessagesAppended(Event):
    """Messages were added to the log, or got more parts. `message_nos` are their numbers, ascending; after a large
    import only the last 200. `count` is the number of messages; `grown` of them were in the log before.
    """

    session_id: str
    message_nos: tuple[int, ...]
    count: int = 0
    grown: int = 0


@dataclass(frozen=True, slots=True)
class ContextPruned(Event):
    """A prune was applied, or single messages were dropped by hand: `kind` is prune or drop. `n` is the operation's
    number, `reason` manual, automatic or emergency; `original` and `final` are tokens of the context before and after,
    `removed` counts the removed messages and `removed_ids` names them; `shortened` counts the shortened ones,
    `summarised` the removed ones that a summary covers; `utilization` is the percentage afterwards. `estimated` says
    that the tokens of messages are estimates; only the notice for people shows it.
    """

    name: ClassVar = "context:pruned"
    session_id: str
    n: int
    reason: str
    original: int
    final: int
    removed: int
    removed_ids: tuple[str, ...]
    utilization: float
    shortened: int = 0
    summarised: int = 0
    kind: str = "prune"
    estimated: bool = False

    def payload(self) -> dict[str, Any]:
        """Return the event as pages and webhooks get it, under its `name` (B14)."""
        return {
            "session_id": self.session_id,
            "prune_id": self.n,
            "kind": self.kind,
            "reason": self.reason,
            "original": self.original,
            "final": self.final,
            "removed": self.removed,
            "removed_ids": list(self.removed_ids),
            "shortened": self.shortened,
            "summarised": self.summarised,
            "tokenReduction": self.original - self.final,
            "utilization": self.utilization,
        }


@dataclass(frozen=True, slots=True)
class ContextRestored(Event):
    """The messages `message_ids` are in the context again. `n` is the operation that was undone, None if they were
    restored by hand.
    """

    session_id: str
    n: int | None
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextSummarized(Event):
    """A summary was put into the context. `summary_id` names it, `summarized` and `kept` count messages, `summary` is
    its text.
    """

    name: ClassVar = "context:summarized"
    session_id: str
    summary_id: str
    summarized: int
    kept: int
    summary: str

    def payload(self) -> dict[str, object]:
        """Return the event as pages and webhooks get it, under its `name` (B14)."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class TargetCrossed(Event):
    """An append brought the context above its target. `tokens` is its size, `target_tokens` the target and `limit` what
    the model takes, all in tokens; `utilization` is the size in percent of the limit. Published once per
    crossing, and not for a session that was last active long ago, such as an imported one.
    """

    name: ClassVar = "session:above_target"
    session_id: str
    tokens: int
    target_tokens: int
    limit: int
    utilization: float

    def payload(self) -> dict[str, object]:
        """Return the event as pages and webhooks get it, under its `name`."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class OperationUndone(Event):
    """The operations with these `numbers` were undone, newest first."""

    session_id: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SettingsChanged(Event):
    """The settings for all sessions, or the limits on their age and size, were replaced."""


@dataclass(frozen=True, slots=True)
class ModelsChanged(Event):
    """A row of the model table was overridden, or its override removed."""


@dataclass(frozen=True, slots=True)
class WebhooksChanged(Event):
    """A webhook was added, changed or removed, or a delivery was attempted."""


@dataclass(frozen=True, slots=True)
class MemoriesChanged(Event):
    """A memory or learning was added, changed or deleted, or a proposed learning was dismissed or is proposed again."""


@dataclass(frozen=True, slots=True)
class ImportProgressed(Event):
    """An uploaded file with this `name` is being read: `done` of its `size` bytes so far. Published a few times a
    second, only for files that take longer than that.
    """

    name: str
    done: int
    size: int


@dataclass(frozen=True, slots=True)
class ProblemReported(Event):
    """Something could not be read or done, and everything else continued. `session_id` is None if no session is
    affected. `failed` means that nothing was done; pages then get `toast:error`.
    """

    session_id: str | None
    message: str
    failed: bool = False

"""Answers about prunes, undo and the emergency path."""

from __future__ import annotations

from webapp.answers import answer
from webapp.services.planning.answers import Message
from webapp.services.session.answers import Applied, Operation, Region, Session


@answer
class Operations:
    """The operations on a session's context, newest first."""

    operations: list[Operation]


@answer
class OperationItem(Message):
    """A message as an operation changed it."""

    change: str
    """"out", "in", "shortened", "pinned" or another name of the change."""


@answer
class OperationFull(Operation):
    """One operation with each message that it changed, and what the context held before and after."""

    items: list[OperationItem]
    regions_before: list[Region] | None
    """The regions before it, of the context that `tokens_before` measures; null in operations of earlier versions."""
    regions_after: list[Region] | None


@answer
class Undone:
    """The operations that an undo took back."""

    undone: list[int]
    restored_ids: list[str]
    """The messages that are in the context again."""
    session: Session
    message: str


@answer
class Emergency:
    """The changes that the emergency path made so that the context fits."""

    dropped: int
    """Messages taken out."""
    images: int
    """Messages whose images were taken out."""
    shortened: int
    cut_protected: bool
    """True where even protected messages had to be cut."""
    note: str
    available: int
    """Tokens that were left for messages, as the estimator counts them."""


@answer
class Relieved(Applied):
    """An emergency prune that was carried out."""

    emergency: Emergency

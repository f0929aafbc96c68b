"""Answers to appends."""

from __future__ import annotations

from typing import Any, Literal

from scoring.tokens import Certainty
from webapp.answers import answer
from webapp.services.session.answers import Applied, State


@answer
class BriefStats:
    """The size of the context after an append."""

    tokens: int
    utilization: float
    """Percent of `limit`, with one decimal, not capped at 100."""
    certainty: Certainty
    messages: int
    limit: int
    needsPruning: bool  # noqa: N815  # the name is part of the interface
    """True above the target."""
    state: State


@answer
class Appended:
    """The messages that an append added, and the size of the context afterwards."""

    ids: list[str]
    """The new messages."""
    added: int
    stats: BriefStats
    prune: Applied | None
    """The automatic prune that the append caused."""
    line: str | None = None
    """The context in one line, if the settings ask for it (`status_line`)."""


@answer
class StoredPosition:
    """The position in a followed file of another machine, as the server stored it."""

    key: str
    """The file, as its machine names it."""
    position: dict[str, Any]
    """Empty at the start of the file."""


@answer
class StoredPositions:
    """The files whose stored position is not the sender's."""

    positions: list[StoredPosition]


@answer
class Pushed:
    """The outcome of a push."""

    state: Literal["taken", "known", "behind", "deleted"]
    """`known`: it was taken before; `behind`: nothing was taken, because lines before it are missing here;
    `deleted`: nothing was taken, because the session was deleted."""
    added: int
    """Messages that are new."""
    position: dict[str, Any] | None
    """The stored position, to continue from, where the state is `behind`; null otherwise."""

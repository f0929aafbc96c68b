"""Tokens that an agent sends without writing them down, or writes and does not send: none, where no rules are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from scoring.tokens import TokenCounter
from webapp.agents.records import Entry


@dataclass(slots=True)
class Unwritten:
    """Counters of one session, small and JSON-able. An agent with rules of its own extends it.

    `call` is the call being answered, `asked` the tokens it brought besides the messages, `unreported` those that came
    so far with calls that report no usage.
    """

    call: str = ""
    asked: int = 0
    unreported: int = 0

    def version(self, version: str) -> None:
        """Note the version of the agent that writes."""

    def take(self, entry: Entry, counter: TokenCounter, factor: float) -> None:
        """Take one more row, in order of arrival. `counter` counts as the session's model does, by `factor`."""

    def waiting(self, factor: float) -> int:  # noqa: ARG002
        """Return the tokens that come with the next call and are in no row, less those in a row that do not come."""
        return 0

    def compacted(self) -> None:
        """Start counting again: the agent replaced its context."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | None) -> Self:
        """Return what `to_dict` wrote; unknown keys are ignored."""
        return cls(**{k: v for k, v in (data or {}).items() if k in cls.__dataclass_fields__})

"""Tokens that an agent sends without writing them, or writes without sending them; by default none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from scoring.tokens import TokenCounter
from webapp.agents.records import Entry

# The names of fields in earlier versions, with those of today.
EARLIER_NAMES = {"told": "recorded"}


@dataclass(slots=True)
class Unwritten:
    """Counters of one session, small and JSON-ready. An agent with rules of its own extends it.

    `call` is the call being answered, `asked` its tokens besides the messages, `unreported` such tokens of calls so far
    that report no usage.
    """

    call: str = ""
    asked: int = 0
    unreported: int = 0

    def version(self, version: str) -> None:
        """Note the version of the agent that writes."""

    def take(self, entry: Entry, counter: TokenCounter, factor: float) -> None:
        """Take one more row, in order of arrival. `counter` counts as the session's model does, by `factor`."""

    def waiting(self, factor: float) -> int:  # noqa: ARG002
        """Return the tokens of the next call that are in no row, less those in rows that are not sent."""
        return 0

    def compacted(self) -> None:
        """Start counting again: the agent replaced its context."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | None) -> Self:
        """Return what `to_dict` wrote; unknown keys are ignored."""
        named = ((EARLIER_NAMES.get(k, k), v) for k, v in (data or {}).items())
        return cls(**{k: v for k, v in named if k in cls.__dataclass_fields__})

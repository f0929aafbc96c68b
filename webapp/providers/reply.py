"""Replies of a model: a text with its usage and cost, or a failure as a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scoring.models import CallTokens, ModelLimits, spent

Kind = Literal[
    "unreachable",
    "timeout",
    "refused",
    "overloaded",
    "malformed",
    "cut_off",
    "stopped",
    "empty",
    "cancelled",
    "closed",
]
# Failures after which the same request may succeed in a moment.
TEMPORARY: frozenset[str] = frozenset({"unreachable", "overloaded", "cut_off"})


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them; `cached_tokens` is the part of the input that came from its cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def plus(self, other: Usage) -> Usage:
        """Return the sum of both."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )

    def cost(self, prices: ModelLimits) -> float | None:
        """Return the cost in US dollars; None if the model's prices are unknown."""
        price = spent([(CallTokens(self.input_tokens, self.output_tokens, self.cached_tokens), prices)])
        return None if price is None else price.amount


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason there is no answer. `wait_seconds` is the wait that the provider asks for, None if it does not."""

    kind: Kind
    message: str
    wait_seconds: float | None = None

    @property
    def is_temporary(self) -> bool:
        """Return whether a retry may help."""
        return self.kind in TEMPORARY


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer, or its failure. `usage` covers all attempts, failed ones included."""

    text: str = ""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    failure: Failure | None = None

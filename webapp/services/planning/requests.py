"""Requests for plans and prunes, as routes, the live gateway and automatic pruning pass them on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A request for a plan.

    `settings` are tried on top of the session's; `compare` adds what they change, `brief` leaves the lists of messages
    empty.

    `spare`, `drop` and `shorten` are message ids. `max_tokens` is in tokens as shown; None takes the session's aim.
    """

    max_tokens: int | None = None
    strategy: str | None = None
    settings: Mapping[str, Any] | None = None
    spare: Sequence[str] = ()
    drop: Sequence[str] = ()
    shorten: Sequence[str] = ()
    compare: bool = False
    brief: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneRequest:
    """A request for a prune: the plan shown under `plan_id`, or one made now."""

    plan_id: str | None = None
    max_tokens: int | None = None
    strategy: str | None = None

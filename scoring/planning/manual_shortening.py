"""Shortening by hand, on top of a plan: outputs keep their head, their tail and every error line.

The plan is made first, so that what it keeps does not depend on what is shortened by hand. Messages that the plan
drops or shortens itself stay as the plan has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scoring.messages import Message
from scoring.planning.plan import PrunePlan
from scoring.planning.strategies import Shortening, Why
from scoring.summary import shortened
from scoring.tokens import TokenCounter, estimate_message_tokens

WHY = Why("shortened_by_hand", "shortened: by you, to its beginning, its end and every line of an error")


def shortening(message: Message, counter: TokenCounter | None = None) -> Shortening | None:
    """Return the shortening of a message by hand; None if none of its outputs becomes shorter."""
    short = shortened(message)
    if short is message:
        return None
    return Shortening(estimate_message_tokens(short, counter), shortened, why=lambda: WHY)


def with_shortened(
    plan: PrunePlan, shortenings: Mapping[int, Shortening], tokens: Sequence[int]
) -> PrunePlan:
    """Return the plan with these shortenings of messages that it keeps whole; `tokens` are all costs."""
    kept = frozenset(plan.kept)
    more = {p: s for p, s in shortenings.items() if p in kept and s.tokens < tokens[p]}
    if not more:
        return plan
    return replace(
        plan,
        kept=tuple(p for p in plan.kept if p not in more),
        shortened=tuple(sorted((*plan.shortened, *more))),
        shortenings={**plan.shortenings, **more},
        tokens_after=plan.tokens_after - sum(tokens[p] - s.tokens for p, s in more.items()),
    )

"""Summarise: one summary replaces as many of the oldest units as necessary; newer ones stay as they are.

Recent messages, calls without a result and protected units are never covered. Earlier summaries are merged into the new
one. The size of a summary is not known before it is written, so its maximum is reserved, and its writer stays within
that. If a summary alone does not free enough, or there is too little to cover, units are dropped by score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scoring.budget import LEAST_TO_COVER, share_of
from scoring.messages import waiting
from scoring.planning.strategies import score
from scoring.planning.strategies.contract import Choice, Cover, StrategyInput, Why

# Summaries of real sessions took 2.2 to 4.4 tokens for each word written (paths and values take many), and never more
# than 3.3 for each word allowed. So a summary is cut to its reserve only if it is denser than all of those.
TOKENS_PER_WORD = 4
# Below this the five headings alone would fill it.
LEAST_SUMMARY = 120
# A summary that takes more than this share of what it covers frees too little.
MOST_OF_COVERED = 0.5


def choose(given: StrategyInput) -> Choice:
    """Let a summary cover the oldest units, and keep those of the others that fit."""
    cover = _cover(given)
    if cover is None:
        return _by_score(given, "there is too little to summarise")
    costs = given.history.unit_tokens
    rest = [head for head in given.candidates if head not in cover.heads]
    room = given.room + cover.absorbed - cover.tokens
    if sum([costs[head] for head in rest]) <= room:
        kept = Choice(rest, lambda _: Why("newer", "kept: newer than what the summary covers"))
    else:
        beside = StrategyInput(given.history, given.settings, rest, room, given.protected)
        kept = _by_score(beside, "the summary alone did not suffice")
    why = _covered_reason(given, cover)
    return Choice(
        kept.kept,
        lambda head: why if head in cover.heads else kept.explain(head),
        scores=kept.scores,
        cover=cover,
    )


def _cover(given: StrategyInput) -> Cover | None:
    """Return the oldest units, until the rest fits beside their summary; None if that is not worth it."""
    rules = given.settings
    history, costs, room = given.history, given.history.unit_tokens, given.room + given.history.summary_tokens
    whole = room + sum([costs[head] for head in given.protected])
    most = min(rules.summary_words * TOKENS_PER_WORD, share_of(whole, rules.summary_percent), room)
    left = sum([costs[head] for head in given.candidates])
    heads: list[int] = []
    covered = messages = tokens = 0
    for head in _before_the_recent(given, rules.min_recent_messages):
        heads.append(head)
        covered += costs[head]
        messages += len(history.unit(head))
        tokens = min(most, int(covered * MOST_OF_COVERED))
        if messages >= LEAST_TO_COVER and left - covered + tokens <= room:
            break
    if messages < LEAST_TO_COVER or tokens < LEAST_SUMMARY:
        return None
    return Cover(frozenset(heads), tokens, history.summary_tokens)


def _before_the_recent(given: StrategyInput, least: int) -> Sequence[int]:
    """Return the candidates, in order, that do not wait for a result and hold none of the recent messages."""
    history = given.history
    spoken = [n for n, role in enumerate(history.roles) if role != "system"]
    stay = {*spoken[max(0, len(spoken) - max(1, least)) :], *waiting(history.features)}
    heads = {history.units.head[n] for n in stay}
    return [head for head in given.candidates if head not in heads]


def _by_score(given: StrategyInput, because: str) -> Choice:
    """Return the choice by score; the reason of a dropped unit adds `because`: why a summary did not cover it."""
    choice = score.choose(given)
    explain: Callable[[int], Why] = choice.explain

    def why(head: int) -> Why:
        cause, reason = explain(head)
        return Why(cause, f"{reason}; {because}" if reason.startswith("dropped") else reason)

    return Choice(choice.kept, why, scores=choice.scores)


def _covered_reason(given: StrategyInput, cover: Cover) -> Why:
    """Return the reason of each message that the summary covers."""
    history = given.history
    covered = [p for head in cover.heads for p in history.unit(head)]
    first, last = history.number(min(covered)), history.number(max(covered))
    return Why("summarised", f"summarised: covered by the summary of messages {first}-{last}")

"""Relevance: how many words a message shares with a short last question.

BM25 on stems, spread over the neighbours, because evidence lies in passages. The sums are not scaled to the best
message: "yes, go ahead" shares no telling word with any message, so nothing becomes relevant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from scoring.signals.contract import Messages, Options, Signal

QUESTION_WORDS = 60  # a longer last message is a task, not a question
# Relevance counts so many times where a question ends a conversation without tools (the next act is to answer from
# what was said); once where it ends an agent's session; and less where the last message asks nothing.
IN_CHAT, IN_WORK, UNASKED = 8.0, 1.0, 0.3
FEW_OUTPUTS = (
    0.1  # a conversation with fewer tool outputs than this share of its messages is one without tools
)
K1, B = 1.2, 0.3  # how soon repetition stops counting, and how much long messages are marked down
# What is left of a message's score one message further on, and the share of it that neighbours get.
REACH, LENT = 0.93, 0.4


def rate(history: Messages, settings: Options) -> list[float]:
    """Rate each message beside the most relevant one; 0 everywhere without a weight or a question."""
    found = relevance(history) if settings.weights.get(SIGNAL.name) else None
    top = max(found, default=0.0) if found else 0.0
    return [one / top for one in found] if found and top else [0.0] * len(history)


def relevance(history: Messages) -> list[float] | None:
    """Return the raw relevance of each message to the last one; None if that is no short message of a user."""
    last = len(history) - 1
    asked = history.features[last].content if last > 0 and history.roles[last] == "user" else None
    if asked is None or not 0 < asked.words <= QUESTION_WORDS:
        return None
    own = _bm25(history, frozenset(asked.stems[0]), last)
    if own is None:
        return None
    outputs = sum(1 for role in history.roles if role == "tool")
    scale = UNASKED if not asked.asks else IN_CHAT if outputs < FEW_OUTPUTS * len(own) else IN_WORK
    return [scale * (one + LENT * lent) for one, lent in zip(own, spread(own), strict=True)]


def _bm25(history: Messages, asked: frozenset[int], question: int) -> list[float] | None:
    """Return the score of each message for the stems of the question, or None where no message has any of them."""
    hits: dict[int, list[tuple[int, int]]] = {}
    totals = []
    for i, features in enumerate(history.features):
        content = features.content
        if content is None:
            totals.append(0)
            continue
        codes, counts = content.stems
        totals.append(sum(counts))
        if i != question:
            for term in asked.intersection(codes):
                hits.setdefault(term, []).append((i, counts[codes.index(term)]))
    if not hits:
        return None
    count = len(totals)
    average = sum(totals) / count or 1.0
    scores = [0.0] * count
    for _, found in sorted(hits.items()):  # in one order, so that sums come out the same to the last bit
        rarity = math.log(1 + (count - len(found) + 0.5) / (len(found) + 0.5))
        for i, often in found:
            scores[i] += rarity * often * (K1 + 1) / (often + K1 * (1 - B + B * totals[i] / average))
    return scores


def spread(scores: Sequence[float]) -> list[float]:
    """Return what each message gets from all others: their scores times REACH to the power of the distance.

    Two passes, so the cost does not depend on the reach.
    """
    lent = [0.0] * len(scores)
    for order in (range(len(scores)), range(len(scores) - 1, -1, -1)):
        flow = 0.0
        for i in order:
            lent[i] += flow
            flow = (flow + scores[i]) * REACH
    return lent


SIGNAL = Signal(
    "relevance",
    "Relevance",
    "words it shares with the last question",
    rate,
    weights={"Foresight": 15},
    reads_content=True,
    weighs_mentions=False,
)

"""Relevance: how many words a message shares with a short last question.

BM25 on stems, spread over neighbouring messages, because evidence is in passages. The sums are not scaled to the best
message: "yes, go ahead" shares no distinctive word with any message, so nothing becomes relevant.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Mapping, Sequence

from scoring.signals.contract import Described, Messages, Options, Signal

QUESTION_WORDS = 60  # a longer last message is a task, not a question
# Relevance is multiplied by `IN_CHAT` if a question ends a conversation without tools (the answer comes from what was
# said), by `IN_WORK` if it ends an agent's session, and by `UNASKED` if the last message asks nothing.
IN_CHAT, IN_WORK, UNASKED = 8.0, 1.0, 0.3
# A conversation counts as one without tools below this share of tool outputs among its messages.
FEW_OUTPUTS = 0.1
K1, B = 1.2, 0.3  # BM25: how soon repetition stops counting, and how much long messages are penalised
# The decay of a message's score for each message further on, and the share of it that neighbours get.
DECAY, NEIGHBOUR_SHARE = 0.93, 0.4
# Words that only the best messages have are added to the query, with this share of the best score.
BEST_MESSAGES, MORE_STEMS, FEEDBACK = 6, 15, 0.2
MOST_OFTEN, SMOOTHED_BY = 3, 20  # of a stem in a message, and what is added to the message's length in stems
_NO_STEMS = (array("I"), b"")

Stems = tuple["array[int]", bytes]  # the codes of a message's stems, and how often each occurs


def rate(history: Messages, settings: Options) -> list[float]:
    """Rate each message relative to the most relevant one; all are 0 without a weight or a question."""
    found = relevance(history) if settings.weights.get(SIGNAL.name) else None
    top = max(found, default=0.0) if found else 0.0
    return [one / top for one in found] if found and top else [0.0] * len(history)


def relevance(history: Messages) -> list[float] | None:
    """Return the raw relevance of each message to the last one; None if that is not a short message of a user."""
    last = len(history) - 1
    asked = history.features[last].content if last > 0 and history.roles[last] == "user" else None
    if asked is None or not 0 < asked.words <= QUESTION_WORDS:
        return None
    stems = [_stems(features) for features in history.features]
    totals = [sum(counts) for _, counts in stems]
    own = _bm25(stems, totals, dict.fromkeys(asked.stems[0], 1.0), last)
    if own is None:
        return None
    more = _bm25(stems, totals, _feedback_stems(stems, totals, own, asked.stems[0]), last)
    if more is not None:
        share = FEEDBACK * max(own) / max(more)
        own = [one + share * other for one, other in zip(own, more, strict=True)]
    outputs = sum(1 for role in history.roles if role == "tool")
    scale = IN_CHAT if outputs < FEW_OUTPUTS * len(own) else IN_WORK
    if not asked.asks:
        scale = UNASKED
    return [scale * (one + NEIGHBOUR_SHARE * lent) for one, lent in zip(own, spread(own), strict=True)]


def _bm25(
    stems: Sequence[Stems], totals: Sequence[int], asked: Mapping[int, float], question: int
) -> list[float] | None:
    """Return the score of each message for weighted stems, or None if no message has any of them.

    `totals` are the numbers of stems of the messages.
    """
    hits: dict[int, list[tuple[int, int]]] = {}
    for i, (codes, counts) in enumerate(stems):
        if not asked.keys().isdisjoint(codes) and i != question:
            for term in asked.keys() & codes:
                hits.setdefault(term, []).append((i, counts[codes.index(term)]))
    if not hits:
        return None
    count = len(totals)
    average = sum(totals) / count or 1.0
    scores = [0.0] * count
    for term, found in sorted(hits.items()):  # in a fixed order, so that the sums are equal to the last bit
        rarity = asked[term] * math.log(1 + (count - len(found) + 0.5) / (len(found) + 0.5))
        for i, often in found:
            scores[i] += rarity * often * (K1 + 1) / (often + K1 * (1 - B + B * totals[i] / average))
    return scores


def _feedback_stems(
    stems: Sequence[Stems], totals: Sequence[int], scores: Sequence[float], asked: Collection[int]
) -> dict[int, float]:
    """Return the stems that distinguish the best messages from all others, with weights up to 1."""
    best = [
        i for i in sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:BEST_MESSAGES] if scores[i] > 0
    ]
    shares: dict[int, float] = {}
    for i in best:
        for code, count in zip(*stems[i], strict=True):
            if code not in asked:
                shares[code] = shares.get(code, 0.0) + scores[i] * min(count, MOST_OFTEN) / (
                    totals[i] + SMOOTHED_BY
                )
    among: dict[int, int] = {}
    for codes, _ in stems:
        for code in shares.keys() & codes:
            among[code] = among.get(code, 0) + 1
    weights = {
        code: share * math.log(1 + len(scores) / among[code])
        for code, share in shares.items()
        if among[code] > 1
    }
    chosen = sorted(weights, key=lambda code: (-weights[code], code))[:MORE_STEMS]
    return {code: weights[code] / weights[chosen[0]] for code in chosen}


def _stems(features: Described) -> Stems:
    return features.content.stems if features.content is not None else _NO_STEMS


def spread(scores: Sequence[float]) -> list[float]:
    """Return what each message gets from all others: their scores times DECAY to the power of the distance.

    Two passes, so the cost does not depend on the reach.
    """
    lent = [0.0] * len(scores)
    for order in (range(len(scores)), range(len(scores) - 1, -1, -1)):
        flow = 0.0
        for i in order:
            lent[i] += flow
            flow = (flow + scores[i]) * DECAY
    return lent


SIGNAL = Signal(
    "relevance",
    "Relevance",
    "words it shares with the last question",
    rate,
    weights={"Foresight": 15},
    reads_content=True,
    needs_question=True,
    weighs_mentions=False,
)

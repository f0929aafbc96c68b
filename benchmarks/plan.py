"""How long a plan takes: features in memory at three sizes, and from bare messages beside langchain-core.

Lengths are drawn once from a fixed seed, a tenth users, a fifth model text, the rest calls with their results;
a plan always has to take out two fifths of the tokens. Memory is what one plan holds and needs on the way.
"""

from __future__ import annotations

import random
import tracemalloc
from typing import Any

from benchmarks.rows import Row, best_of
from scoring.features import Features
from scoring.history import History
from scoring.importance import prune_context
from scoring.plan import plan_prune
from scoring.settings import BALANCED, BLUEPRINT

GOALS_MS = {1_000: 2.0, 10_000: 20.0, 100_000: 300.0}
MEMORY_GOAL_MB = 300.0
KEPT = 0.6
# Characters of messages in real sessions with tools: every twentieth of them, the last the mean of the longest.
LENGTHS = (
    6,
    42,
    45,
    72,
    88,
    105,
    118,
    134,
    160,
    198,
    248,
    320,
    439,
    556,
    711,
    916,
    1_216,
    1_708,
    2_621,
    4_933,
    9_000,
)
WORDS = ("the", "parser", "reads", "src/app.py", "and", "returns", "42", "rows", "without", "any", "edge")


def run() -> list[Row]:
    """The figures, best of several runs each."""
    rows: list[Row] = []
    for count, goal in GOALS_MS.items():
        history = made_up(count)
        budget = int(sum(history.tokens) * KEPT)
        for name, settings in (("Blueprint", BLUEPRINT), ("Balanced", BALANCED)):
            took = best_of(7, lambda: plan_prune(history, settings, budget))  # noqa: B023 - called at once
            rows.append(Row(f"plan, {name}, {count:,} messages", took, "ms", goal))
    rows.append(Row("plan, 100,000 messages, memory", _memory_mb(history, budget), "MB", MEMORY_GOAL_MB))
    rows += _cold(1_000) + _cold(10_000)
    return rows


def made_up(count: int) -> History:
    """A history of features as an agent's session has them."""
    rng = random.Random(1)
    made = [Features("system", 900, 3_000)]
    while len(made) < count:
        kind = rng.random()
        if kind < 0.1:
            made.append(Features("user", rng.randint(5, 400), rng.randint(20, 1_600), own_words=True))
        elif kind < 0.3:
            made.append(
                Features("assistant", rng.randint(5, 900), rng.randint(20, 3_600), rng.choice((0, 0, 0.6)))
            )
        else:
            call = f"call-{len(made)}"
            made.append(Features("assistant", rng.randint(20, 200), 300, calls=(call,)))
            output = rng.randint(20, 3_000)
            made.append(Features("tool", output, 4 * output, rng.choice((0, 0.6, 1.0)), results=(call,)))
    return History.of_features(made[:count])


def _memory_mb(history: History, budget: int) -> float:
    tracemalloc.start()
    plan = plan_prune(history, BLUEPRINT, budget)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert plan.removed
    return peak / 1_000_000


def _cold(count: int) -> list[Row]:
    """From a bare list of wire objects to a pruned one, with nothing known before, ours and langchain's."""
    from langchain_core.messages import trim_messages
    from langchain_core.messages.utils import count_tokens_approximately

    history = made_up(count)
    rng = random.Random(2)
    texts = [" ".join(rng.choices(WORDS, k=rng.choice(LENGTHS) // 6)) for _ in history.features]
    texts = [text + rng.choice(("", "", " error")) for text in texts]
    messages = [_wire(features, text) for features, text in zip(history.features, texts, strict=True)]
    budget = int(prune_context(messages).stats["original"] * KEPT)
    ours_ms = best_of(3, lambda: prune_context(messages, budget))
    theirs_ms = best_of(
        3,
        lambda: trim_messages(
            messages, max_tokens=budget, token_counter=count_tokens_approximately, include_system=True
        ),
    )
    return [
        Row(f"prune bare list, Blueprint, {count:,} messages", ours_ms, "ms", theirs_ms),
        Row(f"the same, langchain-core trim_messages, {count:,}", theirs_ms, "ms"),
    ]


def _wire(features: Features, text: str) -> dict[str, Any]:
    if features.calls:
        function = {"name": "read", "arguments": '{"path": "src/app.py"}'}
        call = {"id": features.calls[0], "type": "function", "function": function}
        return {"role": "assistant", "content": text, "tool_calls": [call]}
    if features.results:
        return {"role": "tool", "tool_call_id": features.results[0], "content": text}
    return {"role": features.role, "content": text}

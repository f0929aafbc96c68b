"""The time of a plan: from features in memory at three sizes, and from bare messages beside langchain-core.

Lengths are drawn once from a fixed seed, a tenth users, a fifth model text, the rest calls with their results;
a plan always has to take out two fifths of the tokens. Memory is what one plan holds and needs on the way.
"""

from __future__ import annotations

import gc
import random
import tracemalloc
from array import array
from typing import Any

from benchmarks.rows import Row, best_of
from scoring.history import Content, Features, History, Rows, content_of
from scoring.history.content import Stems
from scoring.lists import prune_context
from scoring.planning import plan_prune
from scoring.settings import BLUEPRINT, FORESIGHT, Settings
from webapp.serving.server import tune_interpreter

GOALS_MS = {1_000: (2.0, 40.0), 10_000: (20.0, 400.0), 100_000: (300.0, 4_000.0)}
TENFOLD = 13.0  # how many times as long ten times the messages may take
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
    """Return the figures, best of several runs each; plans with the server's collector, lists with Python's."""
    rows: list[Row] = []
    before = gc.get_threshold()
    tune_interpreter()
    took: dict[int, float] = {}
    for count, (goal, goal_foresight) in GOALS_MS.items():
        history = made_up(count)
        budget = int(sum(history.tokens) * KEPT)
        best = best_of(7, lambda: plan_prune(history, BLUEPRINT, budget))  # noqa: B023 - called at once
        rows.append(Row(f"plan, Blueprint, {count:,} messages", best, "ms", goal))
        full = with_contents(history)
        runs = 7 if count < 100_000 else 2
        took[count] = best_of(runs, lambda: plan_prune(full, FORESIGHT, budget))  # noqa: B023
        rows.append(Row(f"plan, Foresight, {count:,} messages", took[count], "ms", goal_foresight))
    rows.append(Row("plan, Foresight, 100,000 : 10,000", took[100_000] / took[10_000], "times", TENFOLD))
    for name, settings, made in (("Blueprint", BLUEPRINT, history), ("Foresight", FORESIGHT, full)):
        rows.append(
            Row(
                f"plan, {name}, 100,000 messages, memory",
                _memory_mb(made, settings, budget),
                "MB",
                MEMORY_GOAL_MB,
            )
        )
    gc.unfreeze()
    gc.set_threshold(*before)
    for count in (1_000, 10_000):
        rows += _cold(f"list of {count:,} with tools", _worked(count), foresight=True)
        rows += _cold(f"list of {count:,} that only talk", _talked(count), foresight=False)
    return rows


def made_up(count: int) -> History:
    """Return a history of features as an agent's session has them."""
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


def with_contents(history: History) -> History:
    """Return the same history with contents as messages of real sessions have them, and a question at its end.

    Each message has about twenty mentions, a third of which were named before; each output has nine rows with two or
    three mentions.
    """
    rng = random.Random(3)
    recent: list[str] = ["src/app.py"]
    made = [one._replace(content=_content(rng, recent, bool(one.results))) for one in history.features[:-1]]
    question = Features("user", 20, 70, own_words=True)
    made.append(question._replace(content=content_of("Which of the rows did the parser of src/app.py read?")))
    return History.of_features(made)


def _content(rng: random.Random, recent: list[str], is_output: bool) -> Content:
    names = set()
    for _ in range(rng.randint(2, 18)):
        if rng.random() < 0.35:
            names.add(recent[int(rng.random() ** 2 * len(recent))])
        else:
            names.add(f"name_{rng.getrandbits(40):x}")
            recent.insert(0, max(names))
    del recent[2_000:]
    lines = array("Q", (rng.getrandbits(64) for _ in range(rng.randint(2, 24))))
    terms = array("I", {int(20_000 * rng.random() ** 3) for _ in range(50)})
    mentions = len(names) + len(lines)
    ends, held = array("I"), array("I")
    for _ in range(rng.randint(4, 40) if is_output else 0):
        held.extend(sorted({rng.randrange(mentions) for _ in range(rng.choice((1, 2, 2, 4)))}))
        ends.append(len(held))
    count = len(ends)
    chars = array("I", (rng.randint(20, 160) for _ in range(count)))
    key_rows = array("I", [count - 1] if count else [])
    rows = Rows(array("I", range(count)), bytes(count), chars, ends, held, key_rows, array("I"))
    stems = Stems(terms, bytes([2]) * len(terms))
    return Content("\n".join(sorted(names)), lines, 80, False, stems, rows)


def _memory_mb(history: History, settings: Settings, budget: int) -> float:
    tracemalloc.start()
    plan = plan_prune(history, settings, budget)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert plan.removed or plan.shortened
    return peak / 1_000_000


def _cold(name: str, messages: list[dict[str, Any]], *, foresight: bool) -> list[Row]:
    """Time the way from a list of wire objects to a pruned one, with nothing known before, ours and langchain's."""
    from langchain_core.messages import trim_messages
    from langchain_core.messages.utils import count_tokens_approximately

    budget = int(prune_context(messages).stats["original"] * KEPT)
    ours_ms = best_of(7, lambda: prune_context(messages, budget))
    theirs_ms = best_of(
        7,
        lambda: trim_messages(
            messages, max_tokens=budget, token_counter=count_tokens_approximately, include_system=True
        ),
    )
    rows = [
        Row(f"prune a {name}, Blueprint", ours_ms, "ms", theirs_ms),
        Row("the same, langchain-core trim_messages", theirs_ms, "ms"),
        Row("the same, Blueprint beside trim_messages", ours_ms / theirs_ms, "times"),
    ]
    if foresight:
        first, second = _twice(messages, budget)
        rows.append(
            Row("the same, Foresight, first call, beside trim_messages", first / theirs_ms, "times", 10.0)
        )
        rows.append(Row("the same, grown by a turn, second call", second / theirs_ms, "times", 2.0))
    return rows


def _twice(messages: list[dict[str, Any]], budget: int) -> tuple[float, float]:
    """Return the milliseconds of the first call for an unknown list, and of a call with one more turn."""
    first, second = [], []
    for run in range(3):
        fresh = [{**one, "content": f"{one['content']} {run}"} for one in messages]
        first.append(best_of(1, lambda: prune_context(fresh, budget, settings=FORESIGHT)))  # noqa: B023
        turn = [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": f"Done {run}."}]
        grown = [*fresh, *turn]
        second.append(best_of(1, lambda: prune_context(grown, budget, settings=FORESIGHT)))  # noqa: B023
    return min(first), min(second)


def _worked(count: int) -> list[dict[str, Any]]:
    """Return an agent's session as wire objects: calls, their results, and some talk."""
    features = made_up(count).features
    return [_wire(one, text) for one, text in zip(features, _texts(count), strict=True)]


def _talked(count: int) -> list[dict[str, Any]]:
    """Return a chat of texts of the same lengths."""
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(_texts(count))]


def _texts(count: int) -> list[str]:
    rng = random.Random(2)
    texts = [" ".join(rng.choices(WORDS, k=rng.choice(LENGTHS) // 6)) for _ in range(count)]
    return [text + rng.choice(("", "", " error")) for text in texts]


def _wire(features: Features, text: str) -> dict[str, Any]:
    if features.calls:
        function = {"name": "read", "arguments": '{"path": "src/app.py"}'}
        call = {"id": features.calls[0], "type": "function", "function": function}
        return {"role": "assistant", "content": text, "tool_calls": [call]}
    if features.results:
        return {"role": "tool", "tool_call_id": features.results[0], "content": text}
    return {"role": features.role, "content": text}

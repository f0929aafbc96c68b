"""The material of the benchmarks: a store in a temporary folder, and invented messages.

The lengths are those of real sessions with tools (see `plan.LENGTHS`), drawn from a fixed seed.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.plan import LENGTHS, WORDS
from webapp.app import App
from webapp.config import Config
from webapp.wiring import build

MODEL = "claude-sonnet-4-5"


@contextmanager
def app() -> Iterator[App]:
    """Yield services over a new store on disk, which is deleted with the block."""
    with tempfile.TemporaryDirectory() as folder:
        made = build(Config(db=Path(folder) / "coppice.db", follow=False))
        try:
            yield made
        finally:
            made.close()


def messages(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Return `count` messages of an agent's session: some of a user, and calls, each followed by its result."""
    rng = random.Random(seed)
    made: list[dict[str, Any]] = []
    while len(made) < count:
        if rng.random() < 0.15 or len(made) == count - 1:
            made.append({"role": rng.choice(("user", "assistant")), "content": text(rng)})
            continue
        name = f"call-{seed}-{len(made)}"
        function = {
            "name": "bash",
            "arguments": f'{{"command": "pytest -q tests/test_{rng.randrange(99)}.py"}}',
        }
        call = {"id": name, "type": "function", "function": function}
        made.append({"role": "assistant", "content": None, "tool_calls": [call]})
        made.append({"role": "tool", "tool_call_id": name, "content": text(rng)})
    return made


def text(rng: random.Random) -> str:
    """Return a text as long as one in a real session, with a few names in it."""
    step = rng.randrange(len(LENGTHS) - 1)
    length = rng.randint(LENGTHS[step], LENGTHS[step + 1])
    words = [rng.choice(WORDS) for _ in range(length // 6 + 1)]
    words.insert(0, f"src/part_{rng.randrange(400)}.py")
    return " ".join(words)[:length]


def filled(made: App, count: int, session: str = "bench") -> str:
    """Return a session with `count` messages, put in by batches of a thousand."""
    made.new_sessions.create(id=session, model=MODEL)
    for start in range(0, count, 1_000):
        made.ingest.append_messages(session, messages(min(1_000, count - start), seed=start))
    return session

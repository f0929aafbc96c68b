"""The demo session's script: a coding agent at work on an invented project, the same for the same seed.

Pure: messages come only from a seeded generator. One step is one event: a request of the
user, or a call of the agent with its result. Files are read again after edits, tests fail before they pass, and
outputs are long, as they are in real sessions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from scoring.messages import Message, Text, ToolCall, ToolResult

SYSTEM = (
    "You are a coding agent in the repository `orchard`, a service that plans deliveries for a fruit co-operative. "
    "Read before you edit, run the tests after every change, never touch `migrations/` without being asked, and keep "
    "answers short. The user's time zone is UTC."
)
MODULES = (
    "routes",
    "depots",
    "orders",
    "pricing",
    "weather",
    "fleet",
    "invoices",
    "auth",
    "events",
    "reports",
)
VERBS = ("plan", "load", "assign", "price", "check", "merge", "split", "archive", "notify", "rank")
NOUNS = ("order", "route", "truck", "crate", "depot", "slot", "invoice", "driver", "window", "batch")
REQUESTS = (
    "Login sometimes fails right after a token refresh. Find out why and fix it, but do not change the public API.",
    "Deliveries that cross midnight are priced twice. Reproduce it with a test first.",
    "Please make `plan_route` deterministic. Never sort by object identity, we had that before.",
    "The nightly report is slow since the last release. Measure before you change anything.",
    "Add an endpoint that lists depots with free slots. Follow the style of `orders`.",
    "CI fails on `test_fleet.py`, it passes here. Have a look at the time zones.",
    "Remove the old weather client; everything should use the new one by now. Check that first.",
)
CLOSING = (
    "Done: the fix is in place, all tests pass. The cause was a stale token kept in the session cache.",
    "Fixed and covered by a test that failed before. Nothing outside `pricing` was touched.",
    "Done. The order is by departure and then by id, which is stable across runs.",
)


def steps(seed: int = 7) -> Iterator[list[Message]]:
    """Yield steps without end, each a list of messages that belong together."""
    random = Random(seed)  # noqa: S311  # the same demo for the same seed
    number = 0
    while True:
        yield [Message("user", (Text(REQUESTS[number % len(REQUESTS)]),))]
        focus = random.sample(MODULES, 3)
        for n in range(random.randint(9, 14)):
            yield _step(random, focus, f"call_{number}_{n}", n)
        yield [Message("assistant", (Text(CLOSING[number % len(CLOSING)]),))]
        number += 1


def _step(random: Random, focus: list[str], call_id: str, n: int) -> list[Message]:
    module = random.choice(focus)
    path = f"src/orchard/{module}.py"
    kind = "read" if n < 3 else random.choices(("read", "test", "edit", "search"), (4, 3, 3, 2))[0]
    if kind == "read":
        words = f"Let me look at `{path}`."
        return _exchange(
            call_id, words, "Read", {"file_path": path}, _source(random, module, random.randint(90, 260))
        )
    if kind == "test":
        failed = random.random() < 0.45
        arguments = {"command": f"pytest -q tests/test_{module}.py"}
        return _exchange(
            call_id, "Running the tests.", "Bash", arguments, _tests(random, module, failed), failed
        )
    if kind == "edit":
        edit = {"file_path": path, "old_string": _function(random, 6), "new_string": _function(random, 9)}
        return _exchange(
            call_id, "This is the place; I change it.", "Edit", edit, f"The file {path} has been updated."
        )
    word = random.choice(NOUNS)
    hits = "\n".join(
        f"src/orchard/{random.choice(MODULES)}.py:{random.randint(3, 400)}:    {random.choice(VERBS)}_{word}({word}_id)"
        for _ in range(random.randint(30, 90))
    )
    return _exchange(call_id, f"Where is `{word}` used?", "Grep", {"pattern": word, "path": "src"}, hits)


def _exchange(
    call_id: str, words: str, tool: str, arguments: dict[str, str], output: str, failed: bool = False
) -> list[Message]:
    call = ToolCall(call_id, tool, json.dumps(arguments))
    result = ToolResult(call_id, output, tool, failed)
    return [Message("assistant", (Text(words), call)), Message("tool", (result,))]


def _function(random: Random, lines: int) -> str:
    verb, noun = random.choice(VERBS), random.choice(NOUNS)
    body = "\n".join(
        f"    {random.choice(NOUNS)}_{i} = {random.choice(VERBS)}({noun}, limit={random.randint(1, 99)})"
        for i in range(lines)
    )
    return f"def {verb}_{noun}({noun}: {noun.title()}) -> None:\n{body}\n"


def _source(random: Random, module: str, lines: int) -> str:
    pieces = [
        f'"""{module.title()}: part of the delivery planner."""',
        "",
        "from __future__ import annotations",
        "",
    ]
    while len(pieces) < lines:
        pieces += [*_function(random, random.randint(4, 10)).splitlines(), ""]
    return "\n".join(f"{i + 1:>5}\t{line}" for i, line in enumerate(pieces))


def _tests(random: Random, module: str, failed: bool) -> str:
    names = [f"tests/test_{module}.py::test_{random.choice(VERBS)}_{random.choice(NOUNS)}" for _ in range(40)]
    lines = [f"{name} PASSED" for name in names]
    if not failed:
        return "\n".join([*lines, "", f"{len(lines)} passed in {random.uniform(0.4, 3):.2f}s"])
    bad = random.randrange(len(lines))
    lines[bad] = f"{names[bad]} FAILED"
    line = random.randint(20, 300)
    trace = [
        "Traceback (most recent call last):",
        f'  File "src/orchard/{module}.py", line {line}, in {random.choice(VERBS)}_{random.choice(NOUNS)}',
        f"AssertionError: expected {random.randint(1, 9)} crates, got {random.randint(10, 40)}",
        f"Error: 1 failed, {len(lines) - 1} passed",
    ]
    return "\n".join([*lines, "", *trace])

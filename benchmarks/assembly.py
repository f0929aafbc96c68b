"""Assembling a context of 2,000 items, and the emergency path over 10,000 messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.rows import Row, best_of
from scoring.assembly import AssemblyConfig, Item, Snapshot, build, relieve
from scoring.formats import decode, encode
from scoring.history import Features, analyse
from scoring.messages import Message, ToolCall, ToolResult, message
from scoring.settings import FORESIGHT, lexicon_of
from scoring.summary import Summary
from scoring.tokens import estimate_message_tokens
from webapp.app import App
from webapp.config import Config
from webapp.services.session.operation import counted_totals
from webapp.services.session.session import Session
from webapp.store.context import PRUNED
from webapp.wiring import build as wire

ITEMS, EMERGENCY = 2_000, 10_000
GOAL_MS, GOAL_EMERGENCY_MS = 30, 1_000


def run() -> list[Row]:
    """Return the pure parts, where what is read from the store is handed in; then the whole of it."""
    rows = []
    fits, tight = (
        AssemblyConfig(usable=10_000_000, format="openai"),
        AssemblyConfig(usable=40_000, format="openai"),
    )
    for log in (3_000, 100_000):
        snapshot = _snapshot(ITEMS, log)
        rows.append(
            _row(f"assemble {ITEMS:,} items of a log of {log:,}", partial(build, snapshot, config=fits))
        )
        pruned = best_of(5, partial(build, snapshot, config=tight))  # a plan of Foresight on top, so no goal
        rows.append(Row(f"… pruned to 40,000 tokens on the way, of {log:,}", pruned, "ms"))
    rows += _from_the_store()
    made = build(_snapshot(ITEMS, ITEMS), config=AssemblyConfig(usable=10_000_000, format="openai"))
    rows.append(
        _row(f"write {ITEMS:,} messages in their own format", partial(encode, made.messages, "openai"))
    )
    talk = [m for n in range(EMERGENCY // 4) for m in _turn(n)]
    costs = [estimate_message_tokens(m) for m in talk]
    for left in (2, 20):
        name = f"emergency: {EMERGENCY:,} messages to 1/{left}"
        work = _relieving(talk, sum(costs) // left, costs)
        rows.append(Row(name, best_of(3, work), "ms", GOAL_EMERGENCY_MS))
    rows.append(
        Row("… counting them too", best_of(3, _relieving(talk, 20_000, None)), "ms", GOAL_EMERGENCY_MS)
    )
    return rows


def _from_the_store() -> list[Row]:
    """Return the whole of `GET …/context`, with what is read, written and checked, and messages that were read
    before.
    """
    rows = []
    with TemporaryDirectory() as folder:
        app = wire(Config(db=Path(folder) / "a.db", follow=False, tokenizer=False, env={"HOME": folder}))
        for log in (3_000, 100_000):
            name = f"log-{log}"
            app.new_sessions.create(id=name, model="claude-opus-5")
            for first in range(0, log // 4, 1_000):
                turns = range(first, min(first + 1_000, log // 4))
                app.ingest.append_messages(name, encode([m for n in turns for m in _turn(n)], "openai"))
            _keep_newest(app, name)
            rows.append(_row(f"GET context, {ITEMS:,} of a log of {log:,}", partial(app.context.get, name)))
        app.close()
    return rows


def _keep_newest(app: App, name: str) -> None:
    """Keep only the newest items in the view, as a prune would."""
    row = app.store.sessions.get(name)
    gone = app.store.contexts.items(row.key, PRUNED)[:-ITEMS]
    with app.store.write():
        app.store.contexts.remove(row.key, PRUNED, [item.position for item in gone])
        app.store.log.set_flag(row.key, [item.ref for item in gone], "out_operation", 1)
        session = Session.of(app.environment, row)
        session.pruned.totals = counted_totals(session, session.pruned)
        session.save()


def _row(name: str, work: Callable[[], object]) -> Row:
    return Row(name, best_of(5, work), "ms", GOAL_MS)


def _relieving(talk: list[Message], available: int, costs: list[int] | None) -> Callable[[], Any]:
    return lambda: relieve(talk, available, tokens=costs, overflow=False)


def _turn(n: int) -> list[Message]:
    output = "\n".join(f"{line}: result {n} of the command, as it was printed" for line in range(20))
    return [
        message("user", f"Question {n}: what does this part do?"),
        message(
            "assistant", "Let me look.", ToolCall(f"call_{n}", "read_file", f'{{"path": "src/part_{n}.py"}}')
        ),
        message("tool", "", ToolResult(f"call_{n}", output)),
        message("assistant", f"It does thing number {n}, as the output shows."),
    ]


def _stored(features: Features) -> Callable[[], Features]:
    return lambda: features


def _snapshot(items: int, log: int) -> Snapshot:
    """Return the newest items of a log, in their wire format and with what was found when they came in."""
    lexicon = lexicon_of(FORESIGHT.keywords)
    first = (log - items) // 4
    typed = [m for n in range(first, first + items // 4) for m in _turn(n)]
    said = decode(encode(typed, "openai"), "openai").messages
    listed: list[Item | Summary] = [Summary("s1", "What happened before. " * 100, 2, log - items)]
    for n, one in enumerate(said):
        found = analyse(one, estimate_message_tokens(one), lexicon, content=True)
        listed.append(Item(str(n), one, _stored(found), tokens=found.tokens))
    return Snapshot(
        listed, memories=["The service listens on port 8080."], new_message=message("user", "And now?")
    )

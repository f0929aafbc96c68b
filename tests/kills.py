"""Processes killed in the middle of a write, and power that goes: `python -m tests.kills COUNT` (`make kills`).

A child appends, prunes, undoes, pins and summarises, and reports every append that was acknowledged; it is killed at a
moment that a seed decides. Afterwards the store has to be sound and hold everything that was acknowledged. Where the
power goes as well, the log file that was not synced loses its end or is torn there: then the store has to be sound, and
hold a beginning of what was acknowledged.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.webapp.building import conversation, entries, followed, managed, mid, wire
from webapp.app import App
from webapp.config import Config
from webapp.errors import CoppiceError
from webapp.services.planning.requests import PruneRequest
from webapp.wiring import build

LONGEST_SECONDS = 0.25  # a child works for less


def config_of(path: Path) -> Config:
    """Return a configuration that follows nothing."""
    return Config(db=path, follow=False, tokenizer=False, env={})


def prepared(path: Path) -> None:
    """Make a store with two sessions."""
    app = build(config_of(path))
    managed(app, wire("user", "begin"), id="m")
    followed(app, *conversation(6))
    app.close()


def work(path: Path, name: str, seed: int, told: int, steps: int) -> None:
    """Write to the store for ever or so many steps; tell each append that was acknowledged."""
    app, rng = build(config_of(path)), random.Random(seed)
    os.write(told, b"ready\n")
    for n in range(steps):
        text = f"{name}-{seed}-{n} " + "word " * rng.randrange(200)
        with suppress(CoppiceError):  # the other process may have come first
            app.ingest.append_messages("m", [wire("user", text)])
            os.write(told, f"{text.split()[0]}\n".encode())
        with suppress(CoppiceError):
            _other(app, rng, n)
    app.close()


def _other(app: App, rng: random.Random, n: int) -> None:
    match rng.randrange(7):
        case 0:
            app.ingest.append_records("s", entries(*conversation(1), start=1_000 * rng.randrange(1_000) + n))
        case 1:
            app.prunes.apply("s", PruneRequest(max_tokens=rng.randrange(100, 900)))
        case 2:
            app.operations.undo("s")
        case 3:
            app.operations.pin("s", mid(app, "s", rng.randrange(1, 12)))
        case 4:
            app.summarising.summarise("s")
        case 5:
            app.store.settle()
        case _:
            app.memory.add("memory", f"note {n}")


def forked(path: Path, name: str, seed: int, steps: int = sys.maxsize) -> tuple[int, int]:
    """Start a child that works; return its number and the end of the pipe that it tells."""
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(heard)
            work(path, name, seed, told, steps)
        finally:
            os._exit(0)
    os.close(told)
    return child, heard


def kill(path: Path, seed: int, *, power: bool) -> str | None:
    """Kill one child at work; return what is wrong afterwards, None if nothing is."""
    rng = random.Random(f"{seed}-{power}")
    child, heard = forked(path, "k", seed)
    with os.fdopen(heard) as pipe:
        pipe.readline()  # ready
        time.sleep(rng.random() * LONGEST_SECONDS)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        acknowledged = pipe.read().split()
    if power:
        _lose(path.with_name(path.name + "-wal"), rng)
    return fault_of(path, acknowledged, may_lose_the_last=power)


def _lose(log: Path, rng: random.Random) -> None:
    """Lose the end of a file that was not synced, or leave rubbish there."""
    if not log.exists() or not (size := log.stat().st_size):
        return
    at = rng.randrange(size)
    with log.open("r+b") as file:
        if rng.random() < 0.5:
            file.truncate(at)
        else:
            file.seek(at - at % 512)
            file.write(rng.randbytes(min(size - at, 512 * rng.randrange(1, 40))))


def fault_of(path: Path, acknowledged: list[str], *, may_lose_the_last: bool = False) -> str | None:
    """Return the first fault of the store, or what it lost of the acknowledged; None if nothing."""
    app = build(config_of(path))
    try:
        fault = next(app.verify(), None)
        if fault is not None:
            return fault
        row = app.store.sessions.get("m")
        stored = {e.message.text.split()[0] for e in app.store.log.entries(row.key, 0, row.next_seq)}
    finally:
        app.close()
    lost = [one not in stored for one in acknowledged]
    if any(lost) if not may_lose_the_last else lost != sorted(lost):
        return f"{sum(lost)} of {len(acknowledged)} acknowledged appends are gone"
    return None


def beside(path: Path, processes: int, steps: int) -> str | None:
    """Let processes write to one store at once; return what is wrong afterwards, None if nothing is."""
    children = [forked(path, f"p{n}", n, steps) for n in range(processes)]
    acknowledged: list[str] = []
    for child, heard in children:
        with os.fdopen(heard) as pipe:
            acknowledged += pipe.read().split()[1:]
        os.waitpid(child, 0)
    return fault_of(path, acknowledged)


def rounds(folder: Path, count: int) -> Iterator[tuple[str, str | None]]:
    """Kill so many children, every fourth with the power gone as well; yield the kind, and what went wrong."""
    for seed in range(count):
        path = folder / f"{seed // 20}.db"  # twenty kills on one store
        if not path.exists():
            prepared(path)
        power = seed % 4 == 3
        yield ("power" if power else "kill"), kill(path, seed, power=power)


def main(count: int) -> int:
    """Kill so often; print what went wrong; 1 if anything did."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        prepared(shared := Path(folder, "shared.db"))
        if (fault := beside(shared, 2, 25)) is not None:
            counts["faults"] += 1
            sys.stdout.write(f"two processes on one store: {fault}\n")
        for kind, fault in rounds(Path(folder), count):
            counts[kind] += 1
            if fault is not None:
                counts["faults"] += 1
                sys.stdout.write(f"{kind} {sum(counts.values())}: {fault}\n")
    sys.stdout.write(
        f"{counts['kill']} kills, {counts['power']} power cuts, 2 processes beside each other, "
        f"{counts['faults']} faults\n"
    )
    return 1 if counts["faults"] else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))

"""Processes killed in the middle of a write, and power that goes: `python -m tests.kills COUNT` (`make kills`).

A child appends, prunes, undoes, pins and summarises, and reports every append that was acknowledged; it is killed at a
moment that a seed decides. Afterwards the store has to be sound and hold everything that was acknowledged.

Power goes on a disk of tests/disks.py, which loses or tears any write that was not synced, at accesses that a seed
decides. Afterwards the store has to be sound, and hold a beginning of what was acknowledged, or all of it if durable.
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
from dataclasses import replace
from pathlib import Path

from tests.disks import AVAILABLE, Image, disk, laid_out
from tests.webapp.building import conversation, entries, followed, managed, mid, wire
from webapp.app import App
from webapp.config import Config
from webapp.errors import CoppiceError
from webapp.services.planning.requests import PruneRequest
from webapp.wiring import build

LONGEST_SECONDS = 0.12  # a child works for less
KILLS_ON_ONE_STORE = 10
CUTS_IN_ONE_RUN = 12
STEPS_IN_ONE_RUN = 24
CUTS_PER_ACCESS = 0.1


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
    """Write to the store forever or for a number of steps; report each acknowledged append."""
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
    """Start a working child; return its number and our end of its pipe."""
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


def kill(path: Path, seed: int) -> str | None:
    """Kill a working child; return the fault found afterwards, None without one."""
    child, heard = forked(path, "k", seed)
    with os.fdopen(heard) as pipe:
        pipe.readline()  # ready
        time.sleep(random.Random(seed).random() * LONGEST_SECONDS)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        acknowledged = pipe.read().split()
    return fault_of(path, acknowledged)


def power_cuts(folder: Path, seed: int, *, durable: bool) -> Iterator[tuple[str | None, int]]:
    """Work on one store and cut its power repeatedly; yield the fault after each cut, and the lost appends."""
    rng, acknowledged = random.Random(f"{seed}-{durable}"), list[str]()
    cuts: list[tuple[Image, list[str]]] = []
    work_folder = folder / f"power-{seed}-{durable}"
    work_folder.mkdir()
    with disk(work_folder) as held:
        app = build(replace(config_of(work_folder / "c.db"), durable=durable))
        managed(app, wire("user", "begin"), id="m")
        followed(app, *conversation(6))

        def cut() -> None:
            if rng_of_cuts.random() < CUTS_PER_ACCESS:
                cuts.append((held.image(), list(acknowledged)))

        rng_of_cuts, held.cut = random.Random(seed), cut
        for n in range(STEPS_IN_ONE_RUN):
            text = f"p{n} " + "word " * rng.randrange(200)
            app.ingest.append_messages("m", [wire("user", text)])
            acknowledged.append(f"p{n}")
            with suppress(CoppiceError):
                _other(app, rng, n)
            if rng.random() < 0.2:
                app.store.db.checkpoint()
        held.cut = lambda: None
        app.close()
    for n, (image, told) in enumerate(rng.sample(cuts, min(CUTS_IN_ONE_RUN, len(cuts)))):
        place = work_folder / str(n)
        laid_out(image, place, rng)
        missing = missing_from(place / "c.db", told)
        if isinstance(missing, str):
            yield missing, 0
        elif any(missing) if durable else missing != sorted(missing):
            yield f"{sum(missing)} of {len(told)} acknowledged appends are gone", sum(missing)
        else:
            yield None, sum(missing)


def missing_from(path: Path, acknowledged: list[str]) -> str | list[bool]:
    """Return the first fault of the store, or for each acknowledged append whether the store lost it."""
    app = build(config_of(path))
    try:
        fault = next(app.verify(), None)
        if fault is not None:
            return fault
        row = app.store.sessions.find("m")
        stored = set[str]()
        if row is not None:
            stored = {e.message.text.split()[0] for e in app.store.log.entries(row.key, 0, row.next_seq)}
    finally:
        app.close()
    return [one not in stored for one in acknowledged]


def fault_of(path: Path, acknowledged: list[str]) -> str | None:
    """Return the first fault of the store, or how much it lost of the acknowledged; None if nothing."""
    missing = missing_from(path, acknowledged)
    if isinstance(missing, str):
        return missing
    return f"{sum(missing)} of {len(missing)} acknowledged appends are gone" if any(missing) else None


def beside(path: Path, processes: int, steps: int) -> str | None:
    """Let processes write to one store at once; return the fault found afterwards, None without one."""
    children = [forked(path, f"p{n}", n, steps) for n in range(processes)]
    acknowledged: list[str] = []
    for child, heard in children:
        with os.fdopen(heard) as pipe:
            acknowledged += pipe.read().split()[1:]
        os.waitpid(child, 0)
    return fault_of(path, acknowledged)


def rounds(folder: Path, count: int) -> Iterator[tuple[str, str | None, int]]:
    """Kill so many children, and cut the power a third as often; yield the kind, what went wrong, what was lost."""
    for seed in range(count):
        path = folder / f"{seed // KILLS_ON_ONE_STORE}.db"
        if not path.exists():
            prepared(path)
        yield "kill", kill(path, seed), 0
    for seed in range(count // (3 * CUTS_IN_ONE_RUN) + 1 if AVAILABLE else 0):
        for fault, lost in power_cuts(folder, seed, durable=seed % 2 == 1):
            yield "power cut", fault, lost


def main(count: int) -> int:
    """Kill so often; print what went wrong; 1 if anything did."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        prepared(shared := Path(folder, "shared.db"))
        if (fault := beside(shared, 2, 25)) is not None:
            counts["faults"] += 1
            sys.stdout.write(f"two processes on one store: {fault}\n")
        for kind, fault, lost in rounds(Path(folder), count):
            counts[kind] += 1
            counts["lost"] += lost
            if fault is not None:
                counts["faults"] += 1
                sys.stdout.write(f"{kind} {counts[kind]}: {fault}\n")
    sys.stdout.write(
        f"{counts['kill']:,} kills, {counts['power cut']:,} power cuts (without `durable` they cost {counts['lost']:,} "
        f"unsynced appends), 2 processes beside each other: {counts['faults']} faults\n"
    )
    return 1 if counts["faults"] else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))

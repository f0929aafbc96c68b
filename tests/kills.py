"""Processes killed during a write, and power cuts: `python -m tests.kills COUNT [ENGINE]`.

A child appends, prunes, undoes, pins and summarises, and reports every append that was acknowledged; a seed decides
when it is killed. Afterwards the store must be sound and contain everything that was acknowledged.

The power fails on a disk of tests/disks.py, which loses or tears any write that was not synced; a seed decides at which
access. Afterwards the store must be sound. The newest acknowledged appends may be missing, or none if it is durable.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import count as counting
from pathlib import Path

from tests import postgresql
from tests.disks import AVAILABLE, Image, disk, laid_out
from tests.webapp.building import conversation, entries, followed, managed, mid, wire
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.config import Config, Database
from webapp.errors import CoppiceError
from webapp.wiring import build

LONGEST_SECONDS = 0.12  # a child works for less
KILLS_ON_ONE_STORE = 10
CUTS_IN_ONE_RUN = 12
STEPS_IN_ONE_RUN = 24
CUTS_PER_ACCESS = 0.1


def config_of(place: Database) -> Config:
    """Return a configuration that follows nothing."""
    return Config(db=place, follow=False, tokenizer=False, env={})


def prepared(place: Database) -> None:
    """Make a store with two sessions."""
    app = build(config_of(place))
    managed(app, wire("user", "begin"), id="m")
    followed(app, *conversation(6))
    app.close()


def work(place: Database, name: str, seed: int, writer: int, steps: int) -> None:
    """Write to the store forever or for a number of steps; report each acknowledged append."""
    app, rng = build(config_of(place)), random.Random(seed)
    os.write(writer, b"ready\n")
    for n in range(steps):
        text = f"{name}-{seed}-{n} " + "word " * rng.randrange(200)
        with suppress(CoppiceError):  # the other process may have come first
            app.ingest.append_messages("m", [wire("user", text)])
            os.write(writer, f"{text.split()[0]}\n".encode())
        with suppress(CoppiceError):
            _other(app, rng, n)
    app.close()


def _other(app: App, rng: random.Random, n: int) -> None:
    match rng.randrange(7):
        case 0:
            app.ingest.append_records("s", entries(*conversation(1), start=1_000 * rng.randrange(1_000) + n))
        case 1:
            app.prunes.apply("s", PruneBody(max_tokens=rng.randrange(100, 900)))
        case 2:
            app.operations.undo("s")
        case 3:
            app.by_hand.pin("s", mid(app, "s", rng.randrange(1, 12)))
        case 4:
            app.summarising.summarise("s")
        case 5:
            app.store.maintain()
        case _:
            app.memory.add("memory", f"note {n}")


def forked(place: Database, name: str, seed: int, steps: int = sys.maxsize) -> tuple[int, int]:
    """Start a working child; return its process id and our end of its pipe."""
    heard, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(heard)
            work(place, name, seed, writer, steps)
        finally:
            os._exit(0)
    os.close(writer)
    return child, heard


def kill(place: Database, seed: int) -> str | None:
    """Kill a working child; return the fault found afterwards, None without one."""
    child, heard = forked(place, "k", seed)
    with os.fdopen(heard) as pipe:
        pipe.readline()  # ready
        time.sleep(random.Random(seed).random() * LONGEST_SECONDS)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        acknowledged = pipe.read().split()
    return fault_of(place, acknowledged)


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
    for n, (image, appended) in enumerate(rng.sample(cuts, min(CUTS_IN_ONE_RUN, len(cuts)))):
        place = work_folder / str(n)
        laid_out(image, place, rng)
        missing = missing_from(place / "c.db", appended)
        if isinstance(missing, str):
            yield missing, 0
        elif any(missing) if durable else missing != sorted(missing):
            yield f"{sum(missing)} of {len(appended)} acknowledged appends are gone", sum(missing)
        else:
            yield None, sum(missing)


def missing_from(place: Database, acknowledged: list[str]) -> str | list[bool]:
    """Return the first fault of the store, or for each acknowledged append whether the store lost it."""
    app = build(config_of(place))
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


def fault_of(place: Database, acknowledged: list[str]) -> str | None:
    """Return the first fault of the store, or how much it lost of the acknowledged; None if nothing."""
    missing = missing_from(place, acknowledged)
    if isinstance(missing, str):
        return missing
    return f"{sum(missing)} of {len(missing)} acknowledged appends are gone" if any(missing) else None


def beside(place: Database, processes: int, steps: int) -> str | None:
    """Let processes write to one store at once; return the fault found afterwards, None without one."""
    children = [forked(place, f"p{n}", n, steps) for n in range(processes)]
    acknowledged: list[str] = []
    for child, heard in children:
        with os.fdopen(heard) as pipe:
            acknowledged += pipe.read().split()[1:]
        os.waitpid(child, 0)
    return fault_of(place, acknowledged)


def rounds(folder: Path, count: int, lend: Callable[[], Database]) -> Iterator[tuple[str, str | None, int]]:
    """Kill `count` children and cut the power a third as often; yield the kind, the fault, and the lost appends."""
    prepared(place := lend())
    for seed in range(count):
        if seed % KILLS_ON_ONE_STORE == KILLS_ON_ONE_STORE - 1:
            prepared(place := lend())
        yield "kill", kill(place, seed), 0
    cuts = isinstance(place, Path) and AVAILABLE
    for seed in range(count // (3 * CUTS_IN_ONE_RUN) + 1 if cuts else 0):
        for fault, lost in power_cuts(folder, seed, durable=seed % 2 == 1):
            yield "power cut", fault, lost


@contextmanager
def lending(engine: str) -> Iterator[tuple[Path, Callable[[], Database]]]:
    """Yield a folder, and a function that gives an empty place for a store."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder, numbers = Path(name), counting()
        if engine == "sqlite":
            yield folder, lambda: folder / f"{next(numbers)}.db"
        else:
            cluster = stack.enter_context(postgresql.cluster(folder))
            yield folder, lambda: stack.enter_context(cluster.database())


def main(count: int, engine: str = "sqlite") -> int:
    """Kill `count` times and print the faults; return 1 if there were any."""
    counts: Counter[str] = Counter()
    with lending(engine) as (folder, lend):
        prepared(shared := lend())
        if (fault := beside(shared, 2, 25)) is not None:
            counts["faults"] += 1
            sys.stdout.write(f"two processes on one store: {fault}\n")
        for kind, fault, lost in rounds(folder, count, lend):
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
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:]))

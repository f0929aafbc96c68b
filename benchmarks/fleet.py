"""Several workers over one store: `python -m benchmarks.fleet`, or `make fleet`.

A real `coppice serve` with 1, 2 and 3 workers over PostgreSQL and Redis, used from outside. Sessions are appended to as
fast as the connections carry it, half of the viewers look at the overview and half at a session each, and workers are
killed at random. It fails if a message was lost or doubled, if a viewer's last state is not the store's, or if
`coppice verify` finds a fault. PostgreSQL and Redis are started here unless --db and --queue name some.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.load import Http, packets, serving
from benchmarks.rows import percentile
from tests import postgresql
from tests.queues import missing, redis_server

TEXT = "The parser fails on nested lists in src/parser.py, line 120; the test expects two levels. " * 4
BATCH = 2
PATIENCE = 120.0
RETRY_SECONDS = 0.1
STARTED_AT_ONCE = 20


@dataclass
class Seen:
    """Times in seconds: of appends, and from sending a message until a viewer heard of it; and what was answered."""

    appends: list[float] = field(default_factory=list)
    heard: list[float] = field(default_factory=list)
    messages: dict[str, int] = field(default_factory=dict)
    retries: int = 0


class Viewer:
    """A page that comes back when it is disconnected, and keeps what it heard."""

    def __init__(self, port: int, room: str, seen: Seen) -> None:
        self.room, self._port, self._seen = room, port, seen
        self.revision: int | None = None
        self.numbers: set[int] = set()
        self.rows: dict[str, dict[str, Any]] = {}
        self.snapshots = self.resumed = 0
        self.joined = asyncio.Event()

    async def stay(self) -> None:
        """Look at the room until cancelled."""
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, AssertionError):
                await self._look()
            await asyncio.sleep(RETRY_SECONDS * (1 + random.random()))

    async def _look(self) -> None:
        message = {"room": self.room} | ({} if self.revision is None else {"revision": self.revision})
        async for data in packets(self._port, message):
            if data.startswith(b"431"):
                self._enter(json.loads(data[3:])[0])
            elif data.startswith(b"42"):
                self._take(*json.loads(data[2:]))

    def _enter(self, answer: dict[str, Any]) -> None:
        if "error" in answer:
            return
        snapshot = answer["snapshot"]
        self.revision = answer["revision"]
        self.resumed += snapshot is None
        if snapshot is not None:
            self.snapshots += 1
            if self.room == "overview":
                self.rows = {one["id"]: one for one in snapshot["sessions"]}
            else:
                self.numbers = {one["number"] for one in snapshot["page"]["messages"]}
                self.rows = {snapshot["stats"]["session"]["id"]: snapshot["stats"]["session"]}
        self.joined.set()

    def _take(self, name: str, payload: dict[str, Any]) -> None:
        self.revision = payload.get("revision", self.revision)
        if name == "sessions:updated":
            self.rows |= {one["id"]: one for one in payload["sessions"]}
        elif name == "session:updated":
            self.rows[payload["id"]] = payload
        elif name == "context:stats":
            self.rows[payload["session"]["id"]] = payload["session"]
        elif name == "messages:appended":
            fresh = [one for one in payload["messages"] if one["number"] not in self.numbers]
            if payload["count"] > len(payload["messages"]):  # a page reads the others over HTTP
                self.numbers.clear()
            self.numbers |= {one["number"] for one in payload["messages"]}
            now = time.time()
            self._seen.heard += [now - float(one["text"].split()[0]) for one in fresh if "text" in one]

    def fault(self, stored: dict[str, dict[str, Any]]) -> str:
        """Return what differs from the store, "" if nothing does."""
        for name, row in self.rows.items():
            for what in ("version", "messages"):
                if row[what] != stored[name][what]:
                    return f"{self.room}: {what} of {name} is {row[what]}, stored is {stored[name][what]}"
        if self.room == "overview":
            return ""
        last = stored[self.room.removeprefix("session:")]["messages"]
        wanted = set(range(min(self.numbers, default=last + 1), last + 1))
        return "" if self.numbers == wanted else f"{self.room}: lacks {sorted(wanted ^ self.numbers)[:5]}"


async def write(port: int, names: list[str], seen: Seen, until: float, writer: int) -> None:
    """Append to sessions in turn; what is not answered is sent again under its key until it is."""
    http, turn = Http(port), 0
    while time.monotonic() < until:
        name = names[turn % len(names)]
        turn += 1
        said = [
            {"role": "user", "content": f"{time.time():.3f} {writer} {turn} {n} {TEXT}"} for n in range(BATCH)
        ]
        body = {"messages": said, "idempotency_key": f"{writer}-{turn}"}
        began = time.monotonic()
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, json.JSONDecodeError, IndexError):
                status, _ = await http.send("POST", f"/api/sessions/{name}/messages", body)
                if status < 300:
                    break
            seen.retries += 1
            http = Http(port)
            await asyncio.sleep(RETRY_SECONDS)
        seen.appends.append(time.monotonic() - began)
        seen.messages[name] = seen.messages.get(name, 0) + BATCH


async def kill(parent: int, every: float, until: float) -> int:
    """Kill a random worker every `every` seconds; return the number of killed ones."""
    killed = 0
    while every and time.monotonic() + every < until:
        await asyncio.sleep(every)
        found = children(parent)
        if len(found) > 1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(random.choice(found), signal.SIGKILL)
                killed += 1
    return killed


def children(parent: int) -> list[int]:
    """Return the ids of a server's workers."""
    return [int(one) for one in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


async def stored_sessions(port: int) -> dict[str, dict[str, Any]]:
    """Return the rows of all sessions."""
    status, answer = await Http(port).send("GET", "/api/sessions")
    assert status == 200, answer
    return {one["id"]: one for one in answer["sessions"]}


async def measure(port: int, parent: int, given: argparse.Namespace) -> dict[str, Any]:
    """Run writers, viewers and kills against one server; return figures and faults."""
    seen, names = Seen(), [f"s{n}" for n in range(given.sessions)]
    gate = asyncio.Semaphore(STARTED_AT_ONCE)

    async def create(some: list[str]) -> None:
        http = Http(port)
        for name in some:
            await http.send("POST", "/api/sessions", {"id": name, "model": "gpt-5"})

    await asyncio.gather(*(create(names[n :: given.writers]) for n in range(given.writers)))
    rooms = ["overview" if n % 2 else f"session:{names[n % len(names)]}" for n in range(given.viewers)]
    viewers = [Viewer(port, room, seen) for room in rooms]

    async def join(one: Viewer) -> asyncio.Task[None]:
        async with gate:
            task = asyncio.create_task(one.stay())
            await asyncio.wait_for(one.joined.wait(), PATIENCE)
            return task

    tasks = await asyncio.gather(*map(join, viewers))
    until = time.monotonic() + given.seconds
    began = time.monotonic()
    killed, *_ = await asyncio.gather(
        kill(parent, given.kill_every, until),
        *(write(port, names[n :: given.writers], seen, until, n) for n in range(given.writers)),
    )
    took = time.monotonic() - began
    faults, stored = ["nothing was compared"], {}
    end = time.monotonic() + PATIENCE
    while faults and time.monotonic() < end:
        await asyncio.sleep(2)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, AssertionError):
            stored = await stored_sessions(port)
            faults = [fault for one in viewers if (fault := one.fault(stored))]
    for name in names:
        wanted, found = seen.messages.get(name, 0), stored.get(name, {"messages": -1})["messages"]
        if wanted != found:
            faults.append(f"{name}: {wanted} messages were answered, {found} are stored")
    for task in tasks:
        task.cancel()
    return {
        "messages": sum(seen.messages.values()),
        "messages/s": round(sum(seen.messages.values()) / took),
        "append p50 ms": round(1000 * percentile(seen.appends, 50), 1),
        "append p99 ms": round(1000 * percentile(seen.appends, 99), 1),
        "heard p50 ms": round(1000 * percentile(seen.heard or [0.0], 50), 1),
        "heard p99 ms": round(1000 * percentile(seen.heard or [0.0], 99), 1),
        "killed": killed,
        "sent again": seen.retries,
        "resumed": sum(one.resumed for one in viewers),
        "snapshots": sum(one.snapshots for one in viewers),
        "faults": faults,
    }


@contextmanager
def serving_workers(db: str, queue: str, workers: int) -> Iterator[tuple[int, int]]:
    """Run `coppice serve`; yield its port and process id once all workers run."""
    with serving("--queue", queue, "--workers", str(workers), db=db) as (process, port):
        end = time.monotonic() + PATIENCE
        while workers > 1 and len(children(process.pid)) < workers and time.monotonic() < end:
            time.sleep(0.1)
        yield port, process.pid


def run(given: argparse.Namespace) -> int:
    """Measure each number of workers; return the number of faults."""
    found = 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        queue = given.queue or stack.enter_context(redis_server(folder)).url
        cluster = None if given.db else stack.enter_context(postgresql.cluster(folder))
        for workers in given.workers:
            with ExitStack() as one:
                db = given.db or one.enter_context(cluster.database()).url  # type: ignore[union-attr]
                with serving_workers(db, queue, workers) as (port, parent):
                    figures = asyncio.run(measure(port, parent, given))
                verified = subprocess.run(
                    [sys.executable, "-m", "webapp", "verify", "--db", db],
                    capture_output=True,
                    text=True,
                    check=False,
                )
            faults = figures.pop("faults")
            if verified.returncode:
                faults.append(f"verify: {verified.stdout.strip()[:500]}")
            print(f"{workers} workers: {json.dumps(figures)}", flush=True)
            for fault in faults[:10]:
                print(f"  FAULT {fault}", flush=True)
            found += len(faults)
    print(
        "no message lost or doubled, every viewer's state is the store's" if not found else f"{found} faults"
    )
    return found


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--sessions", type=int, default=2_000)
    parser.add_argument("--viewers", type=int, default=300)
    parser.add_argument("--writers", type=int, default=12, help="connections that append")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument(
        "--kill-every", type=float, default=20.0, help="seconds between two kills; 0 kills nobody"
    )
    parser.add_argument("--db", help="an empty PostgreSQL database")
    parser.add_argument("--queue", help="a Redis")
    given = parser.parse_args()
    if given.db and len(given.workers) > 1:
        parser.error("one database serves one number of workers: name one with --workers")
    reason = ("" if given.db else postgresql.why_not()) or ("" if given.queue else missing())
    if reason:
        print(reason)
        return 2
    return 1 if run(given) else 0


if __name__ == "__main__":
    sys.exit(main())

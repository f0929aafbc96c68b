"""Attacks from outside on a real `coppice serve`: the time of a plain request beside them, and what they cost.

Connections that send half a request, pages that never read, and a database that another process holds.
"""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.load import Http, Seen, handshake, masked, memory_mb, probe, serving
from benchmarks.rows import Row

HALF_SENT = 1_000
HALF_BODIES = 200
SOCKETS = 700
DEAF = 20
APPENDS = 40
LOOK_SECONDS = 3.0
HALF_HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HALF_BODY = b"POST /api/import HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10000000\r\n\r\n{"
Connections = list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]


async def opened_connections(port: int, count: int, sent: bytes, limit: int = 1 << 16) -> Connections:
    """Open `count` connections and send the same bytes on each."""
    opened = [await asyncio.open_connection("127.0.0.1", port, limit=limit) for _ in range(count)]
    for _, writer in opened:
        writer.write(sent)
    return opened


async def health(port: int) -> float:
    """Return the longest time of a plain request, in ms."""
    seen = Seen()
    probing = asyncio.create_task(probe(port, seen))
    await asyncio.sleep(LOOK_SECONDS)
    probing.cancel()
    return 1000 * max(seen.health)


async def health_beside(port: int, count: int, sent: bytes, what: str) -> list[Row]:
    """Return how long a plain request takes beside connections that stop in the middle."""
    opened = await opened_connections(port, count, sent)
    await asyncio.sleep(LOOK_SECONDS)  # they have arrived
    row = Row(f"longest /healthz beside {count:,} {what}", await health(port), "ms")
    for _, writer in opened:
        writer.close()
    return [row]


async def deaf_pages(process: Any, port: int) -> list[Row]:
    """Return the memory for pages that subscribe and never read, while 12 MB are appended."""
    http = Http(port)
    await http.send("POST", "/api/sessions", {"id": "deaf", "model": "gpt-5"})
    opened = await opened_connections(port, DEAF, handshake(port), limit=1)
    for reader, writer in opened:
        await reader.readexactly(1)
        writer.write(masked("40") + masked('421["subscribe",{"room":"session:deaf"}]'))
    before = memory_mb(process)
    for n in range(60):
        messages = [{"role": "user", "content": f"{n} " + "word " * 4_000}] * 10
        await http.send("POST", "/api/sessions/deaf/messages", {"messages": messages})
    row = Row(f"memory for {DEAF} pages that never read, 12 MB appended", memory_mb(process) - before, "MB")
    for _, writer in opened:
        writer.close()
    return [row]


async def locked(port: int, database: Path) -> list[Row]:
    """Return how long appends wait for a database that another process holds, the first ones and the next."""
    body = {"messages": [{"role": "user", "content": "hello"}]}
    await Http(port).send("POST", "/api/sessions", {"id": "locked", "model": "gpt-5"})
    await Http(port).send("POST", "/api/sessions/locked/messages", body)  # loads the tokenizer
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    async def one() -> tuple[float, int]:
        started = time.monotonic()
        status, _ = await Http(port).send("POST", "/api/sessions/locked/messages", body)
        return time.monotonic() - started, status

    rows = []
    for name in ("first", "next"):
        answers = await asyncio.gather(*(one() for _ in range(APPENDS)))
        longest, refused = max(took for took, _ in answers), sum(status == 503 for _, status in answers)
        rows.append(Row(f"longest of {APPENDS} appends to a locked database, {name}", longest, "s", 2))
        rows.append(Row(f"of these not answered with 503, {name}", APPENDS - refused, "", 0))
    other.close()
    return rows


def run() -> list[Row]:
    """Return the figures of all attacks, each on a server of its own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8_192, hard), hard))
    rows = []
    with serving() as (_, port):
        rows += asyncio.run(health_beside(port, HALF_SENT, HALF_HEAD, "half-sent requests"))
        rows += asyncio.run(health_beside(port, HALF_BODIES, HALF_BODY, "requests with half a body"))
    with serving() as (_, port):
        rows += asyncio.run(health_beside(port, SOCKETS, handshake(port), "open websockets"))
    with serving() as (process, port):
        rows += asyncio.run(deaf_pages(process, port))
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "c.db"
        with serving(db=database) as (_, port):
            rows += asyncio.run(locked(port, database))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return rows

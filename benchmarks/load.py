"""Many sessions that append, and many pages that watch: a real `coppice serve`, used from outside.

Sessions append in batches as fast as a few connections carry them; half of the pages show the overview, the others one
session each. What counts: the rate, the time until an append is answered and until a page hears of it, whether
everything arrived, the time of a plain request meanwhile, and the memory of the server.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.rows import Row, percentile

SESSIONS = 200
PAGES = 300
BATCH = 10
WRITERS = 8
SECONDS = 20.0
JOIN_SECONDS = 120.0  # until every page has joined its room
STOP_SECONDS = 120.0  # until a server has ended
# Pages whose messages are decoded and timed; the others count and discard theirs, as this process is to measure the
# server and not itself.
WATCHED = 4
QUIET_SECONDS = 20.0
TEXT = "The parser fails on nested lists in src/parser.py, line 120; the test expects two levels. " * 4
LARGE_BYTES = 5 * 1024 * 1024
LARGE_AT_ONCE = 3


@dataclass
class Seen:
    """Times in seconds: of appends, until pages heard of them, and of plain requests; and what was appended."""

    appends: list[float] = field(default_factory=list)
    heard: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    answered: dict[tuple[str, int], float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    shown: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    failed: int = 0
    received: int = 0
    lost: int = 0


class Http:
    """One kept connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return status and JSON of an answer."""
        if self._writer is None or self._writer.is_closing():
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Length: {len(data)}\r\n"
        self._writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode() + data)
        assert self._reader is not None
        try:
            head_read = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        except asyncio.IncompleteReadError:  # the server closed the kept connection meanwhile
            self._writer.close()
            self._writer = None
            return await self.send(method, path, body)
        length = re.search(r"content-length: (\d+)", head_read)
        text = await self._reader.readexactly(int(length[1]) if length else 0)
        if "connection: close" in head_read:
            self._writer.close()
        return int(head_read.split()[1]), json.loads(text)


async def frames(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield the text frames of a websocket."""
    while True:
        first, second = await reader.readexactly(2)
        size = second & 127
        if size == 126:
            (size,) = struct.unpack("!H", await reader.readexactly(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", await reader.readexactly(8))
        data = await reader.readexactly(size)
        if first & 15 == 1:
            yield data


def masked(text: str) -> bytes:
    """Return a text frame of a client, with the mask 0."""
    data = text.encode()
    size = bytes([128 | len(data)]) if len(data) < 126 else bytes([128 | 126]) + struct.pack("!H", len(data))
    return b"\x81" + size + bytes(4) + data


def handshake(port: int) -> bytes:
    """Return the request that opens a websocket."""
    key = base64.b64encode(os.urandom(16)).decode()
    return (
        f"GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )


async def packets(port: int, message: dict[str, Any]) -> AsyncIterator[bytes]:
    """Join a room as a page does; yield the answer (431 and JSON), then the messages (42 and JSON)."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    try:
        writer.write(handshake(port))
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 101 " in head, head
        async for data in frames(reader):
            if data.startswith(b"0"):
                writer.write(masked("40"))
            elif data.startswith(b"2"):
                writer.write(masked("3"))
            elif data.startswith(b"1"):
                return
            elif data.startswith(b"40"):
                writer.write(masked("421" + json.dumps(["subscribe", message])))
            else:
                yield data
    finally:
        writer.close()


async def page(port: int, room: str, seen: Seen, watched: bool, joined: Callable[[], None]) -> None:
    """Look at one room until cancelled."""
    try:
        async for data in packets(port, {"room": room}):
            if data.startswith(b"431"):
                joined()
            elif data.startswith(b"42"):
                seen.received += 1
                if watched:
                    note(seen, json.loads(data[2:]))
        seen.lost += 1
    except (asyncio.IncompleteReadError, ConnectionError):
        seen.lost += 1


def note(seen: Seen, message: list[Any]) -> None:
    """Record how long it took until a page was notified of an append."""
    name, payload = message
    rows = (
        payload["sessions"] if name == "sessions:updated" else [payload] if name == "session:updated" else []
    )
    now = time.monotonic()
    for row in rows:
        for count in range(seen.shown[row["id"]] + BATCH, row["messages"] + 1, BATCH):
            answered = seen.answered.get((row["id"], count))
            if answered is not None:
                seen.heard.append(max(0.0, now - answered))
        seen.shown[row["id"]] = max(seen.shown[row["id"]], row["messages"])


async def write(port: int, sessions: list[str], seen: Seen, until: float) -> None:
    """Append to sessions in turn."""
    http = Http(port)
    while time.monotonic() < until:
        for session in sessions:
            messages = [
                {"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} {TEXT}"}
                for n in range(BATCH)
            ]
            started = time.monotonic()
            status, _ = await http.send("POST", f"/api/sessions/{session}/messages", {"messages": messages})
            now = time.monotonic()
            if status != 200:
                seen.failed += 1
                continue
            seen.appends.append(now - started)
            seen.counts[session] += BATCH
            seen.answered[session, seen.counts[session]] = now


async def probe(port: int, seen: Seen) -> None:
    """Ask for the server's health ten times a second."""
    http = Http(port)
    while True:
        started = time.monotonic()
        await http.send("GET", "/healthz")
        seen.health.append(time.monotonic() - started)
        await asyncio.sleep(0.1)


def processor_seconds(process: subprocess.Popen[str]) -> float:
    """Return the processor time that the server has used, in seconds; 0 if the system does not report it."""
    try:
        status = Path(f"/proc/{process.pid}/stat").read_text()
    except OSError:
        return 0.0
    user, system = status.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def memory_mb(process: subprocess.Popen[str]) -> float:
    """Return the resident memory of the server in MB; 0 if the system does not report it."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return 0.0
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


@contextlib.contextmanager
def serving(*options: str, db: Path | str = "") -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run `coppice serve` with these options, over a new store unless `db` names one; yield its process and port."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "webapp", "serve", "--no-watch", "--port", "0"]
        command += ["--db", str(db or f"{folder}/c.db"), *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            port = urlsplit(process.stdout.readline().split(" at ")[1].split()[0]).port
            assert port is not None
            yield process, port
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)


async def measure(
    process: subprocess.Popen[str], port: int, sessions: int, pages: int, seconds: float
) -> list[Row]:
    """Return the figures of one load."""
    seen, joined = Seen(), asyncio.Semaphore(0)
    http = Http(port)
    names = [f"load-{n}" for n in range(sessions)]
    for name in names:
        await http.send("POST", "/api/sessions", {"id": name, "model": "gpt-5"})
    looking = []
    for n in range(pages):
        room = "overview" if n % 2 == 0 else f"session:{names[n % sessions]}"
        watched = n % 2 == 0 and n < 2 * WATCHED
        looking.append(asyncio.create_task(page(port, room, seen, watched, joined.release)))
    async with asyncio.timeout(JOIN_SECONDS):
        for _ in looking:
            await joined.acquire()
    await write(port, names[:1], seen, time.monotonic() + 0.01)  # loads the tokenizer
    seen.appends.clear()
    probing = asyncio.create_task(probe(port, seen))
    before, used, appended = memory_mb(process), processor_seconds(process), sum(seen.counts.values())
    started = time.monotonic()
    writers = min(WRITERS, sessions)
    await asyncio.gather(*(write(port, names[n::writers], seen, started + seconds) for n in range(writers)))
    took = time.monotonic() - started
    used, appended = processor_seconds(process) - used, sum(seen.counts.values()) - appended
    quiet = time.monotonic() + QUIET_SECONDS
    while any(seen.shown[name] < seen.counts[name] for name in names) and time.monotonic() < quiet:
        await asyncio.sleep(0.05)
    probing.cancel()
    unheard = sum(seen.shown[name] < seen.counts[name] for name in names)
    _, answer = await http.send("GET", "/api/sessions")
    stored = {one["id"]: one["messages"] for one in answer["sessions"]}
    missing = sum(seen.counts[name] - stored[name] for name in names)
    where = f"{sessions} sessions, {pages} pages"
    rows = [
        Row(f"messages appended, {where}", appended / took, "1/s", higher_is_better=True),
        Row(
            f"processor time for {BATCH} messages and all pages, {where}",
            1000 * BATCH * used / appended,
            "ms",
        ),
        Row(f"append of {BATCH} answered, {where}, p50", 1000 * percentile(seen.appends, 50), "ms"),
        Row(f"append of {BATCH} answered, {where}, p99", 1000 * percentile(seen.appends, 99), "ms"),
        Row(f"heard of on the overview, {where}, p50", 1000 * percentile(seen.heard, 50), "ms"),
        Row(f"heard of on the overview, {where}, p99", 1000 * percentile(seen.heard, 99), "ms"),
        Row(f"health, {where}, p99", 1000 * percentile(seen.health, 99), "ms"),
        Row(f"messages to pages, {where}", seen.received / took, "1/s", higher_is_better=True),
        Row(f"appends refused, {where}", seen.failed, "", 0),
        Row(f"messages missing, {where}", missing, "", 0),
        Row(f"sessions of whose end no page heard, {where}", unheard, "", 0),
        Row(f"pages cut off, {where}", seen.lost, "", 0),
        Row(f"memory, {where}", memory_mb(process), "MB"),
        Row(f"memory before, {where}", before, "MB"),
    ]
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    await asyncio.to_thread(process.wait)
    rows.append(Row(f"shutdown, {where}", time.monotonic() - started, "s", 5))
    for one in looking:
        one.cancel()
    return rows


async def measure_large(port: int, text: str, what: str) -> list[Row]:
    """Return what messages of LARGE_BYTES cost the others: another session appends, and a page hears of it."""
    seen, joined = Seen(), asyncio.Semaphore(0)
    http = Http(port)
    names = [f"large-{n}" for n in range(LARGE_AT_ONCE)]
    for name in ("small", *names):
        await http.send("POST", "/api/sessions", {"id": name, "model": "gpt-5"})
        first = {"messages": [{"role": "user", "content": TEXT}] * BATCH}  # loads the tokenizer
        await http.send("POST", f"/api/sessions/{name}/messages", first)
    seen.counts["small"] = seen.shown["small"] = BATCH
    looking = asyncio.create_task(page(port, "overview", seen, True, joined.release))
    await joined.acquire()
    probing = asyncio.create_task(probe(port, seen))
    started = time.monotonic()
    body = {"messages": [{"role": "user", "content": text}]}
    large = [
        asyncio.create_task(Http(port).send("POST", f"/api/sessions/{name}/messages", body)) for name in names
    ]
    while not all(one.done() for one in large):
        await write(port, ["small"], seen, time.monotonic() + 0.01)
        await asyncio.sleep(0.05)
    assert all(one.result()[0] == 200 for one in large), large
    took = time.monotonic() - started
    await asyncio.sleep(1)
    probing.cancel()
    looking.cancel()
    where = f"{LARGE_AT_ONCE} times 5 MB of {what}"
    return [
        Row(f"{where}: all answered", took, "s"),
        Row(
            f"{where}: longest time until a page heard of another session", 1000 * max(seen.heard), "ms", 200
        ),
        Row(f"{where}: longest append to another session", 1000 * max(seen.appends), "ms"),
        Row(f"{where}: longest health", 1000 * max(seen.health), "ms"),
    ]


LARGE = {
    "prose": (TEXT * (LARGE_BYTES // len(TEXT) + 1))[:LARGE_BYTES],
    "log lines": "".join(
        f"2026-01-31 12:00:{n % 60:02} ERROR worker {n}: cannot open /srv/data/{n:x}.db\n"
        for n in range(80_000)
    )[:LARGE_BYTES],
    "one long word": "x" * LARGE_BYTES,
}


def run() -> list[Row]:
    """Return the normal load, the highest, and what very large messages cost."""
    rows = []
    for what, text in LARGE.items():
        with serving() as (_, port):
            rows += asyncio.run(measure_large(port, text, what))
    for sessions, seconds in ((50, SECONDS), (SESSIONS, SECONDS)):
        with serving() as (process, port):
            rows += asyncio.run(measure(process, port, sessions, PAGES, seconds))
    return rows

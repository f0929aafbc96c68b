"""The lines that one server takes from `coppice follow --to`: real processes, each with the transcripts of one machine.

All lines are there when the followers start, as after a server was away. What counts is the rate between the first
line that the server stored and the last, and that none is missing.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from benchmarks.load import TEXT, processor_seconds, serving
from benchmarks.rows import Row
from tests.browser.writing import ClaudeFolder

TRANSCRIPTS, LINES = 10, 1_000
MACHINES = (1, 4)
PATIENCE = 600.0
LOOK_SECONDS = 0.25


def run() -> list[Row]:
    """Return lines per second from one machine and from several at once, the server's processor time, and gaps."""
    return [row for machines in MACHINES for row in _from(machines)]


def _from(machines: int) -> list[Row]:
    what, lines = (
        f"lines of {machines} followed machine{'s' * (machines > 1)}",
        machines * TRANSCRIPTS * LINES,
    )
    with tempfile.TemporaryDirectory() as folder, serving() as (process, port):
        homes = [Path(folder) / f"machine{n}" for n in range(machines)]
        for home in homes:
            _write(home)
        before = processor_seconds(process)
        with contextlib.ExitStack() as running:
            for home in homes:
                running.enter_context(_follower(home, port))
            seconds, stored = _taken(port, lines)
        used = processor_seconds(process) - before
    return [
        Row(f"{what}, stored", stored / seconds, "1/s", higher_is_better=True),
        Row(f"{what}, processor time of the server for 1,000", used / stored * 1_000, "s"),
        Row(f"{what}, missing", lines - stored, "", 0),
    ]


def _write(home: Path) -> None:
    """Write the transcripts of a machine: questions and answers of about 360 characters."""
    folder = ClaudeFolder(home / ".claude")
    for _ in range(TRANSCRIPTS):
        transcript = folder.transcript()
        for number in range(LINES):
            say = transcript.assistant if number % 2 else transcript.user
            say(f"{number} {TEXT}")


@contextlib.contextmanager
def _follower(home: Path, port: int) -> Iterator[None]:
    """Run `coppice follow` as on the machine with this home."""
    command = [sys.executable, "-m", "webapp", "follow", "--to", f"http://127.0.0.1:{port}"]
    command += ["--host", home.name, "--backlog", str(home / "backlog")]
    agents = ("CLAUDE", "CODEX", "GEMINI", "OPENCODE", "XDG", "PI_", "COPPICE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(agents)}
    process = subprocess.Popen(command, env={**kept, "HOME": str(home)}, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def _taken(port: int, lines: int) -> tuple[float, int]:
    """Wait for all lines; return the seconds since the server heard of the first session, and the lines stored."""
    begun = 0.0
    end = time.monotonic() + PATIENCE
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client:
        while True:
            found = client.get("/api/sessions").json()["sessions"]
            stored, now = sum(one["messages"] for one in found), time.monotonic()
            if stored >= lines or now > end:
                return now - begun, stored
            if not found:
                begun = now
            time.sleep(LOOK_SECONDS)

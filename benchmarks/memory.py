"""The memory of a server with 200 sessions, each of them looked at once.

Measured as the resident size of a server process of its own, before and after.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

import httpx

from benchmarks import sessions
from benchmarks.load import serving
from benchmarks.rows import Row
from webapp.config import Config
from webapp.wiring import build

SESSIONS = 200
MESSAGES = 300


def run() -> list[Row]:
    """Return the resident megabytes of an empty server and of one with 200 sessions."""
    with tempfile.TemporaryDirectory() as folder:
        empty = _resident(Path(folder) / "empty.db", look=False)
        full = Path(folder) / "full.db"
        app = build(Config(db=full, follow=False))
        for number in range(SESSIONS):
            sessions.filled(app, MESSAGES, f"s{number}")
        app.close()
        return [
            Row("memory of a server without sessions", empty, "MB"),
            Row(
                f"memory with {SESSIONS} sessions of {MESSAGES} messages, all viewed",
                _resident(full, look=True),
                "MB",
            ),
        ]


def _resident(db: Path, look: bool) -> float:
    """Start a server, view every session if `look`, and return its resident megabytes."""
    with (
        serving(db=db) as (server, port),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http,
    ):
        for row in http.get("/api/sessions").json()["sessions"] if look else ():
            http.get(f"/api/sessions/{row['id']}/messages?limit=100").raise_for_status()
        return _tree_megabytes(server.pid)


def _tree_megabytes(pid: int) -> float:
    """Return the resident size of a process and its children; shared pages count once."""
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    pids = [pid, *(int(word) for word in found.stdout.split())]
    page = os.sysconf("SC_PAGE_SIZE")
    kilobytes = 0
    for one in pids:
        rollup = Path(f"/proc/{one}/smaps_rollup")
        if rollup.exists():
            kilobytes += int(re.search(r"^Pss:\s+(\d+)", rollup.read_text(), re.MULTILINE).group(1))  # type: ignore[union-attr]
        else:
            kilobytes += int(Path(f"/proc/{one}/statm").read_text().split()[1]) * page // 1024
    return kilobytes / 1024

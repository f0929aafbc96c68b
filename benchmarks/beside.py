"""Programs that agents start many times a minute: the status line and a hook, from process start to their last byte.

Each run starts the two and a bare Python one after the other, so that a busy machine slows all three alike.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.rows import Row, elapsed_ms, percentile

RUNS = 40
STATUS_MS, HOOK_MS = 100.0, 200.0
INPUT = {
    "session_id": "s",
    "hook_event_name": "PreCompact",
    "context_window": {"context_window_size": 200_000, "current_usage": {"input_tokens": 120_000}},
}


def run() -> list[Row]:
    """Return the times of both, and of a Python that does nothing."""
    program = str(Path(sys.executable).with_name("coppice"))
    commands = {
        "bare": [sys.executable, "-c", ""],
        "status": [program, "statusline"],
        "hook": [program, "hook", "claude-code"],
    }
    took: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        hint = {"survive": "Keep port 8443. " * 400, "prune_pays": 41_200}
        (Path(folder) / "s.hint.json").write_text(json.dumps(hint), "utf-8")
        env = {**os.environ, "COPPICE_HINTS": folder}
        start = partial(
            subprocess.run, input=json.dumps(INPUT).encode(), env=env, capture_output=True, check=True
        )
        for _ in range(RUNS):
            for name, command in commands.items():
                took[name].append(elapsed_ms(partial(start, command)))
    return [
        Row("Python that does nothing, from process start, p50", percentile(took["bare"], 50), "ms"),
        Row("coppice statusline, p50", percentile(took["status"], 50), "ms", STATUS_MS),
        Row("coppice statusline, p95", percentile(took["status"], 95), "ms"),
        Row("coppice hook, p50", percentile(took["hook"], 50), "ms", HOOK_MS),
        Row("coppice hook, p95", percentile(took["hook"], 95), "ms"),
    ]

"""From a line written to a transcript to a changed pixel: measured in the browser, on the session's page.

A transcript file is appended to line by line; each line carries its number. A frame callback in the page looks for
the newest number and notes the wall clock, which is the writer's clock as well: both run on one machine.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks.rows import Row, percentile
from scripts.browser import launch_arguments, named_or_system
from tests.browser.waiting import holds
from tests.servers import running_server

LINES = 60
SESSION = "11111111-2222-4333-8444-555555555555"
GOAL_MS = 1_000.0

WATCH = """
() => {
  window.seen = {};
  const look = () => {
    for (const found of document.querySelector('message-list').textContent.matchAll(/line-(\\d+)-end/g)) {
      window.seen[found[1]] ??= Date.now();
    }
    requestAnimationFrame(look);
  };
  look();
}
"""


def run() -> list[Row]:
    """Return p50 and p99 over sixty lines, written at irregular times; every line has to appear."""
    times = _times()
    return [
        Row("line written to pixel changed, p50", percentile(times, 50), "ms", GOAL_MS),
        Row("line written to pixel changed, p99", percentile(times, 99), "ms", GOAL_MS),
    ]


def _times() -> list[float]:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        projects = Path(folder) / "claude" / "projects" / "-bench"
        projects.mkdir(parents=True)
        file = projects / f"{SESSION}.jsonl"
        _write(file, 0)
        with running_server(Path(folder), env={"CLAUDE_CONFIG_DIR": str(projects.parent.parent)}) as server:
            browser = playwright.chromium.launch(executable_path=named_or_system(), args=launch_arguments())
            page = browser.new_page()
            page.goto(f"{server.url}/sessions/{SESSION}")
            holds(page, "document.querySelector('message-list')?.textContent.includes('line-0-end')")
            page.evaluate(WATCH)
            written = _append(file, page)
            holds(page, f"window.seen[{LINES}] !== undefined")
            seen: dict[str, float] = page.evaluate("() => window.seen")
            browser.close()
    unseen = [n for n in written if str(n) not in seen]
    if unseen:
        raise RuntimeError(f"lines that never appeared on the page: {', '.join(map(str, unseen))}")
    return [seen[str(n)] - at for n, at in written.items()]


def _append(file: Path, page: Page) -> dict[int, float]:
    """Write the lines, about one every half second; return when each was written, in milliseconds."""
    rng, written = random.Random(1), {}
    for number in range(1, LINES + 1):
        written[number] = _write(file, number)
        page.wait_for_timeout(rng.uniform(250, 700))
    return written


def _write(file: Path, number: int) -> float:
    role = "user" if number % 2 == 0 else "assistant"
    content: Any = f"line-{number}-end of what was said"
    message: dict[str, Any] = {"role": role, "content": content}
    if role == "assistant":
        message |= {
            "id": f"msg_{number}",
            "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": content}],
        }
    row = {
        "type": role,
        "uuid": str(uuid.UUID(int=number + 1)),
        "parentUuid": str(uuid.UUID(int=number)) if number else None,
        "sessionId": SESSION,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
        "message": message,
    }
    with file.open("a") as out:
        out.write(json.dumps(row) + "\n")
    return time.time() * 1000

"""From a line written to a transcript to a changed pixel: measured in the browser, on the session's page.

A transcript file is appended to line by line; each line carries its number. A frame callback in the page looks for
the newest number and notes the wall clock, which is the writer's clock as well: both run on one machine.
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page

from benchmarks.rows import Row, percentile
from scripts.browser import launched
from tests.browser.waiting import holds
from tests.browser.writing import ClaudeFolder, Transcript
from tests.servers import running_server

LINES = 60
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
    with tempfile.TemporaryDirectory() as folder:
        claude = ClaudeFolder(Path(folder) / "claude")
        transcript = claude.transcript()
        _write(transcript, 0)
        env = {"CLAUDE_CONFIG_DIR": str(claude.root)}
        with running_server(Path(folder), env) as server, launched() as browser:
            page = browser.new_page()
            page.goto(f"{server.url}/sessions/{transcript.session}")
            holds(page, "document.querySelector('message-list')?.textContent.includes('line-0-end')")
            page.evaluate(WATCH)
            written = _append(transcript, page)
            holds(page, f"window.seen[{LINES}] !== undefined")
            seen: dict[str, float] = page.evaluate("() => window.seen")
    unseen = [n for n in written if str(n) not in seen]
    if unseen:
        raise RuntimeError(f"lines that never appeared on the page: {', '.join(map(str, unseen))}")
    return [seen[str(n)] - at for n, at in written.items()]


def _append(transcript: Transcript, page: Page) -> dict[int, float]:
    """Write the lines, about one every half second; return when each was written, in milliseconds."""
    rng, written = random.Random(1), {}
    for number in range(1, LINES + 1):
        written[number] = _write(transcript, number)
        page.wait_for_timeout(rng.uniform(250, 700))
    return written


def _write(transcript: Transcript, number: int) -> float:
    """Write a line with its number; return when, in milliseconds."""
    say = transcript.assistant if number % 2 else transcript.user
    say(f"line-{number}-end of what was said")
    return time.time() * 1000

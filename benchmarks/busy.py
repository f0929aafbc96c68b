"""An open session page of 10,000 messages into which 50 messages a second arrive while its tabs are used.

The server is a process of its own, the page a real browser. What counts: long tasks of the page, the time from a click
to what it paints, from an append to its text on the page, what moves, and whether nodes and memory stay flat. First a
plan of the quiet session is requested, and the time until it is on the page.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
from playwright.sync_api import CDPSession, Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from benchmarks.load import serving
from benchmarks.rows import Row, percentile
from benchmarks.sessions import MODEL, messages
from scripts.browser import launched
from tests.browser.waiting import holds

MESSAGES = 10_000
RATE = 50
BATCH = 5
SECONDS = 60.0
SESSION = "busy"
# A browser reports tasks from 50 ms and events from 16 ms on; shorter ones are within the goals.
WATCH = """
() => {
  window.tasks = []; window.shifts = []; window.clicks = []; window.seen = {};
  const watch = (type, take, more = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: false, ...more });
  watch('longtask', (task) => window.tasks.push(task.duration));
  watch('layout-shift', (shift) => window.shifts.push({ value: shift.value, recent: shift.hadRecentInput,
    of: shift.sources.map(({ node }) => node?.className || node?.nodeName).slice(0, 3) }));
  watch('event', (event) => event.interactionId && window.clicks.push(event.duration), { durationThreshold: 16 });
  const look = () => {
    const rows = document.querySelectorAll('message-list .what');
    for (let i = 0; i < Math.min(40, rows.length); i++) {
      const found = /line-(\\d+)-end/.exec(rows[i].textContent);
      if (found) window.seen[found[1]] ??= Date.now();
    }
    requestAnimationFrame(look);
  };
  look();
}
"""


def run() -> list[Row]:
    """Return the plan of the quiet session, and the figures of the busy one."""
    with (
        serving() as (_, port),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as http,
        launched("--js-flags=--expose-gc") as browser,
    ):
        _fill(http)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"http://127.0.0.1:{port}/sessions/{SESSION}")
        page.wait_for_selector("message-list .msg .fate b")
        planned = _planned(page)
        rows = [Row("p pressed until the plan of 10,000 messages is on the page", planned, "ms", 500)]
        rows += _busy(page, http)
    return rows


def _fill(http: httpx.Client) -> None:
    about = {"id": SESSION, "model": MODEL, "title": "A busy session"}
    http.post("/api/sessions", json=about).raise_for_status()
    for start in range(0, MESSAGES, 1_000):
        _append(http, messages(1_000, seed=start))


def _append(http: httpx.Client, batch: list[dict[str, Any]]) -> None:
    http.post(f"/api/sessions/{SESSION}/messages", json={"messages": batch}).raise_for_status()


def _planned(page: Page) -> float:
    """Return the milliseconds from the key to the plan's button, in the page's own time."""
    page.get_by_role("tab", name="Heaviest").click()
    page.wait_for_load_state("networkidle")
    page.evaluate(
        """() => {
            window.planned = null;
            const look = () => {
                const found = document.querySelector('plan-panel .panel-foot button:not(:disabled)');
                if (found) window.planned = performance.now() - window.pressed;
                else requestAnimationFrame(look);
            };
            addEventListener('keydown', () => { window.pressed = performance.now(); look(); },
                {once: true, capture: true});
        }"""
    )
    page.keyboard.press("p")
    holds(page, "window.planned !== null")
    return float(page.evaluate("window.planned"))


def _busy(page: Page, http: httpx.Client) -> list[Row]:
    browser = page.context.new_cdp_session(page)
    browser.send("Performance.enable")
    written: dict[int, float] = {}
    over = threading.Event()
    writer = threading.Thread(target=_write, args=(http, written, over.is_set))
    page.evaluate(WATCH)
    before = _flat(browser)
    writer.start()
    started, used, failed = time.monotonic(), 0, 0
    tabs = ["History", "Summary", "Archive", "Heaviest"]
    while time.monotonic() - started < SECONDS:
        try:
            page.get_by_role("tab", name=tabs[used % len(tabs)]).click(timeout=3_000)
        except PlaywrightTimeout:
            failed += 1
        used += 1
        page.wait_for_timeout(400)
    over.set()
    writer.join()
    page.wait_for_timeout(3_000)
    after = _flat(browser)
    tasks, shifts, clicks, seen = page.evaluate("[window.tasks, window.shifts, window.clicks, window.seen]")
    waits = [seen[str(n)] - at for n, at in written.items() if str(n) in seen]
    moved = [shift for shift in shifts if not shift["recent"]]
    return [
        Row("long tasks, p95", percentile(tasks, 95) if tasks else 0, "ms", 50),
        Row("long tasks, number", len(tasks), ""),
        Row("long tasks, longest", max(tasks, default=0), "ms"),
        Row("click to paint, p95", percentile(clicks, 95) if clicks else 0, "ms", 100),
        Row("clicks without an answer in 3 s", failed, "", 0),
        Row("append to its text on the page, p50", percentile(waits, 50) if waits else -1, "ms"),
        Row("append to its text on the page, p95", percentile(waits, 95) if waits else -1, "ms"),
        Row("messages seen on the page", len(waits) / max(1, len(written)), "", higher_is_better=True),
        Row("layout shift", sum(shift["value"] for shift in moved), "", 0),
        Row("nodes before", before["Nodes"], ""),
        Row("nodes after", after["Nodes"], ""),
        Row("heap before", before["JSHeapUsedSize"] / 1e6, "MB"),
        Row("heap after", after["JSHeapUsedSize"] / 1e6, "MB"),
        Row("listeners after", after["JSEventListeners"], ""),
        Row("messages a second", len(written) / SECONDS, "1/s", higher_is_better=True),
    ]


def _flat(browser: CDPSession) -> dict[str, float]:
    """Return the page's counts of what is alive."""
    browser.send("HeapProfiler.collectGarbage")
    return {one["name"]: one["value"] for one in browser.send("Performance.getMetrics")["metrics"]}


def _write(http: httpx.Client, written: dict[int, float], over: Callable[[], bool]) -> None:
    """Append batches at the rate, as well as the server keeps up, and note when each message was sent."""
    number, due = 0, time.monotonic()
    while not over():
        batch = []
        for _ in range(BATCH):
            number += 1
            role = ("user", "assistant")[number % 2]
            batch.append(
                {"role": role, "content": f"line-{number}-end of what was said about src/part_{number}.py"}
            )
            written[number] = time.time() * 1000
        _append(http, batch)
        due += BATCH / RATE
        time.sleep(max(0.0, due - time.monotonic()))

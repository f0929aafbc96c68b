"""The overview with 2,000 sessions, in the browser: its first rows, all of them, its weight, and typing in the filter.

The time of a keystroke is that from the event to the frame after the one that it changed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Page

from benchmarks.rows import Row, percentile
from benchmarks.sessions import MODEL, messages
from scripts.browser import launched
from tests.browser.waiting import holds
from tests.browser.wire import Wire
from tests.servers import running_server

SESSIONS, MESSAGES, PROJECTS = 2_000, 12, 40
TYPED = "session 19"
GOAL_MS, GOAL_ROWS = 50.0, 100

WATCH = """
() => {
  window.waited = [];
  document.addEventListener('input', event => {
    const began = performance.now();
    requestAnimationFrame(() => requestAnimationFrame(() => window.waited.push(performance.now() - began)));
  }, true);
}
"""
# Runs from the beginning of the page.
READ = """
const look = () => {
  if (document.querySelector('tr.session-row')) window.first ??= performance.now();
  const head = document.querySelector('.page-head')?.textContent ?? '';
  if (head.includes('2,000 sessions') && !head.includes('reading')) window.all = performance.now();
  else requestAnimationFrame(look);
};
look();
"""


def run() -> list[Row]:
    """Return times of a visit and of ten keystrokes, the bytes sent and the number of rows in the page."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(Path(folder)) as server,
        launched() as browser,
    ):
        talk = messages(MESSAGES)
        for n in range(SESSIONS):
            server.app.new_sessions.create(id=f"s{n}", model=MODEL, title=f"Session {n}: part {n % PROJECTS}")
            server.app.ingest.append_messages(f"s{n}", talk)
        return _visit(browser.new_page(locale="en-US"), server.url)


def _visit(page: Page, url: str) -> list[Row]:
    page.add_init_script(READ)
    visit = Wire(page).visit(url, lambda: holds(page, "window.all !== undefined"))
    first, read = page.evaluate("[window.first, window.all]")
    rows = page.locator("tr.session-row").count()
    page.evaluate(WATCH)
    page.get_by_label("Filter sessions").focus()
    for letter in TYPED:
        page.keyboard.type(letter)
        page.wait_for_timeout(150)
    holds(page, f"window.waited.length === {len(TYPED)}")
    waited: list[float] = page.evaluate("window.waited")
    return [
        Row("overview of 2,000: first rows", first, "ms"),
        Row("overview of 2,000: all of them read", read, "ms"),
        Row("overview of 2,000: sent", visit.size, "bytes"),
        Row("overview of 2,000: rows in the page", rows, "", GOAL_ROWS),
        Row("overview of 2,000: a key typed in the filter, p50", percentile(waited, 50), "ms", GOAL_MS),
        Row("overview of 2,000: a key typed in the filter, worst", max(waited), "ms", GOAL_MS),
    ]

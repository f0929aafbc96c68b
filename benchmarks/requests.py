"""The whole request around a plan, and the first view of a long session: over HTTP, and in the browser.

Cold means a server that was just started on an existing store; warm is the same request again.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from playwright.sync_api import sync_playwright

from benchmarks import sessions
from benchmarks.rows import Row
from scripts.browser import launch_arguments, named_or_system
from tests.servers import running_server
from webapp.config import Config
from webapp.wiring import build

PLAN_SIZES = (1_000, 10_000, 100_000)
VIEW_SIZE = 50_000
VIEW_GOAL_MS = 1_000.0


def run() -> list[Row]:
    """Plan requests at three sizes, the page of 50,000 messages cold and warm."""
    rows: list[Row] = []
    for size in PLAN_SIZES:
        rows += _with_session(size, _plan_rows)
    rows += _with_session(VIEW_SIZE, _view_rows)
    return rows


def _with_session(size: int, measure: Callable[[str, int], list[Row]]) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        app = build(Config(db=path / "coppice.db", follow=False))
        sessions.filled(app, size)
        app.close()
        with running_server(path) as server:
            return measure(server.url, size)


def _plan_rows(url: str, size: int) -> list[Row]:
    """A plan that cuts to 60 % of the session's tokens, cold and then warm."""
    with httpx.Client(base_url=url, timeout=120) as http:
        tokens = http.get("/api/sessions/bench").json()["pruned"]["tokens"]
        body = {"max_tokens": int(tokens * 0.6)}
        times = [
            _timed(lambda: http.post("/api/sessions/bench/plan", json=body).raise_for_status())
            for _ in range(3)
        ]
    return [
        Row(f"plan request, {size:,} messages, cold", times[0], "ms"),
        Row(f"plan request, {size:,} messages, warm", min(times[1:]), "ms"),
    ]


def _view_rows(url: str, size: int) -> list[Row]:
    with httpx.Client(base_url=url, timeout=120) as http:
        first = _timed(lambda: http.get("/api/sessions/bench/messages?limit=100").raise_for_status())
        warm = min(
            _timed(lambda: http.get("/api/sessions/bench/messages?limit=100").raise_for_status())
            for _ in range(3)
        )
    return [
        Row(f"first page of {size:,} messages, cold request", first, "ms"),
        Row(f"first page of {size:,} messages, warm request", warm, "ms"),
        Row(f"first view of {size:,} messages in the browser, server warm", _seen(url), "ms", VIEW_GOAL_MS),
    ]


def _seen(url: str) -> float:
    """Milliseconds from asking for the page until the first message row stands in it; the best of three."""
    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=named_or_system(), args=launch_arguments())
        for _ in range(3):
            page = browser.new_context().new_page()
            start = time.perf_counter()
            page.goto(f"{url}/sessions/bench", wait_until="commit")
            page.wait_for_selector("message-list [role=row][data-id]")
            times.append((time.perf_counter() - start) * 1000)
        browser.close()
    return min(times)


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000

"""The whole request around a plan, and the first view of a long session: over HTTP, and in the browser.

First is the first plan that a session ever has, for which its messages are analysed, cold one by a server that was just
started on the same store, and warm the same request again.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from benchmarks import sessions
from benchmarks.load import serving
from benchmarks.rows import Row, elapsed_ms
from scripts.browser import launched
from webapp.config import Config
from webapp.wiring import build

PLAN_SIZES = (1_000, 10_000, 100_000)
VIEW_SIZE = 50_000
VIEW_GOAL_MS = 1_000.0
COLD_VIEWS = 3
ROW = "message-list [role=row][data-id]"


def run() -> list[Row]:
    """Return plan requests at three sizes, and the page of 50,000 messages, first, cold and warm."""
    rows: list[Row] = []
    for size in PLAN_SIZES:
        rows += _with_session(size, _plan_rows)
    rows += _with_session(VIEW_SIZE, _view_rows)
    return rows


def _with_session(size: int, measure: Callable[[Path, int], list[Row]]) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        app = build(Config(db=path / "coppice.db", follow=False))
        sessions.filled(app, size)
        app.close()
        return measure(path, size)


@contextmanager
def _server(path: Path) -> Iterator[httpx.Client]:
    """Yield a client of a server process that was just started on the store in this folder."""
    with (
        serving(db=path / "coppice.db") as (_, port),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as http,
    ):
        yield http


def _plan_rows(path: Path, size: int) -> list[Row]:
    """Return a plan that cuts to 60 % of the session's tokens: the first one, a cold one, a warm one."""
    first, cold = _plan_times(path), _plan_times(path)
    return [
        Row(f"plan request, {size:,} messages, first", first[0], "ms"),
        Row(f"plan request, {size:,} messages, cold", cold[0], "ms"),
        Row(f"plan request, {size:,} messages, warm", min(cold[1:]), "ms"),
    ]


def _plan_times(path: Path) -> list[float]:
    """Return the ms of three such requests to a server that was just started."""
    with _server(path) as http:
        tokens = http.get("/api/sessions/bench").json()["pruned"]["tokens"]
        body = {"max_tokens": int(tokens * 0.6)}
        return [
            elapsed_ms(lambda: http.post("/api/sessions/bench/plan", json=body).raise_for_status())
            for _ in range(3)
        ]


def _view_rows(path: Path, size: int) -> list[Row]:
    ask = "/api/sessions/bench/messages?limit=100"
    first, *_ = _page_times(path, ask)
    cold, *warm = _page_times(path, ask)
    rows, fates = min(_seen(path) for _ in range(COLD_VIEWS))
    return [
        Row(f"first page of {size:,} messages with fates, first request", first, "ms"),
        Row(f"first page of {size:,} messages with fates, cold request", cold, "ms"),
        Row(f"first page of {size:,} messages with fates, warm request", min(warm), "ms"),
        Row(f"first view of {size:,} messages in the browser, server just started", rows, "ms", VIEW_GOAL_MS),
        Row("the same, until scores and fates stand in it", fates, "ms"),
    ]


def _page_times(path: Path, ask: str) -> list[float]:
    with _server(path) as http:
        return [elapsed_ms(lambda: http.get(ask).raise_for_status()) for _ in range(4)]


def _seen(path: Path) -> tuple[float, float]:
    """Return the ms from asking a fresh server for the page until its first message rows, and their fates, are there.

    The browser runs already, as a person's does.
    """
    with _server(path) as http, launched() as browser:
        page = browser.new_context().new_page()
        start = time.perf_counter()
        page.goto(f"{http.base_url}/sessions/bench", wait_until="commit")
        page.wait_for_selector(ROW)
        rows = time.perf_counter()
        page.wait_for_selector(f"{ROW}:not([data-fate=pending])")
        fates = time.perf_counter()
    return (rows - start) * 1000, (fates - start) * 1000

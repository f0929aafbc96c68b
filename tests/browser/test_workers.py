"""Pages of a server with several workers."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.queues import missing, redis_server
from tests.waiting import PATIENCE, until
from tests.webapp.serving.processes import started, workers_of


def is_accepted(url: str, text: str) -> bool:
    """Send a message, once even if repeated; return whether it was accepted."""
    body = {"messages": [{"role": "user", "content": text}], "idempotency_key": text}
    try:
        return httpx.post(f"{url}/api/sessions/a/messages", json=body, timeout=PATIENCE).is_success
    except httpx.HTTPError:
        return False


class TestPages:
    """A page connected to one worker, with events of all."""

    def test_stay_live_when_their_worker_dies(self, page: Page, tmp_path: Path) -> None:
        """A page shows messages that any worker accepted, before and after its own was killed, without a reload."""
        if reason := missing():
            pytest.skip(reason)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        with (
            redis_server(tmp_path) as redis,
            started(tmp_path, "--port", "0", "--workers", "2", "--queue", redis.url) as (process, url),
        ):
            until(lambda: len(workers_of(process)) == 2)
            httpx.post(f"{url}/api/sessions", json={"id": "a", "model": "gpt-5"}, timeout=PATIENCE)
            page.goto(f"{url}/sessions/a")
            for n in range(4):
                until(lambda n=n: is_accepted(url, f"before {n}"))  # type: ignore[misc]
                expect(page.get_by_text(f"before {n}").first).to_be_visible()
            page.evaluate("window.loadedOnce = true")
            for pid in workers_of(process):
                os.kill(pid, signal.SIGKILL)
            for n in range(4):
                until(lambda n=n: is_accepted(url, f"after {n}"))  # type: ignore[misc]
                expect(page.get_by_text(f"after {n}").first).to_be_visible()
            assert page.evaluate("window.loadedOnce")
            assert errors == []

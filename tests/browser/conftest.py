"""What browser tests get: a server of their own, and pages that may not complain.

A script error, a refused style or script, or an unexpected line in the console fails the test that caused it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

from tests.browser.writing import ClaudeFolder
from tests.servers import Server, running_server

# A busy machine takes its time; what is expected shows up as soon as it is there.
expect.set_options(timeout=15_000)

# The browser's own line for every answer of 400 and above; whether one was wanted is the test's business.
EXPECTED = "Failed to load resource"


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """A Claude Code folder that the server follows."""
    return ClaudeFolder(tmp_path / "claude")


@pytest.fixture
def server(tmp_path: Path, folder: ClaudeFolder) -> Iterator[Server]:
    """A running server that follows `folder`, with an empty store."""
    with running_server(tmp_path, env={"CLAUDE_CONFIG_DIR": str(folder.root)}) as running:
        yield running


@pytest.fixture
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """A desk's screen, English numbers, one time zone."""
    return {
        **browser_context_args,
        "viewport": {"width": 1280, "height": 900},
        "locale": "en-US",
        "timezone_id": "UTC",
    }


@pytest.fixture(autouse=True)
def complaints(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """What the page complained of; anything fails the test."""
    said: list[str] = []
    if "page" in request.fixturenames:
        page: Page = request.getfixturevalue("page")
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: said.append(f"script error: {error}"))
        page.on("console", lambda message: said.extend(_serious(message)))
    yield said
    assert not said, "\n".join(said)


def _serious(message: ConsoleMessage) -> list[str]:
    wanted = (
        message.type not in ("error", "warning") or EXPECTED in message.text or "WebSocket" in message.text
    )
    return [] if wanted else [f"{message.type}: {message.text}"]

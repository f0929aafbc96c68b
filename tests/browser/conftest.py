"""Fixtures of browser tests: a server for each test, a tab for each worker, and pages whose errors fail the test.

A script error, a refused style or script, or an unexpected line in the console fails the test that caused it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, WebError, expect

from tests.browser.expecting import waiting_for_elements
from tests.browser.looking import Look, Looking, only_looking
from tests.browser.tab import SCREEN, Opening, Tab
from tests.browser.writing import ClaudeFolder
from tests.ports import free_port
from tests.servers import Server, running_server
from tests.waiting import PATIENCE

# A condition is met as soon as it holds; only a failing test waits this long.
PATIENCE_MS = 1_000 * PATIENCE
expect.set_options(timeout=PATIENCE_MS)

# The browser's own line for every answer of 400 and above. Tests check statuses themselves.
EXPECTED = "Failed to load resource"


@pytest.fixture(scope="session", autouse=True)
def patient() -> Iterator[None]:
    """Wait for an element before an assertion on it, which costs less than asserting again and again."""
    with waiting_for_elements():
        yield


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """A Claude Code folder that the server follows."""
    return ClaudeFolder(tmp_path / "claude")


@pytest.fixture(scope="session")
def port() -> int:
    """The port of every server of a worker: one origin, whose scripts the browser keeps between tests."""
    return free_port()


@pytest.fixture
def server(tmp_path: Path, folder: ClaudeFolder, port: int, looking: Looking) -> Iterator[Server]:
    """A running server with an empty store that follows `folder`."""
    looking.leave()
    with running_server(tmp_path, env={"CLAUDE_CONFIG_DIR": str(folder.root)}, port=port) as running:
        yield running


@contextmanager
def new_context(browser: Browser) -> Iterator[BrowserContext]:
    """Open a browser context: a desktop's screen, English numbers, one time zone, and a window with one tab.

    The tab stays, so that the pages of tests are tabs of its window. The window is minimized: pages are then laid out,
    painted and shown to scripts as before, but neither they nor the browser's own controls reach a screen that nobody
    sees, which took a quarter of a test's processor time.
    """
    context = browser.new_context(viewport=SCREEN, locale="en-US", timezone_id="UTC", reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    session = context.new_cdp_session(context.new_page())
    window = session.send("Browser.getWindowForTarget")["windowId"]
    session.send("Browser.setWindowBounds", {"windowId": window, "bounds": {"windowState": "minimized"}})
    session.detach()
    yield context
    context.close()


@pytest.fixture(scope="session")
def shared_context(browser: Browser) -> Iterator[BrowserContext]:
    """One browser context for all tests of a worker."""
    with new_context(browser) as context:
        yield context


@pytest.fixture
def own_context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser context for one test that sets the clock, because Playwright cannot remove a clock from a context."""
    with new_context(browser) as context:
        yield context


@pytest.fixture(scope="session")
def shared_tab(shared_context: BrowserContext) -> Iterator[Tab]:
    """The tab of a worker."""
    with pytest.MonkeyPatch.context() as patch:
        yield Tab(shared_context, patch)


@pytest.fixture
def context(request: pytest.FixtureRequest, shared_context: BrowserContext) -> Iterator[BrowserContext]:
    """The shared context without the cookies and permissions of earlier tests, or the test's own context."""
    if "own_context" in request.fixturenames:
        yield request.getfixturevalue("own_context")
        return
    yield shared_context
    first = shared_context.pages[0]
    assert not first.evaluate("'__pwClock' in globalThis"), "a test that sets the clock needs `own_context`"
    shared_context.clear_cookies()
    shared_context.clear_permissions()


@pytest.fixture
def page(request: pytest.FixtureRequest, context: BrowserContext) -> Iterator[Page]:
    """The worker's tab, or a tab in the test's own context."""
    if "own_context" in request.fixturenames:
        yield context.new_page()
        return
    tab: Tab = request.getfixturevalue("shared_tab")
    server: Server | None = request.getfixturevalue("server") if "server" in request.fixturenames else None
    yield tab.lend()
    tab.take_back(server.url if server else None)


@pytest.fixture(scope="class")
def looking(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, port: int, shared_tab: Tab
) -> Iterator[Looking]:
    """The page that tests of a class look at, and its server."""

    @contextmanager
    def serve() -> Iterator[Server]:
        folder = tmp_path_factory.mktemp("looking")
        given: dict[str, Any] = {"port": port, "env": {"CLAUDE_CONFIG_DIR": str(folder)}}
        with ExitStack() as stack:
            if request.config.getoption("--engine") == "postgresql":
                given["db"] = stack.enter_context(request.getfixturevalue("cluster").database())
            yield stack.enter_context(running_server(folder, **given))

    looking = Looking(shared_tab, serve)
    yield looking
    looking.leave()


@pytest.fixture
def look(looking: Looking, shared_tab: Tab) -> Iterator[Look]:
    """Opens a page, or finds it open where the last test looked at it; what could change it is then refused."""
    with ExitStack() as stack:

        def at(opening: Opening) -> Page:
            page = looking.at(opening)
            stack.enter_context(only_looking())
            return page

        yield at
    shared_tab.rest()


@pytest.fixture(autouse=True)
def complaints(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """The errors and warnings of the pages; the test fails if any is left at its end."""
    said: list[str] = []
    if not {"page", "look"} & set(request.fixturenames):
        yield said
        return
    context: BrowserContext = request.getfixturevalue("context")

    def hear_error(error: WebError) -> None:
        said.append(f"script error: {error.error}")

    def hear_line(message: ConsoleMessage) -> None:
        said.extend(_serious(message))

    context.on("weberror", hear_error)
    context.on("console", hear_line)
    yield said
    context.remove_listener("weberror", hear_error)
    context.remove_listener("console", hear_line)
    assert not said, "\n".join(said)


def _serious(message: ConsoleMessage) -> list[str]:
    wanted = (
        message.type not in ("error", "warning") or EXPECTED in message.text or "WebSocket" in message.text
    )
    return [] if wanted else [f"{message.type}: {message.text}"]

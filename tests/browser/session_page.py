"""The page of a session, as several test modules open and read it."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.waiting import holds
from tests.servers import Server

# The name of the button that applies a plan.
APPLY = re.compile(r"^(Prune \d+ messages?|Shorten \d+ outputs?)")


def open_session(page: Page, server: Server, session: str) -> None:
    """Open a session's page and wait for its messages."""
    page.goto(f"{server.url}/sessions/{session}")
    expect(page.locator(".msg").first).to_be_visible()


def open_and_settle(page: Page, url: str) -> None:
    """Open a session's page and wait until it is live, has fates, verdict and chart, and reads nothing more."""
    page.goto(url)
    expect(page.locator(".live")).to_have_text("live")
    expect(page.locator(".msg .fate b").first).to_be_visible()
    expect(page.locator(".verdict .said")).not_to_be_empty()
    expect(page.locator("token-chart canvas")).to_be_visible()
    page.wait_for_load_state("networkidle")


def row(page: Page, number: int) -> Locator:
    """Return the row of one message."""
    return page.locator(".msg").filter(has=page.locator(".m-number", has_text=re.compile(f"^{number:,}$")))


def tokens_shown(page: Page) -> int:
    """Return the tokens of the context as the page shows them."""
    return int(re.sub(r"\D", "", page.locator(".bar .figure").last.inner_text().split("(")[0]))


def copied(page: Page, beginning: str) -> str:
    """Return the clipboard's text once it has this beginning; the context needs the permissions to read and write."""
    holds(page, "(text) => navigator.clipboard.readText().then((copy) => copy.startsWith(text))", beginning)
    return str(page.evaluate("navigator.clipboard.readText()"))

"""The page of a session, as several test modules open and read it."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, Response, expect

from tests.browser.waiting import holds, until
from tests.browser.writing import Transcript, managed
from tests.servers import Server

# The name of the button that applies a plan.
APPLY = re.compile(r"^(Prune \d+ messages?|Shorten \d+ outputs?)")


def open_session(page: Page, server: Server, session: str) -> None:
    """Open a session's page and wait for its messages."""
    page.goto(f"{server.url}/sessions/{session}")
    expect(page.locator(".msg").first).to_be_visible()


def open_followed(page: Page, server: Server, transcript: Transcript) -> None:
    """Open the page of a followed session once the server has read its transcript to the end.

    A page that is open meanwhile draws its chart again for what it had not, but only after five seconds.
    """

    def is_read() -> bool:
        stored = server.app.store.small.file(str(transcript.path))
        return stored is not None and stored[1]["mark"]["offset"] == transcript.path.stat().st_size

    until(page, is_read)
    page.goto(f"{server.url}/sessions/{transcript.session}")


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


def open_tuning(page: Page, server: Server) -> str:
    """Open the plan of a session above its target with its weights and tail; return the session's id."""
    session = managed(server, 60)
    open_session(page, server, session)
    expect(page.get_by_role("button", name=APPLY)).to_be_visible()
    page.get_by_text("Weights and tail").click()
    return session


def move(page: Page, label: str, value: str) -> None:
    """Move the slider of a weight and wait for the plan made with it."""
    with page.expect_response(with_words(f'"{label.lower()}":{value}')) as planned:
        page.get_by_label(label).fill(value)
    assert planned.value.json()["weights"][label.lower()] == float(value)


def with_words(words: str) -> Callable[[Response], bool]:
    """Return a condition for the plan whose request has these words; an earlier plan may still arrive."""
    return lambda one: one.url.endswith("/plan") and one.ok and words in (one.request.post_data or "")

"""Reads of a session page after an event: once each, and never an older state over a newer one."""

from __future__ import annotations

import re
from collections import Counter

from playwright.sync_api import Page, expect

from tests.browser.test_session import open_session
from tests.browser.waiting import drawn
from tests.browser.writing import managed
from tests.servers import Server

OLDER = """async id => {
  const session = await (await fetch(`/api/sessions/${id}`)).json();
  const { live } = await import("/static/shared/socket.js");
  const detail = { session: { ...session, version: session.version - 1, title: "As it was" } };
  live.dispatchEvent(new CustomEvent("context:stats", { detail }));
}"""


class TestAPageAfterAPrune:
    """One click, and the events that tell of it."""

    def test_reads_history_and_chart_once(self, page: Page, server: Server) -> None:
        """The answer to the click and three events are one change."""
        session = managed(server, 60)
        open_session(page, server, session)
        page.keyboard.press("p")
        button = page.get_by_role("button", name=re.compile(r"^Prune \d+ messages"))
        expect(button).to_be_visible()
        expect(page.locator("token-chart canvas")).to_be_visible()
        read: Counter[str] = Counter()
        page.on("request", lambda r: read.update([r.url.rsplit("/", 1)[1].split("?")[0]]))
        button.click()
        expect(page.get_by_role("status").filter(has_text="messages pruned")).to_be_visible()
        page.wait_for_timeout(1_500)  # longer than the page puts any reading off
        assert (read["timeline"], read["operations"], read["stats"]) == (1, 1, 0)

    def test_ignores_what_is_older_than_what_it_shows(self, page: Page, server: Server) -> None:
        """A session told late, with a version before the one on the page, changes nothing."""
        session = managed(server, 3, tokens=50)
        open_session(page, server, session)
        page.evaluate(OLDER, session)
        drawn(page)
        expect(page.locator("h1")).to_contain_text("A managed session")

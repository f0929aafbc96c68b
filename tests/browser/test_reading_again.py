"""Reads of a session page after an event: once each, and never an older state over a newer one."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from playwright.sync_api import Page, expect

from tests.browser.session_page import APPLY, open_and_settle, open_session
from tests.browser.waiting import drawn, fast_forward, until
from tests.browser.writing import feed, managed
from tests.servers import Server

OLDER = """async id => {
  const session = await (await fetch(`/api/sessions/${id}`)).json();
  const { live } = await import("/static/shared/socket.js");
  const detail = { session: { ...session, version: session.version - 1, title: "As it was" } };
  live.dispatchEvent(new CustomEvent("context:stats", { detail }));
}"""


class TestAPageAfterAPrune:
    """One click and the events that it causes."""

    @pytest.mark.usefixtures("own_context")
    def test_reads_history_and_chart_once(self, page: Page, server: Server) -> None:
        """The answer to the click and its three events cause one read each."""
        page.clock.install()
        open_and_settle(page, f"{server.url}/sessions/{managed(server, 60)}")
        button = page.get_by_role("button", name=APPLY)
        expect(button).to_be_visible()
        read: Counter[str] = Counter()
        page.on("request", lambda r: read.update([r.url.rsplit("/", 1)[1].split("?")[0]]))
        button.click()
        expect(page.get_by_role("status").filter(has_text="messages pruned")).to_be_visible()
        until(page, lambda: read["timeline"] and read["operations"])
        fast_forward(page)
        assert (read["timeline"], read["operations"], read["stats"]) == (1, 1, 0)

    def test_ignores_an_older_version_of_the_session(self, page: Page, server: Server) -> None:
        """A late event with a version before the one on the page changes nothing."""
        session = managed(server, 3, tokens=50)
        open_session(page, server, session)
        page.evaluate(OLDER, session)
        drawn(page)
        expect(page.locator("h1")).to_contain_text("A managed session")


class TestAPanelOutOfSight:
    """The heaviest parts, for which the server goes through all messages."""

    @pytest.mark.usefixtures("own_context")
    def test_is_read_once_it_can_be_seen(self, page: Page, server: Server) -> None:
        """Neither a closed sheet nor a hidden tab asks; both show the present state when they are opened."""
        session = managed(server, 6, tokens=50)
        page.set_viewport_size({"width": 390, "height": 844})
        asked: list[str] = []
        page.on("request", lambda one: asked.append(one.url) if one.url.endswith("/heaviest") else None)
        page.clock.install()
        open_session(page, server, session)
        feed(server, session, 2, tokens=50, start=6)
        expect(page.locator(".meta")).to_contain_text("8 messages")
        fast_forward(page)
        assert asked == []
        page.get_by_role("navigation", name="Panels").get_by_role("button", name="Heaviest").click()
        user = page.locator(".heavy li").filter(has=page.get_by_role("button", name="user", exact=True))
        expect(user).to_contain_text("4 messages")
        assert len(asked) == 1
        page.evaluate(HIDE, True)
        feed(server, session, 2, tokens=50, start=8)
        expect(page.locator(".meta")).to_contain_text("10 messages")
        fast_forward(page)
        assert len(asked) == 1
        page.evaluate(HIDE, False)
        expect(user).to_contain_text("5 messages")


HIDE = """hidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""

WATCH_DRAWING = """() => {
  window.drawn = { rows: 0, others: 0 };
  new MutationObserver(list => list.forEach(({ addedNodes }) => addedNodes.forEach(node => {
    if (!(node instanceof Element)) return;
    const count = 1 + node.querySelectorAll("*").length;
    window.drawn[node.parentElement?.closest("message-list") ? "rows" : "others"] += count;
  }))).observe(document.querySelector("coppice-session"), { childList: true, subtree: true });
}"""


class TestAPageWithManyNewMessages:
    """A hundred messages, appended one by one while *Heaviest* is open."""

    def test_reads_and_draws_little(self, page: Page, server: Server) -> None:
        """Each message is drawn once; lists and chart are read at intervals, not for each message."""
        session = managed(server, 30)
        open_and_settle(page, f"{server.url}/sessions/{session}")
        expect(page.locator("heavy-panel .heavy-rows small").first).to_be_visible()
        page.evaluate(WATCH_DRAWING)
        asked: Counter[str] = Counter()
        page.on("request", lambda r: asked.update([r.url.rsplit("/", 1)[1].split("?")[0]]))
        started = time.monotonic()
        for n in range(100):
            server.app.ingest.append_messages(session, [{"role": "user", "content": f"line-{n}-end"}])
        expect(page.locator("message-list .what").first).to_contain_text("line-99-end")
        seconds = time.monotonic() - started
        drawn_nodes = page.evaluate("window.drawn")
        assert asked["stats"] == 0
        assert asked["timeline"] <= 2 + seconds / 5
        assert asked["heaviest"] <= 2 + seconds / 2
        assert asked["messages"] <= 6 + 2 * seconds
        assert drawn_nodes["rows"] <= 100 * 40
        assert drawn_nodes["others"] <= 200 + 100 * seconds

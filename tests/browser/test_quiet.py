"""The work of a page that is open all day, counted in style calculations and changes, never in time."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.session_page import open_and_settle
from tests.browser.waiting import drawn, holds, until
from tests.browser.wire import PREFETCHED
from tests.browser.writing import feed, managed
from tests.servers import Server

# A timer, because requested frames would run every animation of the page.
A_WHILE = "() => new Promise((done) => setTimeout(done, 1000))"


@pytest.fixture
def restyled(browser: Browser, page: Page) -> Callable[[str], list[int]]:
    """A function that runs a script, waits, and returns the number of elements of each style calculation."""

    def run(script: str) -> list[int]:
        browser.start_tracing(page=page, categories=["devtools.timeline"])
        page.evaluate(script)
        page.evaluate(A_WHILE)
        events = json.loads(browser.stop_tracing())["traceEvents"]
        return [
            event["args"]["elementCount"]
            for event in events
            if event["name"] == "UpdateLayoutTree" and "elementCount" in event.get("args", {})
        ]

    return run


@pytest.fixture
def opened(page: Page, server: Server) -> Page:
    """The page of a session of 200 messages, with all its panels loaded."""
    session = managed(server, 200, tokens=50)
    open_and_settle(page, f"{server.url}/sessions/{session}")
    expect(page.locator("heavy-panel li").first).to_be_visible()
    holds(page, PREFETCHED)
    return page


class TestAnOpenPage:
    """The page of a session in which little happens."""

    def test_is_idle_while_nothing_changes(self, opened: Page, restyled: Callable[[str], list[int]]) -> None:
        """No animation styles the page at every frame, not even that of the live dot."""
        assert len(restyled("() => 0")) < 10

    def test_styles_only_new_elements(self, opened: Page, restyled: Callable[[str], list[int]]) -> None:
        """A new element anywhere on the page causes few others to be styled."""
        everything = opened.locator("*").count()
        places = [".drawn", ".session-name", "token-chart", "coppice-toasts", "main", ".side-body"]
        for place in places:
            add = f"() => document.querySelector({json.dumps(place)}).append(document.createElement('p'))"
            assert max(restyled(add), default=0) < everything / 4, place

    def test_moves_its_bars_for_large_changes_only(self, opened: Page, server: Server) -> None:
        """A few more tokens start no transition, which would lay out the bars in every frame."""
        opened.emulate_media(reduced_motion="no-preference")
        opened.evaluate(
            """() => {
                window.moved = 0;
                addEventListener("transitionrun", ({ target, propertyName }) => {
                    if (propertyName === "width" && target.closest(".gauge")) window.moved += 1;
                });
            }"""
        )
        [session] = server.app.sessions.list()
        parts = "[...document.querySelectorAll('.gauge-part')].map((part) => part.style.cssText).join()"
        before = opened.evaluate(parts)
        feed(server, session.id, 4, tokens=50, start=200)
        holds(opened, f"(before) => {parts} !== before", before)
        drawn(opened)
        assert opened.evaluate("window.moved") == 0
        feed(server, session.id, 4, tokens=5_000, start=204)
        holds(opened, "() => window.moved > 0")

    def test_draws_events_of_one_frame_at_once(
        self, opened: Page, server: Server, context: BrowserContext
    ) -> None:
        """Events between two frames change the page once."""
        browser = context.new_cdp_session(opened)
        browser.send("Network.enable")
        heard: list[str] = []
        browser.on(
            "Network.webSocketFrameReceived", lambda event: heard.append(event["response"]["payloadData"])
        )
        opened.evaluate(
            """() => {
                const rows = document.querySelector("message-list .drawn");
                window.changes = 0;
                new MutationObserver(() => { window.changes += 1; }).observe(rows, { childList: true });
                window.frame = requestAnimationFrame;
                window.held = [];
                window.requestAnimationFrame = (act) => window.held.push(act);
            }"""
        )
        [session] = server.app.sessions.list()
        for start in (200, 202, 204):
            heard.clear()
            feed(server, session.id, 2, tokens=50, start=start)
            until(opened, lambda: any("messages:appended" in frame for frame in heard))
        assert opened.evaluate("window.changes") == 0
        opened.evaluate("() => { for (const act of window.held) window.frame(act); }")
        expect(opened.locator('.msg[aria-rowindex="2"] .m-number')).to_have_text("206")
        assert opened.evaluate("window.changes") == 1

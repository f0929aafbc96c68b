"""The live connection: its loss is shown, and missed changes arrive afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from tests.browser.cable import Cable
from tests.browser.waiting import holds
from tests.browser.writing import feed, managed
from tests.servers import Server


@contextmanager
def cable_to(server: Server) -> Iterator[Cable]:
    """Put a cable between the page and the server, and close it when the block ends."""
    cable = Cable(int(server.url.rsplit(":", 1)[1]))
    try:
        yield cable
    finally:
        cable.close()


class TestALostConnection:
    """A page whose server is unreachable for a while."""

    def test_is_shown_and_caught_up_with(self, page: Page, server: Server) -> None:
        """The status says reconnecting; after it, missed messages appear without a reload."""
        session = managed(server, 4, tokens=50)
        with cable_to(server) as cable:
            page.goto(f"{cable.url}/sessions/{session}")
            state = page.locator(".live")
            expect(state).to_have_text("live")
            expect(page.locator(".msg")).to_have_count(4)
            page.evaluate("window.stayed = true")
            wholes: list[str] = []
            page.on("request", lambda r: wholes.append(r.url) if r.url.endswith("/stats") else None)
            cable.cut()
            expect(state).to_have_text(re.compile(r"^reconnecting, showing\s+\d\d:\d\d:\d\d\s*$"))
            feed(server, session, 3, tokens=50, start=4)
            expect(page.locator(".msg")).to_have_count(4)
            cable.mend()
            expect(state).to_have_text("live")
            expect(page.locator(".msg")).to_have_count(7)
            assert page.evaluate("window.stayed")
            assert wholes == [], "the answer to rejoining holds the statistics"

    def test_sends_missed_events_instead_of_reading_again(self, page: Page, server: Server) -> None:
        """While another page keeps the room open, missed changes come as events, and the chart is not read again."""
        session = managed(server, 4, tokens=50)
        other = page.context.new_page()
        other.goto(f"{server.url}/sessions/{session}")
        expect(other.locator(".live")).to_have_text("live")
        with cable_to(server) as cable:
            page.goto(f"{cable.url}/sessions/{session}")
            expect(page.locator(".msg")).to_have_count(4)
            expect(page.locator("token-chart canvas")).to_be_visible()
            expect(page.locator(".live")).to_have_text("live")
            cable.cut()
            expect(page.locator(".live")).to_contain_text("reconnecting")
            read: list[str] = []
            page.on("request", lambda r: read.append(r.url) if r.url.endswith("/timeline") else None)
            feed(server, session, 3, tokens=50, start=4)
            cable.mend()
            expect(page.locator(".msg")).to_have_count(7)
            expect(page.locator(".meta")).to_contain_text("7 messages")
            assert read == []

    def test_updates_the_overview_afterwards(self, page: Page, server: Server) -> None:
        """A session created meanwhile appears in the table, and a deleted one disappears."""
        managed(server, 1, tokens=50, id="gone", title="Gone")
        with cable_to(server) as cable:
            page.goto(cable.url)
            titles = page.locator("tr.session-row a.title")
            expect(titles).to_have_text(["Gone"])
            expect(page.locator(".live")).to_have_text("live")
            cable.cut()
            expect(page.locator(".live")).to_contain_text("reconnecting")
            managed(server, 1, tokens=50, title="Born")
            server.app.sessions.delete("gone")
            cable.mend()
            expect(titles).to_have_text(["Born"])

    def test_is_shown_on_a_phone_above_the_heading(self, page: Page, server: Server) -> None:
        """The strip with the status covers no heading."""
        page.set_viewport_size({"width": 390, "height": 800})
        with cable_to(server) as cable:
            page.goto(cable.url)
            expect(page.locator(".live")).to_have_text("live")
            cable.cut()
            expect(page.locator(".live")).to_contain_text("reconnecting")
            holds(
                page,
                """() => document.querySelector(".live").getBoundingClientRect().bottom
                    <= document.querySelector("h1").getBoundingClientRect().top""",
            )

    @pytest.mark.parametrize(
        ("address", "tab", "asked", "what"),
        [
            ("/sessions/s", "Archive", "**/archive", "Could not read the archive"),
            ("/sessions/s", "Summary", "**/summaries", "Could not read the summaries"),
            ("/search?q=heron", "", "**/api/search*", "Could not search"),
            ("/memory", "", "**/api/memories", "Could not read the memories"),
        ],
    )
    def test_can_be_tried_again_in_every_panel(
        self, page: Page, server: Server, address: str, tab: str, asked: str, what: str
    ) -> None:
        """A failed read is reported in a sentence, and a click repeats it."""
        managed(server, 2, tokens=20, id="s")
        page.route(asked, lambda route: route.abort())
        page.goto(server.url + address)
        if tab:
            page.get_by_role("tab", name=tab).click()
        fault = page.get_by_role("alert").filter(has_text=f"{what}: the server does not answer")
        expect(fault).to_be_visible()
        page.unroute(asked)
        fault.get_by_role("button", name="Try again").click()
        expect(fault).to_have_count(0)

    def test_can_be_tried_again_on_the_settings_page(self, page: Page, server: Server) -> None:
        """A page whose first read fails shows the reason, and a click reads again."""
        page.route("**/api/settings", lambda route: route.abort())
        page.goto(f"{server.url}/settings")
        expect(page.get_by_role("alert")).to_contain_text("the server does not answer")
        page.unroute("**/api/settings")
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("heading", name="Weights")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)

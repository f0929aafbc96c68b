"""The tab that tests share: each finds it as if it were new."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.tab import SCREEN, Tab
from tests.servers import Server

STATE = """() => ({
  stored: [localStorage.getItem("mine"), sessionStorage.getItem("mine")],
  width: innerWidth,
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  still: matchMedia("(prefers-reduced-motion: reduce)").matches,
})"""


class TestTheTab:
    """The tab between two tests."""

    def test_keeps_nothing_of_a_test(self, page: Page, server: Server, shared_tab: Tab) -> None:
        """Stored values, the size, preferences and interceptions of a test end with it."""
        page.route("**/api/settings", lambda route: route.abort())
        page.set_viewport_size({"width": 390, "height": 700})
        page.emulate_media(color_scheme="dark", reduced_motion="no-preference")
        page.goto(server.url)
        page.evaluate('() => (localStorage.setItem("mine", "1"), sessionStorage.setItem("mine", "1"))')
        shared_tab.take_back(server.url)
        assert shared_tab.lend() is page
        page.goto(f"{server.url}/settings")
        expect(page.get_by_label("Fresh tail")).to_be_visible()
        assert page.evaluate(STATE) == {
            "stored": [None, None], "width": SCREEN["width"], "dark": False, "still": True,
        }  # fmt: skip

    def test_leaves_unsaved_fields(self, page: Page, server: Server, shared_tab: Tab) -> None:
        """A page that would ask before it is left is left without an answer."""
        page.goto(f"{server.url}/settings")
        page.get_by_label("Fresh tail").press_sequentially("1")
        expect(page.get_by_role("button", name="Save", exact=True)).to_be_visible()
        shared_tab.take_back(server.url)
        assert shared_tab.lend() is page

    @pytest.mark.parametrize(
        "change",
        [
            lambda page: page.on("request", lambda one: None),
            lambda page: page.add_init_script("window.mine = 1"),
            lambda page: page.route_web_socket("**", lambda socket: None),
            lambda page: page.context.new_cdp_session(page),
            lambda page: page.context.new_page(),
        ],
        ids=[
            "a listener",
            "a script",
            "a socket's interception",
            "a session of the browser's tools",
            "a second tab",
        ],
    )
    def test_is_closed_after_a_lasting_change(
        self, change: Callable[[Page], object], page: Page, server: Server, shared_tab: Tab
    ) -> None:
        """A change that cannot be undone in a tab ends with the tab."""
        change(page)
        shared_tab.take_back(server.url)
        assert page.is_closed()
        assert shared_tab.lend() is not page

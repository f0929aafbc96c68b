"""The tab that tests share: each finds it as if it were new."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import Look, Looking
from tests.browser.tab import SCREEN, Tab
from tests.browser.waiting import until
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

    def test_keeps_nothing_of_a_test_that_left_its_page(
        self, page: Page, server: Server, shared_tab: Tab
    ) -> None:
        """Stored values are removed, too, after the test has gone to a page of no origin."""
        page.goto(server.url)
        page.evaluate('localStorage.setItem("mine", "1")')
        page.goto("about:blank")
        shared_tab.take_back(server.url)
        shared_tab.lend().goto(server.url)
        assert page.evaluate('localStorage.getItem("mine")') is None

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


def open_settings(page: Page, server: Server) -> None:
    """Open the settings, with a mark that goes with the page."""
    page.goto(f"{server.url}/settings")
    expect(page.get_by_label("Fresh tail")).to_be_visible()
    page.evaluate("globalThis.opened = true")


def open_memory(page: Page, server: Server) -> None:
    """Open another page."""
    page.goto(f"{server.url}/memory")


class TestLooking:
    """A page that several tests look at."""

    def test_finds_the_page_open(self, looking: Looking, shared_tab: Tab) -> None:
        """The next test that looks at it finds it loaded, without what this one did."""
        page = looking.at(open_settings)
        page.set_viewport_size({"width": 390, "height": 700})
        page.emulate_media(color_scheme="dark")
        page.get_by_label("Fresh tail").focus()
        page.evaluate("scrollTo(0, 500)")
        shared_tab.rest()
        assert looking.at(open_settings) is page
        assert page.evaluate("[globalThis.opened, innerWidth, scrollY]") == [True, SCREEN["width"], 0]
        assert not page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        expect(page.get_by_label("Fresh tail")).not_to_be_focused()

    def test_opens_another_page_on_a_server_of_its_own(self, looking: Looking) -> None:
        """Nothing is left of what the first page stored."""
        page = looking.at(open_settings)
        page.evaluate('() => localStorage.setItem("mine", "1")')
        looking.at(open_memory)
        assert page.evaluate('localStorage.getItem("mine")') is None
        looking.at(open_settings)
        assert page.url.endswith("/settings")

    def test_ends_where_a_test_has_a_server_of_its_own(self, looking: Looking, shared_tab: Tab) -> None:
        """A page that is lent is none that others look at."""
        page = looking.at(open_settings)
        assert shared_tab.lend() is page
        assert shared_tab.shown(open_settings) is None
        assert not page.evaluate("globalThis.opened")

    def test_opens_the_page_again_after_a_lasting_change(self, looking: Looking, shared_tab: Tab) -> None:
        """A listener or a second tab ends with the tab."""
        looking.at(open_settings).on("request", lambda one: None)
        shared_tab.rest()
        assert looking.at(open_settings).evaluate("globalThis.opened")

    @pytest.mark.parametrize(
        "change",
        [
            lambda page: page.get_by_role("button").first.click(),
            lambda page: page.get_by_label("Fresh tail").fill("1"),
            lambda page: page.keyboard.press("j"),
            lambda page: page.reload(),
        ],
        ids=["a click", "a value", "a key", "a reload"],
    )
    def test_refuses_a_change(self, change: Callable[[Page], object], look: Look) -> None:
        """The next test would find it."""
        page = look(open_settings)
        with pytest.raises(AssertionError, match="other tests look at"):
            change(page)

    def test_hears_the_errors_of_its_page(self, look: Look, complaints: list[str]) -> None:
        """They are those of the test that looks at it."""
        look(open_settings).evaluate("() => { setTimeout(() => { throw new Error('mine'); }); }")
        until(look(open_settings), lambda: complaints)
        assert "mine" in complaints.pop()

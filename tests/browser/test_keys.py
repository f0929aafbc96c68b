"""Keys that work on every page."""

from __future__ import annotations

import re
from itertools import pairwise

from playwright.sync_api import Locator, Page, expect

from tests.browser.session_page import open_and_settle
from tests.browser.waiting import holds
from tests.browser.writing import feed, managed
from tests.servers import Server

# The place of the element with the focus on the page, and whether it is in the bar at the top.
PLACE = """() => {
  const { top, bottom, left } = document.activeElement.getBoundingClientRect();
  const isInBar = document.activeElement.closest(".top") !== null;
  return { top: top + scrollY, bottom: bottom + scrollY, left, isInBar };
}"""


# True if the element with the focus is whole in view inside the box around it that scrolls, and not under its head.
WHOLE = """box => {
  const [it, around] = [document.activeElement, document.querySelector(box)];
  const [{ top, bottom, left, right }, edge] = [it.getBoundingClientRect(), around.getBoundingClientRect()];
  const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return left >= edge.left && right <= edge.right && it.contains(at);
}"""


def places(page: Page, last: Locator) -> list[dict[str, float]]:
    """Press Tab until `last` has the focus; return the places of all elements that had it, below the top bar."""
    found = []
    for _ in range(200):
        page.keyboard.press("Tab")
        place = page.evaluate(PLACE)
        found += [] if place["isInBar"] else [place]
        if last.evaluate("element => element === document.activeElement"):
            return found
    raise AssertionError("Tab does not reach the last element")


class TestKeys:
    """The two-key shortcuts, and the key of the search field."""

    def test_lead_to_the_other_pages(self, page: Page, server: Server) -> None:
        """Each of the four shortcuts opens its page, and the sheet of keys lists it."""
        page.goto(f"{server.url}/search")
        page.locator("h1").click()
        for keys, path in (("gs", "/settings"), ("gm", "/memory"), ("gf", "/search"), ("go", "/")):
            page.locator("h1").click()
            for key in keys:
                page.keyboard.press(key)
            expect(page).to_have_url(re.compile(re.escape(path) + "$"))
            expect(page.locator("h1")).to_be_visible()
        page.keyboard.press("?")
        sheet = page.get_by_role("dialog", name="Keys")
        for name in ("sessions", "settings", "memory", "search"):
            expect(sheet.get_by_text(f"Go to the {name}")).to_be_visible()

    def test_type_no_slash_into_an_empty_search_field(self, page: Page, server: Server) -> None:
        """The key that focuses the field is typed into it only after other text."""
        page.goto(f"{server.url}/search")
        field = page.get_by_label("Search all messages")
        expect(field).to_be_focused()
        page.keyboard.press("/")
        expect(field).to_have_value("")
        page.keyboard.type("a/b")
        expect(field).to_have_value("a/b")

    def test_bring_the_search_field_into_view(self, page: Page, server: Server) -> None:
        """The field that / focuses is seen, also from the foot of a long page."""
        page.goto(f"{server.url}/settings")
        field = page.get_by_label("Find a setting")
        expect(field).to_be_visible()
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(field).not_to_be_in_viewport()
        page.keyboard.press("/")
        expect(field).to_be_focused()
        expect(field).to_be_in_viewport()


class TestTabOnANarrowPage:
    """The order of the controls on a page of one column."""

    def test_goes_down_the_settings(self, page: Page, server: Server) -> None:
        """The trial of the settings is above them, and is reached before them."""
        page.set_viewport_size({"width": 390, "height": 844})
        managed(server, 3, tokens=50)
        page.goto(f"{server.url}/settings")
        expect(page.locator("what-if")).to_contain_text("With the saved settings")
        tried = places(page, page.locator("what-if input[type=range]"))
        found = tried + places(page, page.get_by_label("Aim", exact=True))
        assert [after for before, after in pairwise(found) if after["bottom"] < before["top"]] == []

    def test_goes_along_the_actions_on_a_session(self, page: Page, server: Server) -> None:
        """The first button of the row is reached first."""
        page.set_viewport_size({"width": 390, "height": 844})
        open_and_settle(page, f"{server.url}/sessions/{managed(server, 3, tokens=50)}")
        found = places(page, page.locator(".session-acts .primary"))
        lefts = [one["left"] for one in found if one["top"] == found[-1]["top"]]
        assert len(lefts) > 1
        assert lefts == sorted(lefts)


class TestTabInABoxThatScrolls:
    """The control with the focus in a row or table that is only in part in view."""

    def test_shows_a_chip_whole(self, page: Page, server: Server) -> None:
        """A chip at the edge, which browsers leave as it is, is brought into view."""
        page.set_viewport_size({"width": 390, "height": 844})
        open_and_settle(page, f"{server.url}/sessions/{managed(server, 30, tokens=300)}")
        chips = page.locator(".chart-steps .chip")
        expect(chips.nth(3)).to_be_attached()
        chips.first.focus()
        for n in range(1, 4):
            page.keyboard.press("Tab")
            expect(chips.nth(n)).to_be_focused()
            holds(page, WHOLE, ".chart-steps")

    def test_shows_a_button_below_the_head_of_a_table(self, page: Page, server: Server) -> None:
        """Going up, a button is not left below the head that stays in view."""
        page.goto(f"{server.url}/settings")
        buttons = page.locator(".models-scroll tbody button")
        page.locator("models-table").scroll_into_view_if_needed()
        expect(buttons.nth(30)).to_be_attached()
        buttons.nth(30).focus()
        for n in range(29, 0, -1):
            page.keyboard.press("Shift+Tab")
            expect(buttons.nth(n)).to_be_focused()
            holds(page, WHOLE, ".models-scroll")


class TestTabInABarThatStays:
    """The focus in the bar at the top, in the tabs and on the pill of new messages, on a page that is scrolled."""

    def test_scrolls_nothing(self, page: Page, server: Server) -> None:
        """The reader's place in the messages is where it was."""
        session = managed(server, 60, tokens=50)
        open_and_settle(page, f"{server.url}/sessions/{session}")
        page.evaluate("scrollTo(0, 1500)")
        page.locator(".brand").focus()
        for name in ("Sessions", "Search", "Memory", "Settings", "Keyboard shortcuts", "Theme: system"):
            page.keyboard.press("Tab")
            expect(
                page.locator(".top").get_by_label(name).or_(page.get_by_role("link", name=name))
            ).to_be_focused()
            assert (name, page.evaluate("scrollY")) == (name, 1500)
        page.get_by_role("tab", name="Heaviest").focus()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("tab", name="History")).to_be_focused()
        assert page.evaluate("scrollY") == 1500
        feed(server, session, 1, tokens=50, start=60)
        pill = page.get_by_role("button", name="1 new message")
        assert (
            pill.evaluate("pill => { const before = scrollY; pill.focus(); return scrollY - before; }") == 0
        )

"""Keys that work on every page."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.servers import Server


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

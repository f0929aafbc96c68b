"""`expect` in browser tests: it waits for an element first, and asserts what it always did."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.expecting import STATES, Waiting
from tests.browser.looking import Look
from tests.servers import Server

# Adds a paragraph to the page a little later.
ADD_LATER = """() => {
  setTimeout(() => document.body.append(Object.assign(document.createElement("p"), { id: "late" })), 50);
}"""


def open_search(page: Page, server: Server) -> None:
    """Open a page on which nothing changes."""
    page.goto(f"{server.url}/search")
    expect(page.get_by_label("Search all messages")).to_be_focused()


class TestExpect:
    """An assertion on an element."""

    def test_waits_for_the_element(self, look: Look) -> None:
        """An element that comes later is enough."""
        page = look(open_search)
        page.evaluate(ADD_LATER)
        expect(page.locator("#late")).to_have_text("")
        page.evaluate("document.querySelector('#late').remove()")

    @pytest.mark.parametrize("name", ["to_be_visible", "to_be_enabled", "to_be_focused"])
    def test_fails_without_it_in_playwrights_words(self, look: Look, name: str) -> None:
        """The message says what was expected and that there is no element."""
        missing = look(open_search).locator("#missing")
        with pytest.raises(AssertionError, match=r"(?s)Locator expected.*element\(s\) not found"):
            getattr(expect(missing), name)(timeout=200)

    def test_holds_without_an_element_where_none_is_expected(self, look: Look) -> None:
        """None of these waits for the element."""
        missing = look(open_search).locator("#missing")
        expect(missing).to_have_count(0)
        expect(missing).to_be_hidden()
        expect(missing).not_to_be_visible()
        expect(missing).to_be_visible(visible=False)
        expect(missing).to_be_attached(attached=False)
        expect(missing).to_have_text([])

    @pytest.mark.parametrize("name", sorted(STATES))
    def test_knows_the_assertions_that_need_an_element(self, look: Look, name: str) -> None:
        """Each is one of Playwright's, and has a negation that waits for nothing."""
        assertions = expect(look(open_search).locator("#missing"))
        assert isinstance(assertions, Waiting)
        assert getattr(assertions, name).__name__ != name
        assert getattr(assertions, f"not_{name}").__name__ == f"not_{name}"

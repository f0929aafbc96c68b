"""The cost of a page over the network: bytes and requests, never time."""

from __future__ import annotations

from collections import Counter

import pytest
from playwright.sync_api import Page, expect

from tests.browser.wire import Visit, Wire
from tests.browser.writing import managed
from tests.servers import Server

FIRST_BYTES, NEXT_BYTES = 200_000, 40_000
# Each page's address, and an element that is shown once its data has arrived.
PAGES = {
    "overview": ("/", "tr.session-row"),
    "session": ("/sessions/long", "heavy-panel li"),
    "search": ("/search?q=message", ".hit"),
    "settings": ("/settings", ".what-if-words p"),
    "memory": ("/memory", ".hit"),
    "widget": ("/widget?session=long", "context-manager-widget [role=meter]"),
}


@pytest.fixture
def filled(server: Server) -> Server:
    """A server with a long session, more than a screen of others, and a memory."""
    managed(server, 300, tokens=200, id="long")
    for n in range(40):
        managed(server, 4, tokens=50, title=f"Session {n} about {n * 7919 % 1009}")
    server.app.memory.add("memory", "the parser lives in src/parser.py")
    return server


def visit(wire: Wire, server: Server, name: str) -> Visit:
    """Visit a page until its data is shown and nothing is requested any more."""
    path, shown = PAGES[name]
    return wire.visit(server.url + path, lambda: expect(wire.page.locator(shown).first).to_be_visible())


class TestPages:
    """A first visit, and later visits."""

    def test_are_fetched_once_and_compressed(self, page: Page, server: Server) -> None:
        """A first visit stays small. Later visits load only what is new to them and revalidate nothing."""
        session = managed(server, 300, tokens=200)
        wire = Wire(page)

        def listed() -> None:
            expect(page.locator(".msg").first).to_be_visible()
            expect(page.locator("heavy-panel li").first).to_be_visible()

        first = wire.visit(f"{server.url}/sessions/{session}", listed)
        overview = wire.visit(server.url, lambda: expect(page.get_by_role("table")).to_be_visible())
        again = wire.visit(f"{server.url}/sessions/{session}", listed)
        assert first.size <= FIRST_BYTES
        assert len([one for one in first.fetched if "/static/" in one.url]) <= 64
        # A panel is read again where the scores arrive after its first answer.
        asked = Counter(one.url.split("/api/")[1] for one in first.fetched if "/api/" in one.url)
        assert len(asked) <= 8
        assert max(asked.values()) <= 2
        assert max(overview.size, again.size) <= NEXT_BYTES
        for visit in (overview, again):
            assert [one.url for one in visit.sent if one.revalidated] == []
            before = {one.url for one in first.fetched if "/static/" in one.url}
            assert [one.url for one in visit.fetched if one.url in before] == []
        assert [one.url for one in again.fetched if "/static/" in one.url] == []

    def test_are_small_after_any_other_page(self, page: Page, filled: Server) -> None:
        """With an empty cache each page takes 200 kB at most. After any other page it takes 40 kB: its data, and the
        files that the other page did not leave in the cache.
        """
        wire = Wire(page)
        seen = {}
        for name in PAGES:
            wire.empty_cache()
            seen[name] = visit(wire, filled, name)
        assert {name: one.size for name, one in seen.items() if one.size > FIRST_BYTES} == {}
        files = {
            name: {one.url: one.size for one in visit.fetched if "/static/" in one.url}
            for name, visit in seen.items()
        }
        after = {
            f"{then} after {first}": seen[then].size
            - sum(size for url, size in files[then].items() if url in files[first])
            for first in PAGES
            for then in PAGES.keys() - {first}
        }
        assert {pair: size for pair, size in after.items() if size > NEXT_BYTES} == {}
        again = [visit(wire, filled, name) for name in PAGES]
        assert [one.url for visit in again for one in visit.sent if one.revalidated] == []

    def test_of_settings_are_small_on_the_largest_screen(self, page: Page, filled: Server) -> None:
        """The panels far below are loaded when the reader comes near them, on a screen of 3,840 pixels too."""
        page.set_viewport_size({"width": 3840, "height": 2160})
        wire = Wire(page)
        wire.empty_cache()
        visit(wire, filled, "session")
        settings = visit(wire, filled, "settings")
        expect(page.locator("table.models")).to_be_visible()
        assert settings.size <= NEXT_BYTES
        expect(page.locator("webhooks-panel:not(:defined)")).to_have_count(1)
        page.locator("webhooks-panel").scroll_into_view_if_needed()
        expect(page.get_by_role("heading", name="Webhooks")).to_be_visible()

    def test_of_settings_load_only_what_is_drawn(self, page: Page, server: Server) -> None:
        """The page reads one plan and one session. The list of sessions is read when its field is opened."""
        session = managed(server, 60)
        managed(server, 6)
        wire = Wire(page)
        wire.visit(server.url, lambda: expect(page.get_by_role("table")).to_be_visible())
        words = page.locator(".what-if-words")
        settings = wire.visit(
            f"{server.url}/settings", lambda: expect(words).to_contain_text("With the saved settings")
        )
        assert settings.size <= NEXT_BYTES
        assert [one.url for one in settings.sent if one.revalidated] == []
        asked = [one.url.split("/api/")[1] for one in settings.fetched if "/api/" in one.url]
        assert asked.count(f"sessions/{session}/plan") == 1
        assert [one for one in asked if one.startswith("sessions?")] == ["sessions?limit=1&sort=tokens"]
        choice = page.locator("#what-if-session")
        expect(choice.locator("option")).to_have_count(1)
        choice.focus()
        expect(choice.locator("option")).to_have_count(2)

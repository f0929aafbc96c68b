"""The cost of a page over the network: bytes and requests, never time."""

from __future__ import annotations

from collections import Counter

from playwright.sync_api import Page, expect

from tests.browser.wire import Wire
from tests.browser.writing import managed
from tests.servers import Server


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
        assert first.size <= 200_000
        assert len([one for one in first.fetched if "/static/" in one.url]) <= 64
        # A panel is read again where the scores arrive after its first answer.
        asked = Counter(one.url.split("/api/")[1] for one in first.fetched if "/api/" in one.url)
        assert len(asked) <= 8
        assert max(asked.values()) <= 2
        assert max(overview.size, again.size) <= 40_000
        for visit in (overview, again):
            assert [one.url for one in visit.sent if one.revalidated] == []
            before = {one.url for one in first.fetched if "/static/" in one.url}
            assert [one.url for one in visit.fetched if one.url in before] == []
        assert [one.url for one in again.fetched if "/static/" in one.url] == []

    def test_of_settings_load_only_what_is_drawn(self, page: Page, server: Server) -> None:  # X4
        """The page reads one plan and one session. The list of sessions is read when its field is opened."""
        session = managed(server, 60)
        managed(server, 6)
        wire = Wire(page)
        wire.visit(server.url, lambda: expect(page.get_by_role("table")).to_be_visible())
        words = page.locator(".what-if-words")
        settings = wire.visit(
            f"{server.url}/settings", lambda: expect(words).to_contain_text("With the saved settings")
        )
        assert settings.size <= 40_000
        assert [one.url for one in settings.sent if one.revalidated] == []
        asked = [one.url.split("/api/")[1] for one in settings.fetched if "/api/" in one.url]
        assert asked.count(f"sessions/{session}/plan") == 1
        assert [one for one in asked if one.startswith("sessions?")] == ["sessions?limit=1&sort=tokens"]
        choice = page.locator("#what-if-session")
        expect(choice.locator("option")).to_have_count(1)
        choice.focus()
        expect(choice.locator("option")).to_have_count(2)

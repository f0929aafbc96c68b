"""Search over everything ever said."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.writing import managed
from tests.servers import Server


class TestSearching:
    """The search page."""

    def test_finds_what_was_pruned_and_leads_to_it(self, page: Page, server: Server) -> None:  # X14, B15
        """A word of a dropped message is found, marked, said to be out, and opens in its session."""
        session = managed(server, 6, tokens=50)
        [row] = [m for m in server.app.messages.page(session).messages if m.number == 2]
        server.app.operations.drop(session, row.id)
        other = managed(server, 2, tokens=20, title="Another")
        server.app.ingest.append_messages(other, [{"role": "user", "content": "a <b>heron</b> by the weir"}])
        page.goto(server.url)
        page.get_by_role("link", name="Search").click()
        field = page.get_by_label("Search all messages")
        expect(field).to_be_focused()
        field.fill("heron")
        hit = page.locator(".hit")
        expect(hit).to_have_count(1)
        expect(hit.locator("mark")).to_have_text("heron")
        expect(hit.locator(".snippet")).to_contain_text("<b>heron</b>")
        assert page.url.endswith("/search?q=heron")
        field.fill("message")
        out = page.locator(".hit", has_text="out of the context")
        expect(out).to_have_count(1)
        out.get_by_role("link").click()
        expect(page.locator(".msg-detail")).to_be_visible()
        expect(page.locator(".msg[data-open=true] .m-number")).to_have_text("2")

    def test_says_when_there_is_nothing(self, page: Page, server: Server) -> None:
        """No hit is said plainly; the query comes from the address."""
        page.goto(f"{server.url}/search?q=nothing+of+the+kind")
        expect(page.get_by_text("No message has these words.")).to_be_visible()

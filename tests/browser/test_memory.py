"""The memory page."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.writing import managed
from tests.servers import Server


class TestMemoryPage:
    """Memories and learnings, kept by hand."""

    def test_keeps_finds_changes_and_deletes(self, page: Page, server: Server) -> None:  # M8
        """All of it without leaving the page; a deletion can be taken back."""
        page.goto(server.url)
        page.get_by_role("link", name="Memory").click()
        page.get_by_label("A new memory").fill("the <b>parser</b> lives in src/parser.py")
        page.get_by_role("button", name="Keep it").click()
        row = page.locator(".hit")
        expect(row).to_have_count(1)
        expect(row.locator(".snippet")).to_have_text("the <b>parser</b> lives in src/parser.py")
        row.get_by_role("button", name="Edit").click()
        page.get_by_label("The text").fill("the lexer lives in src/lexer.py")
        page.get_by_role("button", name="Save").click()
        expect(row.locator(".snippet")).to_have_text("the lexer lives in src/lexer.py")
        page.get_by_label("Search memories").fill("parser")
        expect(page.get_by_text("None has these words.")).to_be_visible()
        page.get_by_label("Search memories").fill("lexer")
        expect(row.locator("mark").first).to_have_text("lexer")
        row.get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(row).to_have_count(1)
        assert [one["text"] for one in server.app.memory.listed("memory")] == [
            "the lexer lives in src/lexer.py"
        ]

    def test_keeps_a_message_as_a_learning_with_one_click(self, page: Page, server: Server) -> None:  # M8
        """From the message itself."""
        session = managed(server, 3, tokens=20)
        page.goto(f"{server.url}/sessions/{session}")
        page.locator(".msg").first.click()
        page.get_by_role("button", name="Keep as a learning").click()
        expect(page.get_by_text("Kept as a learning")).to_be_visible()
        [kept] = server.app.memory.listed("learning")
        assert kept["session_id"] == session

    def test_shows_learnings_apart(self, page: Page, server: Server) -> None:  # M8
        """With a link to where each was said."""
        server.app.sessions.create({"id": "a", "model": "gpt-5"})
        server.app.memory.add("learning", {"text": "tests first", "session_id": "a"})
        page.goto(f"{server.url}/memory")
        expect(page.get_by_text("No memories yet.")).to_be_visible()
        page.get_by_role("button", name="Learnings").click()
        expect(page.locator(".hit .snippet")).to_have_text("tests first")
        page.get_by_role("link", name="where it was said").click()
        expect(page).to_have_url(f"{server.url}/sessions/a")

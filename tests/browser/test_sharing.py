"""The card "What filled my context" for sharing."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.writing import managed
from tests.servers import Server


class TestTheCard:
    """Numbers of a session as a file."""

    def test_is_saved_as_markdown_and_as_a_picture(self, page: Page, server: Server) -> None:
        """Both come from the export menu, and neither contains the title or a message."""
        session = managed(server, 6, title="The secret garden")
        page.goto(f"{server.url}/sessions/{session}")
        texts = {}
        for name in ("Card as Markdown", "Card as a picture"):
            page.locator("details.export summary").click()
            with page.expect_download() as download:
                page.get_by_role("button", name=name).click()
            texts[download.value.suggested_filename] = Path(download.value.path()).read_text("utf-8")
            page.keyboard.press("Escape")
            page.reload()
        assert sorted(texts) == ["what-filled-my-context.md", "what-filled-my-context.svg"]
        for text in texts.values():
            assert "of 100,000 tokens" in text
            assert "secret" not in text
            assert "message 0" not in text
        expect(page.locator(".msg").first).to_be_visible()
        page.set_content(texts["what-filled-my-context.svg"])
        expect(page.get_by_role("img", name="full")).to_be_visible()

"""Weights suggested on the settings page: shown first, then unsaved changes, saved only by a click."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.waiting import intercept
from tests.servers import Server

PRESENT = {"recency": 35.0, "role": 25.0, "keywords": 20.0, "length": 5.0, "relevance": 15.0}
FOUND = {
    "weights": {**PRESENT, "relevance": 42.0}, "present": PRESENT, "before": 71.2, "after": 78.0,
    "held_out": 9, "sessions": 18, "cases": 60, "reason": "they keep 6.8 points more",
}  # fmt: skip


class TestSuggestedWeights:
    """The button in the panel of weights."""

    def test_are_refused_with_too_few_sessions(self, page: Page, server: Server) -> None:  # X15
        """The page says that there is nothing to suggest, and gives the reason."""
        page.goto(f"{server.url}/settings")
        page.get_by_role("button", name="Suggest from your sessions").click()
        expect(page.locator("weight-suggestion")).to_contain_text("Nothing to suggest: too few sessions")
        expect(page.get_by_role("button", name="Use these weights")).to_have_count(0)

    def test_are_missed_with_a_reason_where_their_file_did_not_arrive(
        self, page: Page, server: Server
    ) -> None:
        """A notice says so."""
        page.goto(f"{server.url}/settings")
        button = page.get_by_role("button", name="Suggest from your sessions")
        expect(button).to_be_visible()
        intercept(page, "**/weight-suggestion*", lambda route: route.abort())
        button.click()
        expect(page.get_by_role("alert")).to_contain_text("Could not load the suggestion: its file did not")

    def test_fill_the_sliders_and_wait_for_save(
        self, page: Page, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X15
        """The page shows the weights before and after; accepted weights are unsaved changes."""
        monkeypatch.setattr(server.app.suggesting, "suggest", lambda *_: FOUND)
        saved = server.app.settings.get().settings.weights
        page.goto(f"{server.url}/settings")
        page.get_by_role("button", name="Suggest from your sessions").click()
        shown = page.locator("weight-suggestion")
        expect(shown).to_contain_text("In 9 held-out sessions")
        expect(shown).to_contain_text("Relevance 15 → 42")
        page.get_by_role("button", name="Use these weights").click()
        relevance = page.locator('input[type=number][name="weights.relevance"]')
        expect(relevance).to_have_value("42")
        expect(shown).to_contain_text("not saved yet")
        assert server.app.settings.get().settings.weights == saved
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Settings saved.")).to_be_visible()
        assert server.app.settings.get().settings.weights["relevance"] == 42

"""Weights, tail and strategy in the plan on the session page."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.session_page import APPLY, move, open_tuning, with_words
from tests.servers import Server
from webapp.bodies import SessionChange


class TestTuning:
    """Weights, tail and strategy tried in place, and saved only when asked."""

    def test_changes_the_plan_and_no_setting(self, page: Page, server: Server) -> None:  # X4
        """A moved weight and a longer tail change the plan and its prune, but no setting."""
        session = open_tuning(page, server)
        move(page, "Recency", "100")
        expect(page.locator(".tuning [role=status]")).to_contain_text("Nothing is saved yet.")
        with page.expect_response(with_words('"fresh_tail":25')) as planned:
            page.get_by_label("Fresh tail").fill("25")
        plan = planned.value.json()
        assert (plan["weights"]["recency"], plan["fresh_tail"]) == (100, 25)
        assert not {message["number"] for message in plan["removed"]} & set(range(36, 61))
        page.get_by_role("button", name=APPLY).click()
        expect(page.get_by_role("status").filter(has_text="messages pruned")).to_be_visible()
        operation = server.app.store.operations.get(1, 1)
        assert operation is not None
        assert operation.facts.weights["recency"] == 100
        assert server.app.sessions.get(session).strategy.own is None
        assert server.app.store.sessions.get(session).settings == {}

    def test_saves_for_this_session(self, page: Page, server: Server) -> None:  # X4
        """The saved weight applies to this session only, and a button restores the common one."""
        session = open_tuning(page, server)
        saved = server.app.settings.get().settings.weights["recency"]
        move(page, "Recency", "90")
        page.get_by_role("button", name="Save for this session").click()
        expect(page.get_by_role("status").filter(has_text="this session")).to_be_visible()
        expect(page.get_by_role("button", name="Save for this session")).to_have_count(0)
        expect(page.get_by_label("Recency")).to_have_value("90")
        assert server.app.store.sessions.get(session).settings["weights"]["recency"] == 90
        assert server.app.settings.get().settings.weights["recency"] == saved
        page.get_by_role("button", name="Use those of all sessions").click()
        expect(page.get_by_label("Recency")).to_have_value(f"{saved:g}")
        assert server.app.store.sessions.get(session).settings == {}

    def test_saves_for_all_sessions(self, page: Page, server: Server) -> None:  # X4
        """The common settings change, and the session's own are removed."""
        session = open_tuning(page, server)
        server.app.sessions.patch(session, SessionChange(settings={"fresh_tail": 3}))
        page.locator("plan-panel").get_by_label("Strategy").select_option("score")
        move(page, "Recency", "80")
        page.get_by_role("button", name="Save for all sessions").click()
        expect(page.get_by_role("status").filter(has_text="all sessions")).to_be_visible()
        expect(page.get_by_role("button", name="Save for all sessions")).to_have_count(0)
        settings = server.app.settings.get().settings
        assert (settings.weights["recency"], settings.strategy) == (80, "score")
        assert server.app.store.sessions.get(session).settings == {}

    def test_is_reverted_by_reset(self, page: Page, server: Server) -> None:  # X4
        """Reset restores the plan and the slider."""
        open_tuning(page, server)
        before = page.get_by_label("Recency").input_value()
        going = page.get_by_role("button", name=APPLY).inner_text()
        move(page, "Recency", "100")
        expect(page.get_by_role("button", name="Save for this session")).to_be_visible()
        page.get_by_role("button", name="Reset").click()
        expect(page.get_by_label("Recency")).to_have_value(before)
        expect(page.get_by_role("button", name="Save for this session")).to_have_count(0)
        expect(page.get_by_role("button", name=APPLY)).to_have_text(going)

    def test_hides_weights_that_the_strategy_does_not_use(self, page: Page, server: Server) -> None:  # X4
        """A strategy without weights has no sliders, and the page says so."""
        open_tuning(page, server)
        page.locator("plan-panel").get_by_label("Strategy").select_option("newest_first")
        expect(page.get_by_text("Newest first, chosen now, does not use them")).to_be_visible()
        expect(page.get_by_label("Recency")).to_have_count(0)
        expect(page.get_by_label("Fresh tail")).to_be_visible()

"""The window on the session page, and outputs that an agent cleared, with a record of it and without."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.session_page import open_followed, open_session, row
from tests.browser.writing import ClaudeFolder, managed, words
from tests.servers import Server

ASSUMED = "(window assumed)"


class TestTheWindow:
    """The window of a model that has several."""

    def test_is_marked_as_assumed_until_it_is_chosen(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X10
        """The menu sets the window, and resets it."""
        transcript = folder.transcript(model="claude-opus-4-6")
        transcript.user("Fix the login race")
        transcript.assistant("Done.", tokens=60_000)
        open_followed(page, server, transcript)
        figures = page.locator(".bar-figures").first
        expect(figures).to_contain_text(f"of 200,000 {ASSUMED}")
        page.get_by_label("More", exact=True).click()
        page.get_by_label("Window", exact=True).select_option(label="1,000,000 tokens")
        expect(figures).to_contain_text("of 1,000,000")
        expect(figures).not_to_contain_text(ASSUMED)
        page.reload()
        expect(figures).to_contain_text("of 1,000,000")
        page.get_by_label("More", exact=True).click()
        page.get_by_label("Window", exact=True).select_option("")
        expect(figures).to_contain_text(f"of 200,000 {ASSUMED}")

    def test_of_a_million_offers_a_cap_on_the_target(self, page: Page, server: Server) -> None:  # X10
        """The cap moves the target of the gauge, and can be removed; the limit has its source and its date."""
        session = managed(server, 2, tokens=50, model="claude-opus-4-7")
        open_session(page, server, session)
        target = page.locator(".bars .gauge-label")
        expect(target).to_have_text("target 80 %")
        page.get_by_label("More", exact=True).click()
        cap = page.get_by_label("Cap", exact=True)
        cap.select_option(label="200,000 tokens")
        expect(target).to_have_text("target 20 %")
        assert server.app.sessions.get(session).target_tokens == 200_000
        page.keyboard.press("Escape")
        page.locator(".bar-notes summary").click()
        limit = page.locator(".bar-notes").get_by_text("Limit: 1,000,000 tokens")
        expect(limit).to_contain_text(re.compile(r", \d{4}-\d\d-\d\d\); the target is capped at 200,000"))
        page.get_by_label("More", exact=True).click()
        cap.select_option(label="None")
        expect(target).to_have_text("target 80 %")

    def test_is_asked_for_after_a_larger_call(self, page: Page, server: Server) -> None:  # X10
        """The page suggests no window by itself, and the choice ends the question."""
        session = managed(server, 4, tokens=50, model="gpt-5")
        answer = [{"role": "assistant", "content": "Done."}]
        server.app.ingest.append_messages(session, answer, usage={"input_tokens": 300_000})
        open_session(page, server, session)
        asked = page.get_by_label("A call took 300,000 tokens, more than the 272,000 known for gpt-5")
        expect(asked).to_be_visible()
        expect(page.locator(".session-notes")).to_contain_text("as its input, of a window of 400,000")
        expect(asked.locator("option").first).to_have_text("As detected: 272,000 tokens")
        expect(page.locator(".bar-figures").first).not_to_contain_text("1,000,000")
        asked.select_option(label="400,000 tokens")
        expect(asked).to_be_hidden()
        expect(page.locator(".bar-figures").first).to_contain_text("of 400,000")


class TestAClearing:
    """Outputs that the agent cleared, mostly without a row in its transcript."""

    def test_is_shown_on_the_chart_and_in_the_history(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X24
        """The history shows the tokens and outputs lost, and each message the reason."""
        transcript = folder.transcript()
        transcript.user("Fix the login race")
        for i in range(20):
            transcript.call(
                "Bash",
                {"command": f"step {i}"},
                words(900),
                tokens=20_000 + 1_000 * i - (6_000 if i > 14 else 0),
            )
        transcript.assistant("Done.", tokens=34_000)
        open_followed(page, server, transcript)
        expect(page.locator("token-chart .legend")).to_contain_text("◇cleared by the agent")
        mark = page.locator("token-chart .chart-marks [data-mark=clearing]")
        expect(mark).to_have_attribute("aria-label", re.compile("cleared", re.IGNORECASE))
        page.get_by_role("tab", name="History").click()
        entry = page.locator(".operations li").first
        expect(entry.locator(".op-mark")).to_have_text("◇")
        expect(entry).to_contain_text("Cleared by the agent")
        expect(entry).to_contain_text(
            re.compile(r"the agent cleared about [\d,]+ tokens, not recorded; probably \d+ old")
        )
        expect(entry.get_by_role("button", name="Undo")).to_have_count(0)
        expect(row(page, 3)).to_contain_text("the agent probably cleared its output, without recording it")

    def test_is_said_plainly_where_the_agent_recorded_it(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X24
        """The history and the message say that the agent cleared it, without a "probably"."""
        transcript = folder.transcript()
        transcript.user("Fix the login race")
        calls = [transcript.call("Bash", {"command": f"step {i}"}, words(900)) for i in range(3)]
        transcript.clear(calls[0])
        transcript.assistant("Done.")
        open_followed(page, server, transcript)
        expect(row(page, 3)).to_contain_text("the agent cleared its output, as it recorded after message 7")
        expect(row(page, 5)).not_to_contain_text("cleared")
        page.get_by_role("tab", name="History").click()
        entry = page.locator(".operations li").first
        expect(entry).to_contain_text("the agent cleared about 900 tokens: 1 old output (Bash)")

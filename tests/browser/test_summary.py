"""Summaries on a session's page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.writing import managed
from tests.servers import Server
from tests.webapp.building import conversation, entry, followed, user
from webapp.agents.records import Compaction
from webapp.bodies import ModelRow, SessionChange

# The distance of an item's dash, of its text and of its second line from the edge of the text, in characters.
LEFT = """pre => {
  const text = [...pre.childNodes].find(({ data, nodeType }) => nodeType === Node.TEXT_NODE && data);
  const character = (at) => {
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    return range.getBoundingClientRect();
  };
  const find = () => {
    for (const item of text.data.matchAll(/^- .+$/gm)) {
      const dash = character(item.index);
      for (let at = item.index; at < item.index + item[0].length; at++)
        if (character(at).top > dash.bottom && character(at).width)
          return [dash, character(item.index + 2), character(at)];
    }
  };
  const [dash, words, wrapped] = find();
  const inColumns = ({ left }) => Math.round((left - dash.left) / dash.width);
  return { dash: inColumns(dash), text: inColumns(words), wrapped: inColumns(wrapped) };
}"""


class TestSummarisingByAPlan:
    """The strategy summarise: chosen, previewed, applied and undone."""

    def test_shows_the_covered_messages_applies_and_undoes(
        self, page: Page, server: Server
    ) -> None:  # X1, X2, S4
        """The plan lists the covered messages and the summary's maximum of tokens; Undo restores the context."""
        session = managed(server, 40, tokens=400)
        before = server.app.context.get(session).messages
        page.goto(f"{server.url}/sessions/{session}#plan")
        panel = page.locator("plan-panel")
        panel.get_by_label("Cut to").fill("5")
        panel.get_by_label("Strategy", exact=True).select_option(label="Summarise")
        group = panel.get_by_role("button", name="Covered by the summary")
        expect(group).to_be_visible()
        expect(panel.get_by_text("Less the summary of messages 1–")).to_be_visible()
        expect(panel.get_by_text("at most")).to_be_visible()
        assert server.app.summarising.list(session).summaries == []
        panel.get_by_role("button", name="Summarise").filter(has_text="messages").click()
        expect(page.get_by_text("summarised,").first).to_be_visible()
        [summary] = server.app.summarising.list(session).summaries
        assert summary.in_context
        page.get_by_role("button", name="Undo").first.click()
        expect(page.get_by_text("Prune undone").first).to_be_visible()
        assert server.app.context.get(session).messages == before

    def test_can_be_chosen_for_all_sessions(self, page: Page, server: Server) -> None:  # S4, B18
        """The settings page offers it like any other strategy."""
        page.goto(f"{server.url}/settings")
        page.get_by_label("Strategy", exact=True).select_option(label="Summarise")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Settings saved")).to_be_visible()
        assert server.app.environment.settings().strategy == "summarise"


class TestTheEmergency:
    """A context whose protected messages exceed the usable tokens."""

    def test_is_offered_by_the_plan_and_can_be_undone(self, page: Page, server: Server) -> None:  # B7, S5
        """A plan that cannot reach its aim offers the emergency cut, with its tokens."""
        server.app.models.put("small", ModelRow(window=16_384))
        session = managed(server, 40, tokens=400, model="small", settings={"fresh_tail": 100})
        page.goto(f"{server.url}/sessions/{session}#plan")
        panel = page.locator("plan-panel")
        expect(panel.get_by_text("What is always kept takes")).to_be_visible()
        panel.get_by_role("button", name="Cut to").click()
        expect(page.get_by_text("freed.").first).to_be_visible()
        one = server.app.operations.list(session)[0]
        assert (one.kind, one.strategy) == ("prune", "emergency")
        assert server.app.context.get(session).over_budget is None
        page.get_by_role("button", name="Undo").first.click()
        expect(page.get_by_text("Prune undone").first).to_be_visible()


class TestSummaryPanel:
    """The summary panel of a session."""

    def test_counts_messages_without_limits_for_summaries_on_request(
        self, page: Page, server: Server
    ) -> None:  # S7, S3
        """Without automatic summaries there is no limit; with them the bar shows messages of the limit."""
        session = managed(server, 40, tokens=60)
        page.goto(f"{server.url}/sessions/{session}")
        page.get_by_role("tab", name="Summary").click()
        panel = page.locator("summary-panel")
        expect(panel.get_by_text("Summary: on request")).to_be_visible()
        expect(panel.get_by_text("Messages 40", exact=True)).to_be_visible()
        expect(panel.locator("progress")).to_have_count(0)
        expect(panel.locator(".status-line")).to_contain_text("| context: ")
        server.app.sessions.patch(session, SessionChange(settings={"auto_summarize": True}))
        page.reload()
        page.get_by_role("tab", name="Summary").click()
        expect(panel.get_by_text("Messages 40 / 30 (133.3 %)")).to_be_visible()
        expect(panel.get_by_text("Summary: when either is full")).to_be_visible()

    def test_counts_from_the_agents_compaction(self, page: Page, server: Server) -> None:  # S7
        """The agent's own summary is named, with a link to its message, instead of "No summary yet"."""
        followed(server.app, *conversation(3))
        brief = entry(40, user("a summary " * 40), kind="compaction_summary")
        server.app.ingest.append_records("s", [Compaction(None, "auto", 9_000, "c"), brief])
        page.goto(f"{server.url}/sessions/s?panel=summary")
        panel = page.locator("summary-panel")
        expect(panel).to_contain_text(re.compile(r"Since the agent's compaction, .* ago"))
        expect(panel).to_contain_text("Coppice has made no summary yet.")
        panel.get_by_role("button", name="message 13").click()
        expect(page.locator(".msg[data-open=true] .m-number")).to_have_text("13")

    def test_can_be_used_again_after_a_summary_that_came_to_nothing(
        self, page: Page, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # C9
        """A summary that is stopped, or not made, changes nothing of the session; the panel notices all the same."""
        session = managed(server, 20, tokens=60)
        running = [True]
        monkeypatch.setattr(server.app.background, "running", lambda _: running[0])
        page.goto(f"{server.url}/sessions/{session}")
        page.get_by_role("tab", name="Summary").click()
        panel = page.locator("summary-panel")
        expect(panel.get_by_role("button", name="Stop")).to_be_visible()
        expect(panel.get_by_role("button", name="Summarise now")).to_be_disabled()
        running[0] = False
        expect(panel.get_by_role("button", name="Summarise now")).to_be_enabled()

    def test_offers_nothing_where_there_is_nothing_to_summarise(
        self, page: Page, server: Server
    ) -> None:  # S7, C9
        """The button is disabled until there are messages besides the newest ones, and says why."""
        session = managed(server, 6)
        page.goto(f"{server.url}/sessions/{session}?panel=summary")
        button = page.get_by_role("button", name="Summarise now")
        expect(button).to_be_disabled()
        expect(button).to_have_accessible_description(re.compile("^There is nothing to summarise: .*[.]$"))
        server.app.ingest.append_messages(session, [{"role": "user", "content": "one more"}])
        expect(button).to_be_enabled()

    def test_summarises_shows_and_expands(self, page: Page, server: Server) -> None:  # S8, S7, C7
        """Both triggers are bars; a summary can be read, and Expand restores its messages."""
        session = managed(server, 20, tokens=60)
        server.app.sessions.patch(session, SessionChange(settings={"auto_summarize": True}))
        page.goto(f"{server.url}/sessions/{session}")
        page.get_by_role("tab", name="Summary").click()
        panel = page.locator("summary-panel")
        expect(panel.get_by_text("Messages 20 / 30 (66.7 %)")).to_be_visible()
        expect(panel.locator("progress")).to_have_count(2)
        panel.get_by_role("button", name="Summarise now").click()
        summary = panel.locator("details")
        expect(summary).to_have_count(1)
        expect(panel.get_by_text("Messages 0 / 30 (0.0 %)")).to_be_visible()
        toast = page.locator(".toast")
        expect(toast).to_contain_text(re.compile(r"^\s*Summarised: \d+ messages → ~[\d,]+ tokens\."))
        toast.get_by_role("button", name="Undo").click()
        expect(summary).to_contain_text("not in the context")
        panel.get_by_role("button", name="Summarise now").click()
        summary = panel.locator("details").first
        expect(panel.locator("details")).to_have_count(2)
        page.get_by_role("tab", name="History").click()
        expect(page.locator(".op-figures").first).to_contain_text(re.compile(r", ~[\d,]+ → ~[\d,]+ tokens"))
        page.get_by_role("tab", name="Summary").click()
        summary.locator("summary").click()
        expect(summary.locator("pre")).to_contain_text("## Key Decisions")
        assert summary.locator("pre").evaluate(LEFT) == {"dash": 0, "text": 2, "wrapped": 2}
        summary.get_by_role("button", name="Expand").click()
        expect(summary.locator("summary")).to_contain_text("not in the context")
        assert [one.in_context for one in server.app.summarising.list(session).summaries] == [False, False]

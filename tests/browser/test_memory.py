"""The memory page."""

from __future__ import annotations

from functools import partial

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.waiting import drawn, fast_forward, hold, holds, intercept, open_live
from tests.browser.writing import managed
from tests.servers import Server
from tests.webapp.building import call, entries, followed, result, said, user
from webapp.bodies import SessionChange

DECIDED = "Never run the migration twice because it drops the table."
REFUSED = "We must not touch prod because the data is live."


class TestMemoryPage:
    """Memories and learnings, kept by hand."""

    def test_keeps_finds_changes_and_deletes(self, page: Page, server: Server) -> None:  # M8
        """All of this works without leaving the page, and a deletion can be undone."""
        page.goto(server.url)
        page.get_by_role("link", name="Memory").click()
        page.get_by_label("A new memory").fill("the <b>parser</b> lives in src/parser.py")
        page.get_by_role("button", name="Keep it").click()
        row = page.locator(".hit")
        expect(row).to_have_count(1)
        expect(row.locator(".snippet")).to_have_text("the <b>parser</b> lives in src/parser.py")
        row.get_by_role("button", name="Edit: the <b>parser</b> lives in src/parser.py").click()
        expect(page.get_by_label("The text")).to_be_focused()
        page.get_by_label("The text").fill("the lexer lives in src/lexer.py")
        page.get_by_role("button", name="Save").click()
        expect(row.locator(".snippet")).to_have_text("the lexer lives in src/lexer.py")
        page.get_by_label("Search memories").fill("parser")
        expect(page.get_by_text("No memory has these words.")).to_be_visible()
        page.get_by_label("Search memories").fill("lexer")
        expect(row.locator("mark").first).to_have_text("lexer")
        row.get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(row).to_have_count(1)
        assert [one.text for one in server.app.memory.listed("memory")] == ["the lexer lives in src/lexer.py"]

    def test_is_left_as_it_was_by_escape(self, page: Page, server: Server) -> None:
        """Escape while a text is edited cancels, and the focus stays in its row."""
        server.app.memory.add("memory", "it is so")
        server.app.memory.add("memory", "and so is this")
        page.goto(f"{server.url}/memory")
        page.get_by_role("button", name="Edit: it is so").click()
        page.get_by_label("The text").fill("typed here")
        page.keyboard.press("Escape")
        expect(page.locator(".snippet")).to_have_text(["and so is this", "it is so"])
        expect(page.get_by_role("button", name="Edit: it is so")).to_be_focused()

    def test_shows_what_is_changed_elsewhere(self, page: Page, server: Server) -> None:  # M8
        """A change by another page or a program is shown; a text that is being edited stays as it is typed."""
        kept = server.app.memory.add("memory", "the parser lives in src/parser.py").id
        open_live(page, server, "/memory")
        rows = page.locator(".hit")
        expect(rows).to_have_count(1)
        rows.get_by_role("button", name="Edit").click()
        page.get_by_label("The text").fill("typed here")
        server.app.memory.change("memory", kept, "changed elsewhere")
        server.app.memory.add("memory", "added elsewhere")
        expect(rows).to_have_count(2)
        expect(page.get_by_label("The text")).to_have_value("typed here")
        page.get_by_role("button", name="Cancel").click()
        expect(rows.locator(".snippet")).to_have_text(["added elsewhere", "changed elsewhere"])

    def test_shows_what_is_dismissed_elsewhere(self, page: Page, server: Server) -> None:  # M8
        """A proposal leaves the page, and comes back with the undo of that."""
        followed(server.app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED))
        open_live(page, server, "/memory?kind=learnings")
        proposals = page.locator(".proposal")
        expect(proposals).to_have_count(1)
        server.app.proposals.dismiss(DECIDED)
        expect(proposals).to_have_count(0)
        server.app.proposals.propose_again(DECIDED)
        expect(proposals).to_have_count(1)

    def test_undoes_a_deletion_with_its_session(self, page: Page, server: Server) -> None:  # M8
        """The restored learning still links to its session; without that session its text comes back."""
        session = managed(server, 3, tokens=20)
        server.app.memory.add("learning", "it is so", session_id=session)
        page.goto(f"{server.url}/memory?kind=learnings")
        row = page.locator(".hit")
        row.get_by_role("button", name="Delete").click()
        page.get_by_role("button", name="Undo").click()
        expect(row.get_by_role("link", name="from this session")).to_be_visible()
        row.get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)
        server.app.sessions.delete(session)
        page.get_by_role("button", name="Undo").click()
        expect(row.locator(".snippet")).to_have_text("it is so")

    def test_says_that_an_undo_failed(self, page: Page, server: Server) -> None:
        """The failure of a toast's button is a toast."""
        server.app.memory.add("memory", "it is so")
        page.goto(f"{server.url}/memory")
        page.locator(".hit").get_by_role("button", name="Delete").click()
        undo = page.get_by_role("button", name="Undo")
        expect(undo).to_be_visible()

        def refuse(route: Route) -> None:
            route.fulfill(status=503, json={"error": {"type": "busy", "message": "the store is busy"}})

        intercept(page, "**/api/memories", refuse, method="POST")
        undo.click()
        expect(page.get_by_role("alert")).to_contain_text("Could not undo: the store is busy")

    def test_keeps_a_text_once_for_two_clicks(self, page: Page, server: Server) -> None:
        """A second click while the first is answered keeps nothing more."""
        page.goto(f"{server.url}/memory")
        page.get_by_label("A new memory").fill("the first")
        keep = page.get_by_role("button", name="Keep it")
        first = hold(page, "**/api/memories", keep.click, others=True)
        keep.click()
        first.continue_()
        expect(page.locator(".hit")).to_have_count(1)
        page.wait_for_load_state("networkidle")
        assert len(server.app.memory.listed("memory")) == 1

    @pytest.mark.usefixtures("own_context")
    def test_lets_its_times_grow_old(self, page: Page, server: Server) -> None:
        """A page that stays open says how long ago something was kept, not how long ago it was when it was read."""
        server.app.memory.add("memory", "it is so")
        page.clock.install()
        page.goto(f"{server.url}/memory")
        time = page.locator(".hit time")
        expect(time).to_be_visible()
        fast_forward(page, seconds=3 * 3600)
        expect(time).to_have_text("3h ago")

    def test_keeps_a_message_as_a_learning_with_one_click(self, page: Page, server: Server) -> None:  # M8
        """The button is in the open message."""
        session = managed(server, 3, tokens=20)
        page.goto(f"{server.url}/sessions/{session}")
        page.locator(".msg").first.click()
        page.get_by_role("button", name="Keep as a learning").click()
        expect(page.get_by_text("Kept as a learning")).to_be_visible()
        [kept] = server.app.memory.listed("learning")
        assert kept.session_id == session

    def test_keeps_a_message_once_for_two_clicks(self, page: Page, server: Server) -> None:
        """The second click while the first is answered keeps nothing more."""
        session = managed(server, 3, tokens=20)
        page.goto(f"{server.url}/sessions/{session}")
        page.locator(".msg").first.click()
        keep = page.get_by_role("button", name="Keep as a learning")
        first = hold(page, "**/api/learnings", keep.click, others=True)
        keep.click()
        first.continue_()
        expect(page.get_by_text("Kept as a learning")).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert len(server.app.memory.listed("learning")) == 1

    def test_proposes_learnings_to_keep_or_dismiss(self, page: Page, server: Server) -> None:  # M8
        """A proposal links to its message, one click keeps or dismisses it, and new ones appear live."""
        followed(server.app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED), said(REFUSED))
        page.goto(f"{server.url}/memory")
        page.get_by_role("button", name="Learnings").click()
        proposed = page.locator("learning-proposals")
        expect(proposed.get_by_text("2 proposals")).to_be_visible()
        proposed.get_by_role("button", name=f"Dismiss: {REFUSED}").click()
        expect(proposed.locator(".proposal")).to_have_count(1)
        page.get_by_role("button", name="Undo").click()
        expect(proposed.locator(".proposal")).to_have_count(2)
        proposed.get_by_role("button", name=f"Keep as a learning: {DECIDED}").click()
        expect(page.locator(".hit .snippet")).to_have_text(DECIDED)
        expect(proposed.locator(".proposal")).to_have_count(1)
        [kept] = server.app.memory.listed("learning")
        assert (kept.text, kept.session_id) == (DECIDED, "s")
        expect(proposed.get_by_role("link", name="message 5")).to_have_attribute(
            "href", "/sessions/s?message=5"
        )
        proposed.get_by_role("button", name=f"Dismiss: {REFUSED}").click()
        expect(proposed.get_by_text("Nothing is proposed.")).to_be_visible()
        more = entries(user("on"), call("c2"), result("c2", "ok"), said("We never push on Fridays."), start=9)
        server.app.ingest.append_records("s", more)
        expect(proposed.get_by_text("We never push on Fridays.")).to_be_visible()

    def test_does_not_bring_a_proposal_back_by_a_late_answer(self, page: Page, server: Server) -> None:
        """A proposal that was dismissed stays away when an answer from before arrives."""
        followed(server.app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED), said(REFUSED))
        page.goto(f"{server.url}/memory?kind=learnings")
        proposals = page.locator(".proposal")
        expect(proposals).to_have_count(2)
        expect(page.locator(".live")).to_have_text("live")
        change = partial(server.app.sessions.patch, "s", SessionChange(title="Named meanwhile"))
        late = hold(page, "**/api/proposals", change, others=True)
        answer = late.fetch()
        page.get_by_role("button", name=f"Dismiss: {REFUSED}").click()
        expect(proposals).to_have_count(1)
        read = page.evaluate("performance.getEntriesByType('resource').length")
        late.fulfill(response=answer)
        holds(page, "before => performance.getEntriesByType('resource').length > before", read)
        drawn(page)
        expect(proposals).to_have_count(1)

    def test_is_linked_from_the_summary_of_a_session(self, page: Page, server: Server) -> None:  # M8
        """The summary panel shows the number of proposals as it changes, and links to them."""
        followed(server.app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED))
        open_live(page, server, "/sessions/s", "session:s")
        page.get_by_role("tab", name="Summary").click()
        expect(page.locator("summary-panel")).not_to_contain_text(DECIDED)
        linked = page.get_by_role("link", name="1 proposed learning")
        expect(linked).to_be_visible()
        server.app.proposals.dismiss(DECIDED)
        expect(linked).to_be_hidden()
        server.app.proposals.propose_again(DECIDED)
        linked.click()
        expect(page.get_by_role("button", name="Learnings")).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_text("The settings say how many go into the system prompt")).to_be_visible()
        page.get_by_role("button", name=f"Keep as a learning: {DECIDED}").click()
        expect(page.locator(".hit .snippet")).to_have_text(DECIDED)

    def test_lists_learnings_apart_from_memories(self, page: Page, server: Server) -> None:  # M8
        """Each learning links to its session."""
        server.app.new_sessions.create(id="a", model="gpt-5")
        server.app.memory.add("learning", text="tests first", session_id="a")
        page.goto(f"{server.url}/memory")
        expect(page.get_by_text("No memories yet.")).to_be_visible()
        page.get_by_role("button", name="Learnings").click()
        expect(page.locator(".hit .snippet")).to_have_text("tests first")
        page.get_by_role("link", name="from this session").click()
        expect(page).to_have_url(f"{server.url}/sessions/a")

"""The message list while its session changes: rows that leave, new rows, open rows."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.session_page import open_and_settle, open_session, row
from tests.browser.waiting import LIST, drawn, hold, holds
from tests.browser.writing import feed, managed
from tests.servers import Server
from webapp.bodies import MessagesQuery, PruneBody
from webapp.services.planning.message_rows import BRIEF_CHARS

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
SLIDING = re.compile(r"\bentering\b")
# Counts the movements of rows and of the box around them.
WATCH_PLACES = """() => {
  window.placed = 0;
  new MutationObserver(changes => window.placed += changes.filter(({ target, oldValue }) =>
    target.matches(".drawn, .item") && target.getAttribute("style") !== oldValue).length,
  ).observe(document.querySelector("message-list .rows"),
    { subtree: true, attributes: true, attributeFilter: ["style"], attributeOldValue: true });
}"""


def rows(page: Page) -> Locator:
    """Return all visible rows."""
    return page.locator(".msg")


def identity(server: Server, session: str, number: int) -> str:
    """Return the id of a message."""
    page = server.app.messages.page(session, MessagesQuery(sort="oldest", after=str(number - 1), limit=1))
    return page.messages[0].id


PLACES = """row => [...row.querySelectorAll("[role=cell]")].map(cell => {
  const { x, y, width, height } = cell.getBoundingClientRect();
  return [x, y + scrollY, width, height];
})"""


# True if no row of twelve begins above the end of the one before.
OVERLAPPING_NONE = """() => {
  const boxes = [...document.querySelectorAll(".msg")].map(row => row.getBoundingClientRect());
  boxes.sort((a, b) => a.top - b.top);
  return boxes.length === 12 && boxes.slice(1).every((box, i) => box.top >= boxes[i].bottom - 1);
}"""


class TestPlaces:
    """The places of rows and columns while the rest of the page is read."""

    def test_stay_while_a_plan_arrives(self, page: Page, server: Server) -> None:  # X1
        """The chips of a plan and its fates move neither the row under the pointer nor a column of it."""
        page.goto(f"{server.url}/sessions/{managed(server, 60)}?panel=heaviest")
        expect(page.locator(".heavy li").first).to_be_visible()
        expect(page.locator("token-chart canvas")).to_be_visible()
        expect(row(page, 58).locator(".fate b")).to_be_visible()
        expect(page.locator(".verdict .said")).to_contain_text("Prune now: ")
        row(page, 58).hover()
        before = row(page, 58).evaluate(PLACES)
        page.keyboard.press("p")
        page.get_by_label("Cut to").fill("20")
        for name in ("Changes", "Goes"):
            expect(page.get_by_role("button", name=re.compile(rf"^{name} [3-5]\d$"))).to_be_visible()
        assert row(page, 58).evaluate(PLACES) == before


class TestAnotherWidth:
    """The rows after a turn of the screen."""

    def test_places_the_rows_by_their_new_height(self, page: Page, server: Server) -> None:
        """Rows that become higher do not cover each other."""
        open_session(page, server, managed(server, 12, tokens=50))
        expect(rows(page)).to_have_count(12)
        page.set_viewport_size({"width": 600, "height": 900})
        holds(page, OVERLAPPING_NONE)


class TestASelection:
    """The selected messages, and what can be done with them."""

    def test_follows_a_message_that_is_pinned(self, page: Page, server: Server) -> None:
        """A pinned message cannot be dropped, so that this is no longer offered."""
        open_session(page, server, managed(server, 12, tokens=50))
        for key in ("j", "j", "s"):
            page.keyboard.press(key)
        drop = page.get_by_role("toolbar", name="Selected messages").get_by_role("button", name="Drop…")
        expect(drop).to_be_visible()
        page.keyboard.press("x")
        expect(row(page, 11).get_by_role("img", name="pinned")).to_be_visible()
        expect(drop).to_have_count(0)


class TestRowsThatLeave:
    """Rows that no longer match the filter."""

    def test_go_even_under_the_pointer(self, page: Page, server: Server) -> None:
        """A message restored by an undo leaves the list of messages that are out."""
        session = managed(server, 60)
        server.app.prunes.apply(session, PruneBody())
        open_session(page, server, session)
        page.locator("button[data-name=out]").click()
        expect(row(page, 60)).to_have_count(0)
        rows(page).first.hover()
        server.app.operations.undo(session, 1)
        expect(page.get_by_text("No message matches.")).to_be_visible()
        expect(rows(page)).to_have_count(0)

    def test_change_in_place_at_the_end_of_a_long_list(self, page: Page, server: Server) -> None:
        """The row of a message that is dropped shows this while the reader is at the oldest rows."""
        session = managed(server, 720, tokens=5)
        open_session(page, server, session)
        page.keyboard.press("End")
        rows(page).last.hover()
        expect(row(page, 3)).to_be_in_viewport()
        server.app.by_hand.drop(session, identity(server, session, 3))
        expect(row(page, 3)).to_have_attribute("data-fate", "out")
        expect(row(page, 3)).to_be_in_viewport()


class TestRowsThatAreReadAgain:
    """Rows whose fates may have changed."""

    def test_keep_their_texts_which_come_only_once(self, page: Page, server: Server) -> None:
        """An answer without texts changes the fate of a row, and its text stays whole."""
        session = managed(server, 12, tokens=200)
        open_and_settle(page, f"{server.url}/sessions/{session}")
        text = row(page, 3).locator(".what")
        said = text.inner_text()
        with page.expect_response(re.compile(f"{LIST.pattern}.*brief=true")) as brief:
            server.app.by_hand.drop(session, identity(server, session, 3))
        assert max(len(one["text"]) for one in brief.value.json()["messages"]) <= BRIEF_CHARS < len(said)
        expect(row(page, 3)).to_have_attribute("data-fate", "out")
        expect(text).to_have_text(said)


class TestNewRows:
    """New rows wait while the list is being read."""

    def test_appear_after_the_pointer_leaves(self, page: Page, server: Server) -> None:
        """No click and no other event is needed."""
        session = managed(server, 12, tokens=50)
        open_session(page, server, session)
        row(page, 8).hover()
        feed(server, session, 2, tokens=50, start=12)
        expect(page.get_by_role("button", name="2 new messages")).to_be_visible()
        page.mouse.move(5, 5)
        expect(row(page, 14)).to_be_visible()
        expect(page.locator(".pill")).to_have_count(0)

    def test_do_not_wait_for_an_open_row_that_is_filtered_out(self, page: Page, server: Server) -> None:
        """Another filter closes the open row."""
        session = managed(server, 12, tokens=50)
        open_session(page, server, session)
        row(page, 8).get_by_role("button").click()
        expect(page.locator(".msg-detail")).to_be_visible()
        page.mouse.move(5, 5)
        page.get_by_label("Role", exact=True).select_option("user")
        expect(rows(page)).to_have_count(6)
        feed(server, session, 1, tokens=50, start=12)
        expect(row(page, 13)).to_be_visible()

    def test_do_not_wait_if_the_pointer_leaves_while_they_are_read(self, page: Page, server: Server) -> None:
        """The list was under the pointer when its read began, and is not when it ends."""
        session = managed(server, 12, tokens=50)
        open_session(page, server, session)
        page.get_by_label("Role", exact=True).select_option("user")
        expect(rows(page)).to_have_count(6)
        row(page, 7).hover()
        read = hold(page, LIST, lambda: feed(server, session, 1, tokens=50, start=12), others=True)
        page.mouse.move(5, 5)
        drawn(page)
        read.continue_()
        expect(row(page, 13)).to_be_visible()

    def test_move_the_list_as_a_whole(self, page: Page, server: Server) -> None:
        """A new row moves the whole list and no single row."""
        session = managed(server, 12, tokens=50)
        open_session(page, server, session)
        expect(rows(page)).to_have_count(12)
        page.evaluate(WATCH_PLACES)
        feed(server, session, 1, tokens=50, start=12)
        expect(row(page, 13)).to_be_visible()
        drawn(page)
        assert page.evaluate("window.placed") == 1

    @pytest.mark.usefixtures("own_context")
    def test_slide_in_unless_others_have_just_come(self, page: Page, server: Server) -> None:
        """A message that arrives during a movement neither starts another movement nor ends this one."""
        session = managed(server, 12, tokens=50)
        page.clock.set_fixed_time(NOON)
        open_session(page, server, session)
        read_again = hold(page, LIST, lambda: feed(server, session, 1, tokens=50, start=12), others=True)
        expect(row(page, 13)).to_have_class(SLIDING)
        with page.expect_response(LIST):
            read_again.continue_()
        drawn(page)
        feed(server, session, 1, tokens=50, start=13)
        expect(row(page, 14)).not_to_have_class(SLIDING)
        expect(row(page, 13)).to_have_class(SLIDING)
        page.clock.set_fixed_time(NOON + timedelta(seconds=1))
        feed(server, session, 1, tokens=50, start=14)
        expect(row(page, 15)).to_have_class(SLIDING)


class TestAnOpenRow:
    """A row opened by the reader."""

    def test_stays_closed_if_its_read_fails_late(self, page: Page, server: Server) -> None:
        """A failed read does not reopen a row that was closed meanwhile."""
        session = managed(server, 4, tokens=50)
        open_session(page, server, session)
        reading = f"**/messages/{identity(server, session, 2)}"
        held = hold(page, reading, row(page, 2).get_by_role("button").click)
        expect(page.locator(".msg-detail")).to_be_visible()
        row(page, 2).get_by_role("button").click()
        expect(page.locator(".msg-detail")).to_have_count(0)
        with page.expect_event("requestfailed"):
            held.abort()
        drawn(page)
        expect(page.locator(".msg-detail")).to_have_count(0)

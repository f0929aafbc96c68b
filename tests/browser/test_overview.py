"""The overview: all sessions in one live table."""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import Look
from tests.browser.overview_page import DROP
from tests.browser.waiting import (
    drawn,
    hold,
    hold_joining,
    holds,
    in_place,
    top_of,
    until,
    without_live_connection,
)
from tests.browser.writing import ClaudeFolder, compacted, feed, managed, words
from tests.servers import Server, running_server
from tests.waiting import PATIENCE
from tests.webapp.agents.samples import samples_of
from webapp.agents import AGENTS
from webapp.bodies import PruneBody
from webapp.events import ImportProgressed, SettingsChanged

# Tells the page that a session [id, time] was active at that time.
ACTIVE = """async ([id, at]) => {
  const session = await (await fetch(`/api/sessions/${id}`)).json();
  const { live } = await import("/static/shared/socket.js");
  const detail = { ...session, version: session.version + 1, last_activity: at };
  live.dispatchEvent(new CustomEvent("session:updated", { detail }));
}"""


# True where the drawn rows reach to the lower edge of the window.
ROWS_BELOW_THE_VIEW = """() => {
  const ends = [...document.querySelectorAll("tr.session-row")].map(row => row.getBoundingClientRect().bottom);
  return Math.max(...ends) >= innerHeight;
}"""

EVIL = "<img src=x onerror=alert(1)> & <b>bold</b>"


def open_three(page: Page, server: Server) -> None:
    """Open the overview with a session above its target, one of a long title, and one whose agent works."""
    managed(server, 60, title="Full")
    managed(server, 2, title="Move the billing of all customers to the new API")
    managed(server, 1, title=EVIL)
    page.goto(server.url)
    expect(page.locator("tr.session-row")).to_have_count(3)


def open_agents(page: Page, server: Server) -> None:
    """Open the overview with a slowly growing session, some of four agents in two projects, and an imported list."""
    managed(server, 10, tokens=50, title="Slow")
    for agent, project in (
        ("claude-code", b"garden"),
        ("codex", b"garden"),
        ("gemini-cli", b"garden"),
        ("pi", b"greenhouse-of-glass"),
    ):
        for file in samples_of(AGENTS[agent]):
            said = file.path.read_bytes().replace(b"garden", project)
            server.app.importing.import_file(file.path.name, said)
    server.app.importing.import_file("talk.json", b'[{"role": "user", "content": "hello"}]')
    page.goto(server.url)
    expect(page.locator("tr.session-row", has_text="Slow")).to_be_visible()


def open_narrow(page: Page, server: Server) -> None:
    """Open the overview with a session of a very long title on a phone."""
    page.set_viewport_size({"width": 390, "height": 844})
    managed(server, 60, title="A very long title " * 8)
    page.goto(server.url)
    expect(page.locator("tr.session-row .c-tokens")).to_be_visible()


def open_nothing(page: Page, server: Server) -> None:
    """Open the overview without sessions."""
    page.goto(server.url)
    expect(page.get_by_role("heading", name="No sessions yet")).to_be_visible()


class TestTheTable:
    """The table of sessions."""

    def test_shows_titles_as_text(self, look: Look) -> None:
        """Markup in a title is shown, not run."""
        expect(look(open_three).locator("a.title", has_text="onerror")).to_have_text(EVIL)

    def test_gives_titles_the_room_that_no_column_uses(self, look: Look) -> None:
        """At 1,280 pixels a title of fifty characters is read whole, beside a session with a button too."""
        page = look(open_three)
        expect(page.get_by_role("link", name="Prune Full")).to_be_visible()
        title = page.locator("a.title .one-line", has_text="Move the billing")
        expect(title).to_be_visible()
        assert title.evaluate("e => e.scrollWidth <= e.clientWidth")
        assert page.locator("thead th:visible").all_inner_texts()[-1] == "Last"

    def test_needs_one_line_for_what_most_sessions_say(self, page: Page, server: Server) -> None:
        """At 1,280 pixels, less a scrollbar, a verdict that needs nothing has one line, and so has the toolbar."""
        page.set_viewport_size({"width": 1280 - 15, "height": 900})
        open_agents(page, server)
        said = page.locator(".said", has_text="Nothing needed: many turns left to the target at this pace")
        expect(said).to_be_visible()
        assert said.evaluate("e => e.clientHeight") == 17
        toolbar = page.locator(".toolbar")
        in_place(
            toolbar.get_by_label("Filter sessions"), toolbar.get_by_role("button", name="By project"),
            "(filter, group) => filter.width >= 180 && group.top < filter.bottom && group.bottom > filter.top",
        )  # fmt: skip

    def test_has_its_place_on_a_phone_before_it_is_read(self, page: Page, server: Server) -> None:
        """The line with the number of sessions keeps its place below the heading, so that nothing moves down."""
        page.set_viewport_size({"width": 390, "height": 844})
        managed(server, 2)
        sessions = hold(page, "**/api/sessions?*", lambda: page.goto(server.url))
        toolbar = page.locator(".toolbar")
        expect(toolbar).to_be_visible()
        before = top_of(toolbar)
        sessions.continue_()
        expect(page.get_by_text("1 session ·")).to_be_visible()
        assert top_of(toolbar) == before

    def test_counts_active_sessions_alike_in_heading_and_chip(self, look: Look) -> None:
        """The heading and the chip show the same number, of those that work and those that wait for their user."""
        page = look(open_three)
        expect(page.get_by_text("3 sessions · 3 active")).to_be_visible()
        expect(page.get_by_role("button", name="Active 3")).to_be_visible()

    def test_shows_a_session_as_its_file_is_written(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X12
        """A new transcript appears without a reload, and its tokens grow with it."""
        page.goto(server.url)
        expect(page.get_by_role("heading", name="No sessions yet")).to_be_visible()
        transcript = folder.transcript()
        transcript.user("Fix the login race")
        transcript.assistant("I will look.", tokens=21_000)
        row = page.get_by_role("row", name="Fix the login race")
        expect(row).to_contain_text("/ 200,000")
        expect(row).to_contain_text("claude-sonnet-4-5 · Claude Code")
        before = row.locator(".c-tokens").inner_text()
        transcript.call("Bash", {"command": "pytest -q"}, words(9_000), tokens=33_000)
        transcript.assistant("Done.", tokens=42_500)
        expect(row.locator(".c-tokens")).not_to_have_text(before)
        expect(row.locator(".c-tokens")).to_contain_text("42,5")

    def test_keeps_its_legend_beside_the_rows(self, page: Page, server: Server) -> None:
        """The legend stays in view, below the bar of the page, while the rows that it explains scroll."""
        for _ in range(30):
            managed(server, 1)
        page.goto(server.url)
        legend = page.get_by_role("list", name="What the colours of the bars mean")
        expect(legend).to_be_visible()
        expect(page.locator("tr.session-row").nth(5)).to_be_attached()
        page.evaluate("window.scrollTo(0, 500)")
        holds(
            page,
            """() => window.scrollY > 300 && document.querySelector("coppice-overview > .legend")
                .getBoundingClientRect().top === document.querySelector(".top").getBoundingClientRect().bottom""",
        )

    def test_updates_a_row_in_place(self, page: Page, server: Server) -> None:
        """The element of a changed row stays, so it keeps focus and hover."""
        session = managed(server, 2)
        page.goto(server.url)
        row = page.locator("tr.session-row")
        expect(row).to_have_count(1)
        row.evaluate("row => row.marked = true")
        before = row.locator(".c-tokens").inner_text()
        feed(server, session, 2)
        expect(row.locator(".c-tokens")).not_to_have_text(before)
        assert row.evaluate("row => row.marked")

    def test_moves_no_row_under_the_pointer(self, page: Page, server: Server) -> None:
        """Rows change places after the pointer leaves the table."""
        managed(server, 2, id="first", title="First")
        managed(server, 1, id="second", title="Second")
        page.goto(server.url)
        titles = page.locator("tr.session-row a.title")
        expect(titles).to_have_text(["Second", "First"])
        page.locator("tr.session-row").nth(0).hover()
        before = page.locator("[data-id=first] .c-tokens").inner_text()
        feed(server, "first", 1)
        expect(page.locator("[data-id=first] .c-tokens")).not_to_have_text(before)
        expect(titles).to_have_text(["Second", "First"])
        page.get_by_role("heading", name="Sessions").hover()
        expect(titles).to_have_text(["First", "Second"])

    def test_filters_by_words_and_by_target(self, page: Page, server: Server) -> None:
        """The field and the chips filter the table, and an empty result is explained."""
        managed(server, 60, title="Full")
        managed(server, 2, title="Empty")
        page.goto(server.url)
        rows = page.locator("tr.session-row")
        expect(rows).to_have_count(2)
        page.get_by_role("button", name="Above target").click()
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("Full")
        page.keyboard.press("/")
        page.keyboard.type("nothing like this")
        expect(page.get_by_text("No session matches this filter.")).to_be_visible()
        page.get_by_role("button", name="Show all 2").click()
        expect(rows).to_have_count(2)

    def test_keeps_its_filter_after_a_reload(self, page: Page, server: Server) -> None:
        """Words and chip are in the address."""
        managed(server, 60, title="Full")
        managed(server, 2, title="Fuller, but small")
        page.goto(server.url)
        rows = page.locator("tr.session-row")
        expect(rows).to_have_count(2)
        page.get_by_label("Filter sessions").fill("full")
        page.get_by_role("button", name="Above target").click()
        expect(page).to_have_url(re.compile(r"\?.*full"))
        page.reload()
        expect(rows).to_have_count(1)
        expect(page.get_by_label("Filter sessions")).to_have_value("full")
        expect(page.get_by_role("button", name="Above target")).to_have_attribute("aria-pressed", "true")

    def test_folds_idle_sub_agents(self, page: Page, server: Server, folder: ClaudeFolder) -> None:
        """Several idle sub-agents are one line under their parent, which a click opens."""
        transcript = folder.transcript()
        transcript.user("Look everywhere")
        transcript.assistant("I send four.")
        for i in range(4):
            transcript.sub_agent(f"Look into {i}")
        page.goto(server.url)
        rows = page.locator("tr.session-row")
        expect(rows).to_have_count(1)
        page.get_by_role("button", name="4 sub-agents").click()
        expect(rows).to_have_count(5)
        page.get_by_role("button", name="4 sub-agents").click()
        expect(rows).to_have_count(1)

    def test_marks_sessions_above_their_target(self, page: Page, server: Server) -> None:
        """A session above its target comes first, with a warning and a link to its plan."""
        managed(server, 2, title="Calm")
        managed(server, 60, title="Full")
        managed(server, 2, title="Later")
        page.goto(server.url)
        first = page.locator("tr.session-row").first
        expect(first).to_contain_text("Full")
        expect(first.get_by_role("img", name="Above target")).to_be_visible()
        expect(page.get_by_text("1 above its target")).to_be_visible()
        first.get_by_role("link", name="Prune Full").click()
        expect(page.get_by_role("tab", name="Plan")).to_have_attribute("aria-selected", "true")
        expect(
            page.get_by_role("button", name="Prune", exact=False).filter(has_text="message")
        ).to_be_visible()

    def test_draws_only_the_rows_near_the_view(self, page: Page, server: Server) -> None:
        """The page holds few of hundreds of rows, but counts, finds and reaches them all."""
        for i in range(230):
            server.app.new_sessions.create(title=f"Session {i:03}", model="gpt-5.1")
        page.goto(f"{server.url}/?sort=title")
        expect(page.get_by_text("230 sessions")).to_be_visible()
        expect(page.get_by_role("table")).to_have_attribute("aria-rowcount", "231")
        rows = page.locator("tr.session-row")
        expect(rows.first).to_contain_text("Session 000")
        assert rows.count() < 60
        rows.first.get_by_role("link").focus()
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        expect(page.get_by_role("link", name="Session 229", exact=True)).to_be_in_viewport()
        expect(page.get_by_role("link", name="Session 000", exact=True)).to_be_focused()
        page.get_by_label("Filter sessions").fill("session 100")
        expect(rows).to_have_count(1)

    def test_fills_the_view_at_another_width(self, page: Page, server: Server) -> None:
        """The lower rows of a wide window take the place of cards: no part of the view is left without rows."""
        for i in range(230):
            server.app.new_sessions.create(title=f"Session {i:03}", model="gpt-5.1")
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(f"{server.url}/?sort=title")
        expect(page.get_by_text("230 sessions")).to_be_visible()
        page.evaluate("scrollTo(0, 8000)")
        holds(page, ROWS_BELOW_THE_VIEW)
        page.set_viewport_size({"width": 1280, "height": 2000})
        holds(page, ROWS_BELOW_THE_VIEW)

    def test_moves_the_focus_with_the_keys(self, page: Page, server: Server) -> None:
        """The key j goes on to rows that were not drawn before."""
        for i in range(60):
            server.app.new_sessions.create(title=f"Session {i:02}", model="gpt-5.1")
        page.goto(f"{server.url}/?sort=title")
        page.get_by_role("link", name="Session 00", exact=True).focus()
        for i in range(1, 40):
            page.keyboard.press("j")
            expect(page.locator("a.title:focus")).to_have_text(f"Session {i:02}")

    def test_sorts_by_the_header_of_a_column(self, page: Page, server: Server) -> None:
        """The first click sorts descending, the second ascending, the third restores the default order."""
        managed(server, 2, id="small", title="Small")
        managed(server, 20, id="large", title="Large")
        managed(server, 1, id="newest", title="Newest")
        page.goto(server.url)
        titles = page.locator("tr.session-row a.title")
        head = page.get_by_role("columnheader", name="Tokens / limit")
        expect(titles).to_have_text(["Newest", "Large", "Small"])
        head.get_by_role("button").click()
        expect(titles).to_have_text(["Large", "Small", "Newest"])
        expect(head).to_have_attribute("aria-sort", "descending")
        head.get_by_role("button").click()
        expect(titles).to_have_text(["Newest", "Small", "Large"])
        expect(page).to_have_url(re.compile("sort=-tokens"))
        page.reload()
        expect(head).to_have_attribute("aria-sort", "ascending")
        expect(titles).to_have_text(["Newest", "Small", "Large"])
        head.get_by_role("button").click()
        expect(titles).to_have_text(["Newest", "Large", "Small"])

    def test_sorts_by_a_list_where_no_column_has_a_header(self, page: Page, server: Server) -> None:
        """A narrow screen offers the same orders, also the one that a header left."""
        managed(server, 2, id="small", title="Small")
        managed(server, 20, id="large", title="Large")
        page.goto(f"{server.url}/?sort=-tokens")
        order, titles = page.get_by_label("Sort", exact=True), page.locator("tr.session-row a.title")
        expect(titles).to_have_text(["Small", "Large"])
        expect(order).to_be_hidden()
        page.set_viewport_size({"width": 390, "height": 844})
        expect(order.locator("option:checked")).to_have_text("Fewest tokens first")
        order.select_option("Most tokens first")
        expect(titles).to_have_text(["Large", "Small"])
        expect(page).to_have_url(re.compile("sort=tokens"))
        holds(page, "document.documentElement.scrollWidth <= innerWidth")

    def test_groups_by_project(self, page: Page, server: Server, folder: ClaudeFolder) -> None:
        """Sessions are listed under their folder, which can be folded; the choice is in the address."""
        for cwd, said in (("/home/me/app", "Fix the parser"), ("/home/me/site", "Write the page")):
            folder.transcript(cwd).user(said)
        page.goto(server.url)
        heads = page.locator("tr.project")
        expect(page.locator("tr.session-row")).to_have_count(2)
        expect(heads).to_have_count(0)
        page.get_by_role("button", name="By project").click()
        expect(heads).to_have_count(2)
        expect(page).to_have_url(re.compile("by=project"))
        page.get_by_role("button", name="site", exact=True).click()
        expect(page.locator("tr.session-row")).to_have_count(1)
        page.reload()
        expect(heads).to_have_count(2)

    @pytest.mark.parametrize("width", [390, 768, 1280])
    def test_counts_beside_the_longest_folder(
        self, page: Page, server: Server, folder: ClaudeFolder, width: int
    ) -> None:
        """The name of a folder is cut before the number of its sessions, and the path before the name."""
        name = "a-folder-whose-name-goes-on-" * 4
        folder.transcript(f"/home/me/somewhere/{name}").user("Fix the parser")
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(f"{server.url}/?by=project")
        head = page.locator("tr.project")
        expect(head.get_by_text("1 session")).to_be_in_viewport(ratio=1)
        button = head.get_by_role("button")
        expect(button).to_be_in_viewport(ratio=1)
        if head.locator(".path").evaluate("e => e.clientWidth > 0"):
            assert button.evaluate("e => e.scrollWidth <= e.clientWidth")

    def test_shows_one_list_in_a_chosen_order(self, page: Page, server: Server, folder: ClaudeFolder) -> None:
        """Groups that were not chosen themselves give way to it; chosen ones rank by their first session."""
        for i in range(21):
            folder.transcript("/home/me/app" if i % 2 else "/home/me/site").user(words(400 * (i + 1)))
        page.goto(server.url)
        rows, heads = page.locator("tr.session-row"), page.locator("tr.project")
        expect(page.locator(".page-head")).to_contain_text("21 sessions")
        expect(heads.first).to_be_visible()
        page.get_by_role("button", name="Full", exact=True).click()
        expect(heads).to_have_count(0)
        values = rows.locator("[role=meter]").evaluate_all("all => all.map(one => +one.ariaValueNow)")
        assert values == sorted(values, reverse=True)
        page.get_by_role("button", name="By project").click()
        expect(heads.first).to_contain_text("site")

    def test_is_printed_light_and_without_controls(self, page: Page, server: Server) -> None:
        """A print has the rows, on white, and neither buttons nor navigation."""
        managed(server, 2)
        page.goto(server.url)
        expect(page.locator("tr.session-row")).to_have_count(1)
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        page.emulate_media(media="print")
        expect(page.locator(":is(nav, button:not(.bare), input, select):visible")).to_have_count(0)
        expect(page.locator("tr.session-row")).to_be_visible()
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
        page.emulate_media(media="screen")

    def test_is_printed_with_all_rows(self, page: Page, server: Server) -> None:
        """A print has the rows that a screen draws only once they are scrolled to."""
        for i in range(100):
            server.app.new_sessions.create(title=f"Session {i:03}", model="gpt-5.1")
        page.goto(f"{server.url}/?sort=title")
        expect(page.get_by_text("100 sessions")).to_be_visible()
        expect(page.get_by_role("link", name="Session 099", exact=True)).to_have_count(0)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(page.locator("tr.session-row")).to_have_count(100)
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        expect(page.get_by_role("link", name="Session 099", exact=True)).to_have_count(0)

    def test_aligns_long_numbers(self, page: Page, server: Server) -> None:
        """An estimate beside a limit of seven digits ends where the column does."""
        managed(server, 120, model="gpt-4.1")
        page.goto(server.url)
        cell = page.locator("tr.session-row td.c-tokens")
        expect(cell).to_contain_text(re.compile(r"~1\d\d,\d{3}.*/ 1,\d{3},\d{3}"))
        assert cell.evaluate("one => one.scrollWidth <= one.clientWidth")

    def test_tells_similar_titles_apart(self, page: Page, server: Server) -> None:
        """A beginning shared by three titles is cut, and equal titles show their time."""
        for end in ("log in", "list the depots", "read the file"):
            managed(server, 1, title=f"You are a careful tester: {end}")
        for _ in range(2):
            managed(server, 1, title="Hello")
        page.goto(server.url)
        titles = page.locator("tr.session-row a.title")
        expect(titles.filter(has_text="… list the depots")).to_be_visible()
        expect(titles.filter(has_text=re.compile(r"Hello ?· \d"))).to_have_count(2)
        page.get_by_role("link", name="You are a careful tester: log in", exact=True).click()
        expect(page.get_by_role("heading", name="You are a careful tester: log in")).to_be_visible()

    def test_tells_equal_titles_apart_by_their_present_times(self, page: Page, server: Server) -> None:
        """The time beside a title is that of the last activity, also after a later one."""
        one, _ = (managed(server, 1, title="Hello") for _ in range(2))
        page.goto(server.url)
        expect(page.locator("tr.session-row .twin")).to_have_count(2)
        page.evaluate(ACTIVE, [one, "2020-01-05T10:00:00Z"])
        expect(page.locator(f'tr[data-id="{one}"] .twin')).to_contain_text("Jan 5")

    def test_draws_a_trend_from_three_points(self, page: Page, server: Server) -> None:
        """Two points show no trend. The meaning of the colours is in sight above the table."""
        page.set_viewport_size({"width": 1920, "height": 900})
        for count in (2, 3):
            session = managed(server, 0, title=f"Of {count}")
            for n in range(count):
                feed(server, session, 1, tokens=300, start=n)
        page.goto(server.url)
        expect(page.get_by_role("row", name="Of 3").locator("trend-line svg")).to_have_count(1)
        expect(page.get_by_role("row", name="Of 2").locator("trend-line svg")).to_have_count(0)
        expect(page.get_by_role("list", name="What the colours of the bars mean")).to_be_in_viewport()

    @pytest.mark.parametrize("width", [360, 390])
    def test_becomes_cards_on_a_narrow_screen(self, look: Look, width: int) -> None:
        """Nothing overflows to the right, and tokens, action and navigation are visible."""
        page = look(open_narrow)
        page.set_viewport_size({"width": width, "height": 844})
        expect(page.locator("tr.session-row .c-tokens")).to_be_visible()
        expect(page.get_by_role("link", name="Prune A very long title")).to_be_visible()
        holds(page, "document.documentElement.scrollWidth <= innerWidth")
        for name in ("Sessions", "Search", "Memory", "Settings"):
            link = page.get_by_role("navigation", name="Pages").get_by_role("link", name=name)
            expect(link).to_be_in_viewport(ratio=1)


NOTICES = """() => {
  window.notices = [];
  window.Notification = class extends EventTarget {
    static permission = "default";
    static async requestPermission() { return (this.permission = "granted"); }
    constructor(title, options) { super(); window.notices.push([title, options.body]); }
  };
}"""


ASKED = """() => {
  window.asked = 0;
  const get = (of, name) => { window.asked += name === "permission"; return Reflect.get(of, name); };
  window.Notification = new Proxy(window.Notification, { get });
}"""


class TestALongListThatIsReadAgain:
    """Sessions that change while the pages of a long list are read."""

    def test_keeps_a_session_that_moves_to_a_page_that_was_read(self, page: Page, server: Server) -> None:
        """A session that becomes active meanwhile is on none of the pages, and stays."""
        for n in range(105):
            managed(server, 1, tokens=5, id=f"s{n}", title=f"Session {n}")
        page.goto(server.url)
        head = page.locator(".page-head")
        expect(head).to_contain_text("105 sessions")
        expect(page.locator(".live")).to_have_text("live")
        second = hold(page, "**/api/sessions?limit=500*", lambda: server.app.bus.publish(SettingsChanged()))
        feed(server, "s0", 1, tokens=5, start=1)
        expect(page.locator("tr.session-row a.title").first).to_have_text("Session 0")
        second.continue_()
        expect(head.get_by_role("status")).to_have_count(0)
        expect(head).to_contain_text("105 sessions")

    def test_says_no_longer_that_it_reads_after_a_failure(self, page: Page, server: Server) -> None:
        """The failure to read a page of the list is shown in place of the progress."""
        for n in range(105):
            managed(server, 1, tokens=5, id=f"s{n}")
        without_live_connection(page)  # joining its room late, the page would read again
        second = hold(page, "**/api/sessions?limit=500*", lambda: page.goto(server.url))
        reading = page.get_by_text("reading 100 of 105…")
        expect(reading).to_be_visible()
        second.abort()
        expect(page.get_by_text("Could not read the sessions")).to_be_visible()
        expect(reading).to_have_count(0)

    def test_leaves_out_a_session_that_was_deleted_before_the_page_had_joined(
        self, page: Page, server: Server
    ) -> None:
        """The deletion caused no event for this page, and the snapshot names only the sessions that there are."""
        for name in ("One", "Two"):
            managed(server, 1, tokens=5, id=name, title=name)
        held = hold_joining(page, "overview")
        page.goto(server.url)
        titles = page.locator("tr.session-row a.title")
        expect(titles).to_have_count(2)
        until(page, lambda: held)
        server.app.sessions.delete("One")
        held[0]()
        expect(titles).to_have_text(["Two"])

    def test_leaves_out_a_session_that_was_deleted_meanwhile(self, page: Page, server: Server) -> None:
        """An answer from before the deletion does not bring it back."""
        for name in ("One", "Two"):
            managed(server, 1, tokens=5, id=name, title=name)
        page.goto(server.url)
        titles = page.locator("tr.session-row a.title")
        expect(titles).to_have_count(2)
        expect(page.locator(".live")).to_have_text("live")
        late = hold(page, "**/api/sessions?limit=100*", lambda: server.app.bus.publish(SettingsChanged()))
        answer = late.fetch()
        server.app.sessions.delete("One")
        expect(titles).to_have_text(["Two"])
        read = page.evaluate("performance.getEntriesByType('resource').length")
        late.fulfill(response=answer)
        holds(page, "before => performance.getEntriesByType('resource').length > before", read)
        drawn(page)
        expect(titles).to_have_text(["Two"])


class TestASessionAboveItsTarget:
    """A session that crosses its target while the page is in the background."""

    def test_is_counted_in_the_tab(self, page: Page, server: Server) -> None:
        """The title of the page begins with the number of sessions above their target."""
        managed(server, 2, id="one", title="One")
        page.goto(server.url)
        expect(page.locator("tr.session-row")).to_have_count(1)
        expect(page).to_have_title("Sessions · Coppice")
        feed(server, "one", 60)
        expect(page).to_have_title("(1) Sessions · Coppice")
        server.app.sessions.delete("one")
        expect(page.get_by_role("heading", name="No sessions yet")).to_be_visible()
        expect(page).to_have_title("Sessions · Coppice")

    def test_is_notified_after_the_reader_allowed_it(self, page: Page, server: Server) -> None:
        """One notification shows the verdict, and none is sent before the reader allows them."""
        page.add_init_script(f"({NOTICES})()")
        managed(server, 2, id="one", title="One")
        managed(server, 2, id="two", title="Two")
        page.goto(server.url)
        feed(server, "one", 60)
        expect(page).to_have_title("(1) Sessions · Coppice")
        page.get_by_role("button", name="Notify me").click()
        expect(page.get_by_role("button", name="Notifying")).to_have_attribute("aria-pressed", "true")
        feed(server, "two", 60)
        holds(page, "window.notices.length === 1")
        [[title, body]] = page.evaluate("window.notices")
        assert title == "Two"
        assert body.startswith("Prune now")

    def test_reads_the_notification_permission_once(self, page: Page, server: Server) -> None:
        """Each read waits for another process of the browser, so typing causes none."""
        page.add_init_script(f"({ASKED})()")
        managed(server, 2, id="one", title="One")
        page.goto(server.url)
        expect(page.locator("tr.session-row")).to_have_count(1)
        page.get_by_label("Filter sessions").press_sequentially("nothing")
        expect(page.locator("tr.session-row")).to_have_count(0)
        assert page.evaluate("window.asked") == 1


class TestSavings:
    """The tokens that prunes saved in all sessions."""

    def test_are_shown_with_their_scope(self, page: Page, server: Server) -> None:
        """The line says that no call was made since; after one it shows tokens, calls, sessions and cost."""
        session = managed(server, 60, model="claude-sonnet-4-5")
        managed(server, 2)
        page.goto(server.url)
        expect(page.locator("tr.session-row")).to_have_count(2)
        expect(page.locator("saved-totals")).to_have_text("")
        server.app.prunes.apply(session, PruneBody(max_tokens=20_000))
        page.reload()
        expect(page.locator("saved-totals")).to_contain_text("No call has used a pruned context yet")
        feed(server, session, 2, tokens=20)
        page.reload()
        expect(page.locator("saved-totals")).to_contain_text(
            re.compile(r"Saved [\d.]+k tokens in 1 call of 1 of\s+2 sessions, \$0\.0\d+ at the list price")
        )

    def test_have_the_aftermath_below_them(self, page: Page, server: Server) -> None:  # X25
        """A compaction, behind which a file is read again: on the overview in sum, on the chart by itself."""
        compacted(server)
        page.goto(server.url)
        expect(page.locator("saved-totals")).to_contain_text(
            re.compile(
                r"Within 20 calls after 1 compaction, agents read 1 file again\. .*nothing to compare with"
            )
        )
        page.get_by_role("link", name="Fix the login race", exact=True).click()
        line = page.locator(".chart-after li")
        expect(line).to_contain_text("1 file read again in 20 calls")
        line.get_by_role("button").click()
        expect(page).to_have_url(re.compile(r"message="))

    @pytest.mark.parametrize("width", [390, 1280])
    def test_move_nothing_when_they_arrive_again(self, page: Page, server: Server, width: int) -> None:
        """On the next visit the table stands where it stays once the line has been read, however high the line is."""
        page.set_viewport_size({"width": width, "height": 900})
        session = managed(server, 60)
        server.app.prunes.apply(session, PruneBody(max_tokens=20_000))
        page.goto(server.url)
        line = page.locator("saved-totals p")
        expect(line).to_be_visible()
        expect(page.locator("tr.session-row")).to_have_count(1)
        top = "document.querySelector('table.sessions').getBoundingClientRect().top"
        same = f"place => {top} === place"
        place = page.evaluate(top)

        def reopen() -> None:
            page.reload()
            expect(page.locator("tr.session-row")).to_have_count(1)

        request = hold(page, "**/api/savings", reopen)
        expect(line).to_have_count(0)
        holds(page, same, place)
        request.continue_()
        expect(line).to_be_visible()
        holds(page, same, place)


class TestTheEmptyState:
    """A page without sessions."""

    def test_says_that_transcripts_are_followed(self, look: Look) -> None:
        """Sessions come from the transcripts that the server follows, those of all agents."""
        said = look(open_nothing).get_by_text("Coppice follows the transcripts")
        for agent in AGENTS.values():
            expect(said).to_contain_text(agent.label)

    def test_shows_the_commands_that_add_sessions(self, look: Look) -> None:
        """Each command and variable is shown as it is typed."""
        page = look(open_nothing)
        for command in (
            "coppice serve --watch DIR",
            "coppice import FILE",
            *(agent.variable for agent in AGENTS.values()),
        ):
            expect(page.get_by_text(command).first).to_be_visible()

    def test_gives_the_command_that_follows_transcripts(self, page: Page, tmp_path: Path) -> None:
        """A server that follows none says so."""
        with running_server(tmp_path) as server:
            page.goto(server.url)
            expect(page.get_by_text("This server follows no transcripts")).to_be_visible()
            expect(page.get_by_text(f"coppice follow --to {server.url}")).to_be_visible()

    def test_starts_the_demo_session(self, page: Page, server: Server) -> None:
        """One click starts a session that grows by itself."""
        page.goto(server.url)
        page.get_by_role("button", name="Start the demo session").click()
        row = page.locator("tr.session-row")
        expect(row).to_have_count(1)
        before = row.locator(".c-tokens").inner_text()
        expect(row.locator(".c-tokens")).not_to_have_text(before)


class TestImporting:
    """Files dropped on the page."""

    def test_takes_a_dropped_file(self, page: Page, server: Server) -> None:
        """A message list becomes a session, and the toast's button opens it."""
        page.goto(server.url)
        messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
        page.evaluate(DROP, ["chat.json", json.dumps(messages)])
        toast = page.get_by_role("status").filter(has_text="2 messages imported")
        expect(toast).to_be_visible()
        expect(page.locator("tr.session-row")).to_have_count(1)
        toast.get_by_role("button", name="Open").click()
        expect(page.locator(".msg")).to_have_count(2)

    def test_takes_a_picked_file_and_leaves_the_filter_alone(
        self, page: Page, server: Server, tmp_path: Path
    ) -> None:
        """The name of the file does not filter the sessions."""
        file = tmp_path / "picked.json"
        file.write_text(json.dumps([{"role": "user", "content": "Hello"}]))
        managed(server, 2, tokens=20)
        page.goto(server.url)
        with page.expect_file_chooser() as chosen:
            page.get_by_role("button", name="Import…").click()
        chosen.value.set_files(file)
        expect(page.get_by_role("status").filter(has_text="1 message imported")).to_be_visible()
        expect(page.get_by_label("Filter sessions")).to_have_value("")
        expect(page.locator("tr.session-row")).to_have_count(2)

    def test_says_that_a_file_has_changed_since_it_was_chosen(
        self, page: Page, server: Server, tmp_path: Path
    ) -> None:
        """An agent may write to a transcript that waits: the browser refuses it, and the server is not blamed."""
        files = [tmp_path / f"{name}.json" for name in ("first", "second")]
        for file in files:
            file.write_text(json.dumps([{"role": "user", "content": file.stem}]))
        page.goto(server.url)
        expect(page.get_by_role("heading", name="No sessions yet")).to_be_visible()
        choice = page.locator("file-drop input[type=file]")
        first = hold(page, "**/api/import", lambda: choice.set_input_files(files), others=True)
        files[1].write_text(json.dumps([{"role": "user", "content": "it goes on"}] * 3))
        later = files[1].stat().st_mtime + 10  # browsers compare whole seconds
        os.utime(files[1], (later, later))
        first.continue_()
        report = page.get_by_role("dialog", name="Import")
        expect(report).to_contain_text("Not imported: the browser cannot read it")
        expect(report.get_by_role("link")).to_have_count(1)

    def test_shows_progress_and_leaves_the_page_usable(self, page: Page, server: Server) -> None:
        """The page still filters while a large file is read; a second file waits, and both are reported."""
        go_on = threading.Event()
        read = server.app.importing.import_file

        def slow(name: str, data: Any, **given: Any) -> Any:
            # More than once, as in a real import: the page may not be in its room yet.
            for _ in range(round(PATIENCE)):
                server.app.bus.publish(ImportProgressed(name, 24_000_000, 60_000_000))
                if go_on.wait(1):
                    break
            return read(name, data, **given)

        server.app.importing.import_file = slow  # type: ignore[assignment]
        managed(server, 2, tokens=20)
        page.goto(server.url)
        expect(page.locator(".live")).to_have_text("live")
        page.evaluate(DROP, ["first.json", json.dumps([{"role": "user", "content": "Hello"}])])
        notice = page.locator(".importing")
        expect(notice).to_contain_text("Importing first.json")
        expect(notice).to_contain_text("24.0 MB of")
        expect(notice.get_by_role("progressbar")).to_have_attribute("value", "24000000")
        page.evaluate(DROP, ["second.json", json.dumps([{"role": "user", "content": "Other"}])])
        expect(notice).to_contain_text("file 1 of 2")
        page.get_by_label("Filter sessions").fill("managed")
        expect(page.locator("tr.session-row")).to_have_count(1)
        page.get_by_label("Filter sessions").fill("")
        go_on.set()
        report = page.get_by_role("dialog", name="Import")
        expect(report.get_by_role("link")).to_have_count(2)
        expect(notice).to_have_count(0)
        expect(page.locator("tr.session-row")).to_have_count(3)

    def test_reports_unreadable_lines_and_files(self, page: Page, server: Server, tmp_path: Path) -> None:
        """A broken line is named by its number and the rest is imported. A file without any message is reported."""
        unfollowed = ClaudeFolder(tmp_path / "elsewhere")
        transcript = unfollowed.transcript()
        transcript.user("One")
        transcript.assistant("Two")
        text = transcript.path.read_text() + "{ broken\n"
        page.goto(server.url)
        page.evaluate(DROP, ["session.jsonl", text])
        report = page.get_by_role("dialog", name="Import")
        expect(report).to_contain_text("2 messages added")
        expect(report).to_contain_text("ine 3")
        page.keyboard.press("Escape")
        page.evaluate(DROP, ["noise.bin", "\x00\x01nothing"])
        expect(report).to_contain_text("Not imported: not recognised")


class TestUnknownAddresses:
    """Addresses of pages and sessions that do not exist."""

    def test_get_an_error_page(self, page: Page, server: Server, tmp_path: Path) -> None:
        """The error page gives the likely reason and links back."""
        answer = page.goto(f"{server.url}/sessions/nobody")
        assert answer is not None
        assert answer.status == 404
        expect(page.get_by_role("heading", name="There is nothing here")).to_be_visible()
        expect(page.get_by_text("The session may have been deleted")).to_be_visible()
        page.get_by_role("link", name="All sessions").click()
        expect(page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()
        page.goto(f"{server.url}/nowhere")
        expect(page.get_by_text("The address may be mistyped.")).to_be_visible()
        expect(page.get_by_text("deleted")).to_have_count(0)

    def test_fit_a_narrow_window(self, page: Page, server: Server) -> None:
        """A long unknown name is wrapped."""
        page.set_viewport_size({"width": 360, "height": 740})
        page.goto(f"{server.url}/sessions/{'x' * 90}")
        expect(page.get_by_role("heading", name="There is nothing here")).to_be_visible()
        holds(page, "document.documentElement.scrollWidth <= innerWidth")

    def test_open_with_the_token_that_is_typed(self, page: Page, tmp_path: Path) -> None:
        """The rest of the address stays, the token leaves it, and a wrong one is asked for again."""
        without_live_connection(page)
        with running_server(tmp_path, token="secret") as server:
            page.goto(f"{server.url}/search?q=billing")
            for token in ("wrong", "secret"):
                page.get_by_label("Token", exact=True).fill(token)
                page.get_by_role("button", name="Open", exact=True).click()
                said = page.get_by_text("The one in the address is not valid.")
                expect(said).to_have_count(1 if token == "wrong" else 0)
            expect(page.get_by_text("No message has these words.")).to_be_visible()
            expect(page).to_have_url(f"{server.url}/search?q=billing")

    def test_reveal_nothing_without_the_token(self, page: Page, tmp_path: Path) -> None:
        """Without the token the page only asks for it; with the token it shows that the session is unknown."""
        without_live_connection(page)
        with running_server(tmp_path, token="secret") as server:
            answer = page.goto(f"{server.url}/sessions/nobody")
            assert answer is not None
            assert answer.status == 200
            expect(page.get_by_role("alert")).to_contain_text("asks for its token")
            page.request.get(f"{server.url}/?token=secret")
            page.get_by_role("button", name="Try again").click()
            expect(page.get_by_role("heading", name="There is nothing here")).to_be_visible()
            page.get_by_role("link", name="All sessions").click()
            expect(page.get_by_role("heading", name="No sessions yet")).to_be_visible()

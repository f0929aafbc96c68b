"""The live connection: its loss is shown, and missed changes arrive afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, Route, WebSocketRoute, expect

from tests.browser.cable import Cable, cable_to
from tests.browser.session_page import open_and_settle
from tests.browser.waiting import (
    fast_forward,
    hold,
    hold_joining,
    holds,
    intercept,
    members_of,
    until,
    without_live_connection,
)
from tests.browser.writing import ClaudeFolder, feed, managed
from tests.servers import Server
from webapp.bodies import MessagesQuery, ModelRow, SessionChange
from webapp.errors import BusyStore, LostStore, StoreError


class TestALostConnection:
    """A page whose server is unreachable for a while."""

    def test_is_shown_and_caught_up_with(self, page: Page, server: Server) -> None:
        """The status says reconnecting; after it, missed messages appear without a reload."""
        session = managed(server, 4, tokens=50)
        with cable_to(server) as cable:
            page.goto(f"{cable.url}/sessions/{session}")
            state = page.locator(".live")
            expect(state).to_have_text("live")
            expect(page.locator(".msg")).to_have_count(4)
            page.wait_for_load_state("networkidle")  # a request that the cut breaks is sent again
            page.evaluate("window.stayed = true")
            wholes: list[str] = []
            page.on("request", lambda r: wholes.append(r.url) if r.url.endswith("/stats") else None)
            cable.cut()
            expect(state).to_have_text(
                re.compile(r"^reconnecting, showing\s+(?:[1-9]|1[0-2]):\d\d\s[AP]M\s*$")
            )
            feed(server, session, 3, tokens=50, start=4)
            expect(page.locator(".msg")).to_have_count(4)
            cable.mend()
            expect(state).to_have_text("live")
            expect(page.locator(".msg")).to_have_count(7)
            assert page.evaluate("window.stayed")
            assert wholes == [], "the answer to rejoining holds the statistics"

    def test_is_none_where_a_proxy_passes_no_websockets(self, page: Page, server: Server) -> None:
        """The page asks for its events by requests, and shows new messages live."""
        session = managed(server, 4, tokens=50)
        with cable_to(server, upgrades=False) as cable:
            page.goto(f"{cable.url}/sessions/{session}")
            expect(page.locator(".live")).to_have_text("live")
            expect(page.locator(".msg")).to_have_count(4)
            feed(server, session, 3, tokens=50, start=4)
            expect(page.locator(".msg")).to_have_count(7)

    def test_sends_missed_events_instead_of_reading_again(self, page: Page, server: Server) -> None:
        """While another page keeps the room open, missed changes come as events, and the chart is not read again."""
        session = managed(server, 4, tokens=50)
        other = page.context.new_page()
        other.goto(f"{server.url}/sessions/{session}")
        expect(other.locator(".live")).to_have_text("live")
        with cable_to(server) as cable:
            page.goto(f"{cable.url}/sessions/{session}")
            expect(page.locator(".msg")).to_have_count(4)
            expect(page.locator("token-chart canvas")).to_be_visible()
            expect(page.locator(".live")).to_have_text("live")
            cable.cut()
            expect(page.locator(".live")).to_contain_text("reconnecting")
            read: list[str] = []
            page.on("request", lambda r: read.append(r.url) if "/timeline" in r.url else None)
            feed(server, session, 3, tokens=50, start=4)
            cable.mend()
            expect(page.locator(".msg")).to_have_count(7)
            expect(page.locator(".meta")).to_contain_text("7 messages")
            assert read == []

    def test_updates_the_overview_afterwards(self, page: Page, server: Server) -> None:
        """A session created meanwhile appears in the table, and a deleted one disappears."""
        managed(server, 1, tokens=50, id="gone", title="Gone")
        with cable_to(server) as cable:
            page.goto(cable.url)
            titles = page.locator("tr.session-row a.title")
            expect(titles).to_have_text(["Gone"])
            expect(page.locator(".live")).to_have_text("live")
            cable.cut()
            expect(page.locator(".live")).to_contain_text("reconnecting")
            managed(server, 1, tokens=50, title="Born")
            server.app.sessions.delete("gone")
            cable.mend()
            expect(titles).to_have_text(["Born"])

    def test_reads_every_panel_of_the_settings_again(self, page: Page, server: Server) -> None:
        """Models changed meanwhile are in the table, and a limit that was being typed stays."""
        with cable_to(server) as cable:
            page.goto(f"{cable.url}/settings")
            page.locator("retention-panel").scroll_into_view_if_needed()
            page.get_by_label("Not used for").fill("30")
            expect(page.get_by_role("button", name="Set these limits")).to_be_enabled()
            expect(page.locator(".models tbody tr").first).to_be_visible()
            expect(page.locator(".live")).to_have_text("live")
            cut(page, cable)
            server.app.models.put("a-model-of-mine", ModelRow(window=16_384))
            cable.mend()
            expect(page.locator(".models")).to_contain_text("a-model-of-mine")
            expect(page.get_by_label("Not used for")).to_have_value("30")
            expect(page.get_by_role("button", name="Set these limits")).to_be_enabled()

    @pytest.mark.parametrize("error", [BusyStore, LostStore])
    def test_is_joined_again_where_the_store_could_not_be_read(
        self, page: Page, server: Server, monkeypatch: pytest.MonkeyPatch, error: type[StoreError]
    ) -> None:
        """A room that the server could not read is joined a little later; the page does not stay without events."""
        session = managed(server, 4, tokens=50)
        gateway = server.flask.extensions["coppice.live"]
        find: Callable[[str], object] = gateway.broadcaster._room
        refused: list[str] = []

        def fails_once(room: str) -> object:
            if not refused:
                refused.append(room)
                raise error("busy, or its server is away")
            return find(room)

        monkeypatch.setattr(gateway.broadcaster, "_room", fails_once)
        page.goto(f"{server.url}/sessions/{session}")
        expect(page.locator(".msg")).to_have_count(4)
        until(page, lambda: refused)
        page.wait_for_load_state("networkidle")
        for n in (4, 5):  # the page may happen to read the first
            feed(server, session, 1, tokens=50, start=n)
            expect(page.locator(".msg")).to_have_count(n + 1)

    @pytest.mark.usefixtures("own_context")
    def test_says_that_it_needs_a_token_now(self, page: Page, server: Server) -> None:
        """A page whose access ended says so, and how it gets in again; it does not wait for a server that is there."""
        page.clock.install()
        page.goto(server.url)
        expect(page.locator(".live")).to_have_text("live")
        server.app.access_tokens.make("laptop")
        expect(page.locator(".live")).to_contain_text("reconnecting")
        fast_forward(page)
        notices = page.get_by_role("region", name="Notices")  # the list may tell the same of its own reading
        expect(notices.get_by_role("alert")).to_contain_text(
            "Could not connect again: this server asks for its token"
        )

    @pytest.mark.usefixtures("own_context")
    def test_is_shown_with_its_date_on_a_later_day(self, page: Page, server: Server) -> None:
        """A page that was left open says of which day its numbers are."""
        page.clock.install()
        with cable_to(server) as cable:
            page.goto(cable.url)
            expect(page.locator(".live")).to_have_text("live")
            cut(page, cable)
            fast_forward(page, seconds=26 * 3600)
            expect(page.locator(".live")).to_have_text(
                re.compile(r"^reconnecting, showing\s+[A-Z][a-z]{2} \d+, (?:[1-9]|1[0-2]):\d\d\s[AP]M\s*$")
            )

    def test_before_a_room_was_joined_loses_nothing(self, page: Page, server: Server) -> None:
        """A page that read the sessions, and got no answer to joining, reads them again."""
        managed(server, 1, tokens=50, id="gone", title="Gone")
        opened: list[WebSocketRoute] = []
        asked: list[str] = []

        def forward(near: WebSocketRoute) -> None:
            first, far = not opened, near.connect_to_server()
            opened.append(near)

            def ask(said: str | bytes) -> None:
                asked.append(str(said))
                far.send(said)

            near.on_message(ask)
            far.on_message(lambda said: None if first and str(said)[:2] in ("42", "43") else near.send(said))

        page.route_web_socket(re.compile("socket.io"), forward)
        page.goto(server.url)
        titles = page.locator("tr.session-row a.title")
        expect(titles).to_have_text(["Gone"])
        until(page, lambda: any("subscribe" in said for said in asked))
        expect(page.locator(".live")).to_have_text("connecting")
        server.app.sessions.delete("gone")
        managed(server, 1, tokens=50, title="Born")
        opened[0].close()
        expect(titles).to_have_text(["Born"])

    def test_is_not_over_before_the_page_has_its_script(self, page: Page, server: Server) -> None:
        """Until the script of the page comes, which joins a room, changes are missed: the page is not called live."""
        joining = hold_joining(page, "overview")
        address = f"{server.url}/settings"
        script = hold(
            page, "**/coppice-settings*.js", lambda: page.goto(address, wait_until="commit"), others=True
        )
        status = page.locator(".live")
        expect(status).to_be_visible()
        for _ in range(10):  # as long as a connection takes
            page.evaluate("fetch('/healthz').then(answer => answer.text())")
        expect(status).to_have_text("connecting")
        script.continue_()
        until(page, lambda: joining)
        expect(status).to_have_text("connecting")
        joining[0]()
        expect(status).to_have_text("live")

    def test_is_shown_on_a_phone_above_the_heading(self, page: Page, server: Server) -> None:
        """The strip with the status covers no heading."""
        page.set_viewport_size({"width": 390, "height": 800})
        with cable_to(server) as cable:
            page.goto(cable.url)
            expect(page.locator(".live")).to_have_text("live")
            cable.cut()
            expect(page.locator(".live")).to_contain_text("reconnecting")
            holds(
                page,
                """() => document.querySelector(".live").getBoundingClientRect().bottom
                    <= document.querySelector("h1").getBoundingClientRect().top""",
            )

    @pytest.mark.parametrize(
        ("address", "tab", "asked", "what"),
        [
            ("/sessions/s", "Archive", "**/archive", "Could not read the archive"),
            ("/sessions/s", "Summary", "**/summaries", "Could not read the summaries"),
            ("/sessions/s", "History", "**/operations", "Could not read the history"),
            ("/sessions/s", "Heaviest", "**/heaviest", "Could not read what is heaviest"),
            ("/sessions/s", "", "**/messages?*", "Could not read the messages"),
            ("/search?q=heron", "", "**/api/search*", "Could not search"),
            ("/memory", "", "**/api/memories", "Could not read the memories"),
        ],
    )
    def test_can_be_tried_again_in_every_panel(
        self, page: Page, server: Server, address: str, tab: str, asked: str, what: str
    ) -> None:
        """A failed read is reported in a sentence, and a click repeats it."""
        managed(server, 2, tokens=20, id="s")
        without_live_connection(page)
        intercept(page, asked, lambda route: route.abort())
        page.goto(server.url + address)
        if tab:
            page.get_by_role("tab", name=tab).click()
        fault = page.get_by_role("alert").filter(has_text=f"{what}: the server does not answer")
        expect(fault).to_be_visible()
        page.unroute(asked)
        fault.get_by_role("button", name="Try again").click()
        expect(fault).to_have_count(0)

    def test_can_be_tried_again_in_an_opened_row(self, page: Page, server: Server) -> None:
        """A message or an operation whose details could not be read has the same box."""
        session = managed(server, 6, tokens=50)
        [row] = [m for m in server.app.messages.page(session).messages if m.number == 2]
        server.app.by_hand.drop(session, row.id)
        without_live_connection(page)
        page.goto(f"{server.url}/sessions/{session}?panel=history")
        intercept(page, "**/messages/*", lambda route: route.abort())
        intercept(page, "**/operations/*", lambda route: route.abort())
        page.locator(".m-open").first.click()
        page.get_by_role("button", name="Compare").click()
        message = page.get_by_role("alert").filter(has_text="Could not read this message: the server")
        operation = page.get_by_role("alert").filter(has_text="Could not read the operation: the server")
        for fault, shown, asked in (
            (message, ".msg-detail .part", "**/messages/*"),
            (operation, ".compared .group-rows li", "**/operations/*"),
        ):
            expect(fault).to_be_visible()
            page.unroute(asked)
            fault.get_by_role("button", name="Try again").click()
            expect(page.locator(shown).first).to_be_visible()
            expect(fault).to_have_count(0)

    def test_is_seen_by_a_reader_in_the_middle_of_a_list(self, page: Page, server: Server) -> None:
        """Rows that could not be read while scrolling are reported in view; a click or a scroll reads them again."""
        session = managed(server, 400, tokens=5)
        page.goto(f"{server.url}/sessions/{session}")
        expect(page.locator(".msg[data-coming=true]")).to_have_count(0)
        expect(page.locator(".msg .fate").first).to_be_visible()
        intercept(page, "**/messages?*", lambda route: route.abort())
        page.evaluate("scrollTo(0, document.body.scrollHeight * 0.6)")
        fault = page.get_by_role("alert").filter(has_text="Could not read the messages: the server")
        expect(fault).to_be_in_viewport(ratio=1)
        with page.expect_request("**/messages?*"):
            fault.get_by_role("button", name="Try again").click()
        expect(fault).to_be_in_viewport(ratio=1)
        page.unroute("**/messages?*")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(fault).to_have_count(0)
        expect(page.locator(".msg[data-coming=true]")).to_have_count(0)

    def test_can_be_tried_again_where_a_panel_did_not_load(self, page: Page, server: Server) -> None:
        """The script of a panel is read when it is first opened, and once more on a click."""
        without_live_connection(page)
        page.goto(f"{server.url}/sessions/{managed(server, 4, tokens=50)}")
        intercept(page, "**/archive-panel*", lambda route: route.abort())
        page.get_by_role("tab", name="Archive").click()
        fault = page.get_by_role("alert").filter(has_text="Could not load the panel: its file did not arrive")
        expect(fault).to_be_visible()
        page.unroute("**/archive-panel*")
        fault.get_by_role("button", name="Try again").click()
        expect(page.get_by_text("Every message is in the context.")).to_be_visible()
        expect(fault).to_have_count(0)

    def test_is_reported_where_the_cards_of_the_export_menu_did_not_load(
        self, page: Page, server: Server
    ) -> None:
        """Two entries of the menu are missing then, and a notice says why."""
        without_live_connection(page)
        page.goto(f"{server.url}/sessions/{managed(server, 4, tokens=50)}")
        intercept(page, "**/card-links*", lambda route: route.abort())
        page.locator(".menu.export summary").click()
        expect(page.get_by_role("alert")).to_contain_text("Could not load the cards: its file did not arrive")

    def test_moves_no_entry_of_the_export_menu_that_is_there(self, page: Page, server: Server) -> None:
        """The cards come last, so that a click reaches the entry that it was meant for."""
        page.goto(f"{server.url}/sessions/{managed(server, 4, tokens=50)}")
        menu = page.locator(".menu.export")
        cards = hold(page, "**/card-links*", menu.locator("summary").click)
        links = "menu => [...menu.querySelectorAll('a')].map(link => link.getBoundingClientRect().top)"
        before = menu.evaluate(links)
        cards.continue_()
        expect(menu.get_by_role("button", name="Card as Markdown")).to_be_visible()
        assert menu.evaluate(links) == before

    def test_can_be_tried_again_on_the_settings_page(self, page: Page, server: Server) -> None:
        """A page whose first read fails shows its heading and the reason, and a click reads again."""
        without_live_connection(page)
        intercept(page, "**/api/settings", lambda route: route.abort())
        page.goto(f"{server.url}/settings")
        expect(page.get_by_role("alert")).to_contain_text("the server does not answer")
        expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
        page.unroute("**/api/settings")
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("heading", name="Weights")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)


class TestReadsThatFailed:
    """Reads that got no answer while the connection was lost, on a page that missed no event."""

    def test_of_a_session_come_before_it_arrives_over_the_live_connection(
        self, page: Page, server: Server
    ) -> None:
        """Its chart is read all the same."""
        session = managed(server, 4, tokens=50)
        intercept(page, "**/stats", lambda route: route.abort())
        held = hold_joining(page, f"session:{session}")
        page.goto(f"{server.url}/sessions/{session}")
        expect(page.get_by_role("alert").filter(has_text="Could not read this session")).to_be_visible()
        until(page, lambda: held)
        held[0]()
        until(page, lambda: members_of(server, f"session:{session}"))
        server.app.sessions.patch(session, SessionChange(title="A new title"))
        expect(page.get_by_role("heading", name="A new title")).to_be_visible()
        expect(page.locator("token-chart figure")).to_be_visible()

    def test_of_a_session_come_after_it_arrived_over_the_live_connection(
        self, page: Page, server: Server
    ) -> None:
        """Its chart is read all the same."""
        session = managed(server, 4, tokens=50, title="A title")
        asked: list[Route] = []
        intercept(page, "**/stats", asked.append)
        page.goto(f"{server.url}/sessions/{session}")
        expect(page.get_by_role("heading", name="A title")).to_be_visible()
        for route in asked:
            route.abort()
        expect(page.get_by_role("alert").filter(has_text="These numbers may be old")).to_be_visible()
        expect(page.locator("token-chart figure")).to_be_visible()

    def test_are_repeated_in_every_panel_of_a_session(self, page: Page, server: Server) -> None:
        """A panel whose script or content did not arrive shows its content without a click."""
        session = managed(server, 6, tokens=50)
        with kept_open(page, server, session), cable_to(server) as cable:
            open_over(page, cable, session)
            fault = page.locator(".side").get_by_role("alert")
            for name, why, shown in (
                ("Archive", "Could not load the panel", ".side [type=search]"),
                ("Heaviest", "Could not read what is heaviest", ".heavy li"),
                ("Archive", "Could not read the archive", ".side [type=search]"),
                ("History", "Could not read the history", ".operations li"),
            ):
                cut(page, cable)
                page.get_by_role("tab", name=name).click()
                expect(fault).to_contain_text(why)
                cable.mend()
                expect(fault).to_have_count(0)
                expect(page.locator(shown).first).to_be_visible()

    def test_are_repeated_in_opened_rows(self, page: Page, server: Server) -> None:
        """An opened message, and an operation opened beside it, show their content without a click."""
        session = managed(server, 6, tokens=50)
        with kept_open(page, server, session), cable_to(server) as cable:
            open_over(page, cable, session)
            cut(page, cable)
            page.locator(".m-open").first.click()
            page.get_by_role("button", name="Compare").click()
            expect(page.locator(".msg-detail").get_by_role("alert")).to_contain_text("Could not read")
            expect(page.locator(".compared").get_by_role("alert")).to_contain_text("Could not read")
            cable.mend()
            expect(page.locator(".msg-detail .part").first).to_be_visible()
            expect(page.locator(".compared .group-rows li").first).to_be_visible()
            expect(page.get_by_role("alert")).to_have_count(0)

    def test_are_repeated_in_the_list(self, page: Page, server: Server) -> None:
        """Rows that a reader scrolled to meanwhile appear without another scroll."""
        session = managed(server, 400, tokens=5)
        with kept_open(page, server, session), cable_to(server) as cable:
            open_over(page, cable, session)
            cut(page, cable)
            page.evaluate("scrollTo(0, document.body.scrollHeight * 0.6)")
            expect(page.get_by_role("alert")).to_contain_text("Could not read the messages")
            cable.mend()
            expect(page.get_by_role("alert")).to_have_count(0)
            expect(page.locator(".msg[data-coming=true]")).to_have_count(0)

    def test_are_repeated_on_other_pages(self, page: Page, server: Server) -> None:
        """A search that got no answer shows its results once there is a server."""
        managed(server, 4, tokens=50)
        with cable_to(server) as cable:
            page.goto(f"{cable.url}/search")
            expect(page.locator(".live")).to_have_text("live")
            cut(page, cable)
            page.get_by_role("main").get_by_role("searchbox").fill("message")
            expect(page.get_by_role("alert")).to_contain_text("Could not search")
            cable.mend()
            expect(page.locator(".hit")).to_have_count(4)


@contextmanager
def kept_open(page: Page, server: Server, session: str) -> Iterator[None]:
    """Keep the room of a session open in another page, so that a page that reconnects gets events only."""
    drop = server.app.messages.page(session, MessagesQuery(sort="oldest", limit=1)).messages[0].id
    server.app.by_hand.drop(session, drop)
    other = page.context.new_page()
    other.goto(f"{server.url}/sessions/{session}")
    expect(other.locator(".live")).to_have_text("live")
    yield
    other.close()


def open_over(page: Page, cable: Cable, session: str) -> None:
    """Open a session with its history through a cable, and wait until all of it is read."""
    open_and_settle(page, f"{cable.url}/sessions/{session}?panel=history")
    expect(page.locator(".operations li").first).to_be_visible()


def cut(page: Page, cable: Cable) -> None:
    """Cut the cable and wait until the page knows."""
    cable.cut()
    expect(page.locator(".live")).to_contain_text("reconnecting")


class TestADeletedSession:
    """The page of a session that is deleted elsewhere."""

    def test_says_so_on_its_open_page(self, page: Page, server: Server) -> None:
        """The page stays, with the title and a link to all sessions."""
        session = managed(server, 4, tokens=50, title="Short lived")
        page.goto(f"{server.url}/sessions/{session}")
        expect(page.locator(".live")).to_have_text("live")
        expect(page.locator(".msg")).to_have_count(4)
        server.app.sessions.delete(session)
        expect(page.get_by_role("heading", name="This session was deleted")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("Short lived")
        expect(page.locator(".msg")).to_have_count(0)
        page.get_by_role("link", name="All sessions").click()
        expect(page.get_by_role("heading", name="No sessions yet")).to_be_visible()

    def test_closes_the_question_whether_to_delete_it(self, page: Page, server: Server) -> None:
        """Nobody is asked about a session that somebody else deleted meanwhile."""
        session = managed(server, 4, tokens=50)
        page.goto(f"{server.url}/sessions/{session}")
        expect(page.locator(".live")).to_have_text("live")
        page.locator(".menu.more summary").click()
        page.get_by_role("button", name="Delete this session…").click()
        expect(page.get_by_role("dialog", name="Delete this session?")).to_be_visible()
        server.app.sessions.delete(session)
        expect(page.get_by_role("heading", name="This session was deleted")).to_be_visible()
        expect(page.locator("dialog[open]")).to_have_count(0)

    def test_shows_another_one_that_comes_under_its_id(self, page: Page, server: Server) -> None:
        """A program that begins its session anew sees the new one, though its version is lower."""
        managed(server, 4, tokens=50, id="again")
        page.goto(f"{server.url}/sessions/again?panel=plan")
        expect(page.locator(".live")).to_have_text("live")
        expect(page.locator(".msg")).to_have_count(4)
        server.app.sessions.delete("again")
        expect(page.get_by_role("heading", name="This session was deleted")).to_be_visible()
        managed(server, 2, tokens=50, id="again")
        expect(page.locator(".msg")).to_have_count(2)
        expect(page.locator("plan-panel")).to_contain_text("Cut to")
        feed(server, "again", 1, tokens=50, start=2)
        expect(page.locator(".meta")).to_contain_text("3 messages")

    def test_says_so_after_a_lost_connection(self, page: Page, server: Server) -> None:
        """The page learns it once the server is back."""
        session = managed(server, 4, tokens=50)
        with cable_to(server) as cable:
            page.goto(f"{cable.url}/sessions/{session}")
            expect(page.locator(".live")).to_have_text("live")
            expect(page.locator(".msg")).to_have_count(4)
            cable.cut()
            expect(page.locator(".live")).to_contain_text("reconnecting")
            server.app.sessions.delete(session)
            cable.mend()
            expect(page.get_by_role("heading", name="This session was deleted")).to_be_visible()


class TestASessionThatComesLater:
    """A page opened before its session is known, as when a link is followed before the file was read."""

    def test_appears_once_its_file_is_read(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X12
        """The page shows it without a reload, and follows it from then on."""
        transcript = folder.transcript()
        page.goto(f"{server.url}/sessions/{transcript.session}")
        expect(page.get_by_role("heading", name="There is nothing here")).to_be_visible()
        expect(page.locator(".live")).to_have_text("live")
        page.evaluate("window.stayed = true")
        transcript.user("Fix the login race")
        transcript.assistant("Looking.")
        expect(page.get_by_role("heading", name="Fix the login race")).to_be_visible()
        expect(page.locator(".msg")).to_have_count(2)
        transcript.user("And its test")
        expect(page.locator(".msg")).to_have_count(3)
        assert page.evaluate("window.stayed")

    def test_appears_after_a_lost_connection(self, page: Page, server: Server) -> None:
        """One that arrived meanwhile is shown once the server is back; other sessions change nothing."""
        with cable_to(server) as cable:
            page.goto(f"{cable.url}/sessions/to-come")
            expect(page.get_by_role("heading", name="There is nothing here")).to_be_visible()
            expect(page.locator(".live")).to_have_text("live")
            managed(server, 2, tokens=50, title="Another")
            cable.cut()
            expect(page.locator(".live")).to_contain_text("reconnecting")
            managed(server, 4, tokens=50, id="to-come", title="Here at last")
            cable.mend()
            expect(page.get_by_role("heading", name="Here at last")).to_be_visible()
            expect(page.locator(".msg")).to_have_count(4)

    def test_takes_its_own_snapshot_only(self, page: Page, server: Server) -> None:
        """It ignores a snapshot of the room of all sessions that arrives after its own."""
        managed(server, 2, tokens=50, id="to-come", title="Here at last")
        page.goto(f"{server.url}/sessions/to-come")
        expect(page.locator(".msg")).to_have_count(2)
        page.evaluate(
            """async () => {
              const { live } = await import("/static/shared/socket.js");
              const detail = { room: "overview", snapshot: { sessions: [] }, known: true };
              live.dispatchEvent(new CustomEvent("resync", { detail }));
            }"""
        )
        expect(page.get_by_role("heading", name="Here at last")).to_be_visible()

    def test_joins_a_room_again_that_was_left_before_the_answer(self, page: Page, server: Server) -> None:
        """A room left while it is being joined can be joined later, and is read then."""
        room = f"session:{managed(server, 2, tokens=50)}"
        page.goto(f"{server.url}/search")
        expect(page.locator(".live")).to_have_text("live")
        page.evaluate(
            """async room => {
              const { live } = await import("/static/shared/socket.js");
              window.read = 0;
              live.addEventListener("resync", ({ detail }) => { window.read += detail.room === room; });
              window.join = () => live.join(room);
              live.join(room);
              live.leave(room);
            }""",
            room,
        )
        holds(page, "window.read === 1")
        page.evaluate("window.join()")
        holds(page, "window.read === 2")

    def test_leaves_the_room_of_all_sessions(self, page: Page, server: Server) -> None:
        """Once the session is known, changes of other sessions are no longer sent to the page."""
        sent: list[str] = []
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
        page.goto(f"{server.url}/sessions/to-come")
        expect(page.get_by_role("heading", name="There is nothing here")).to_be_visible()
        until(page, lambda: any('["subscribe",{"room":"overview"}' in frame for frame in sent))
        managed(server, 4, tokens=50, id="to-come", title="Here at last")
        expect(page.locator(".msg")).to_have_count(4)
        until(page, lambda: any('["unsubscribe",{"room":"overview"}' in frame for frame in sent))

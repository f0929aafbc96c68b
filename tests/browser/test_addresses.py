"""The address of each page: a reload and a shared link bring its state back, and Back undoes one choice."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.session_page import APPLY, move, open_session, open_tuning, row
from tests.browser.settings_page import of_type
from tests.browser.waiting import hold_joining, holds, until
from tests.browser.writing import managed
from tests.servers import Server
from webapp.bodies import MessagesQuery


class TestSteps:
    """Choices made with one click; each is an entry of the browser's history."""

    def test_are_undone_one_by_one_on_the_session_page(self, page: Page, server: Server) -> None:
        """Back undoes the panel, the opened message and the filter in turn, and Forward brings them back."""
        open_session(page, server, managed(server, 40, tokens=50))
        page.get_by_label("Role").select_option("user")
        expect(page.locator(".msg").first.locator(".role")).to_have_text("user")
        number = page.locator(".msg .m-number").first.inner_text()
        row(page, int(number)).get_by_role("button").click()
        expect(page.locator(".msg-detail")).to_be_visible()
        page.get_by_role("tab", name="Archive").click()
        expect(page.get_by_role("tab", name="Archive")).to_have_attribute("aria-selected", "true")
        page.go_back()
        expect(page.get_by_role("tab", name="Heaviest")).to_have_attribute("aria-selected", "true")
        expect(page.locator(".msg-detail")).to_be_visible()
        page.go_back()
        expect(page.locator(".msg-detail")).to_have_count(0)
        expect(page.get_by_label("Role")).to_have_value("user")
        page.go_back()
        expect(page.get_by_label("Role")).to_have_value("")
        expect(page.locator(".msg")).to_have_count(40)
        page.go_forward()
        page.go_forward()
        expect(page.get_by_label("Role")).to_have_value("user")
        expect(page.locator(".msg[data-open=true] .m-number")).to_have_text(number)

    def test_are_not_made_by_typing(self, page: Page, server: Server) -> None:
        """Typed letters replace the address in place, so one Back leaves the page."""
        page.goto(server.url)
        open_session(page, server, managed(server, 20, tokens=50))
        page.get_by_label("Find in messages").press_sequentially("message")
        expect(page).to_have_url(re.compile("find=message"))
        page.go_back()
        expect(page).to_have_url(f"{server.url}/")

    def test_close_the_sheet_of_a_phone(self, page: Page, server: Server) -> None:
        """Back closes the panel that covers the page, and a reload keeps it open."""
        page.set_viewport_size({"width": 390, "height": 844})
        open_session(page, server, managed(server, 20, tokens=50))
        page.get_by_role("navigation", name="Panels").get_by_role("button", name="Heaviest").click()
        expect(page.locator(".side")).to_be_visible()
        page.reload()
        expect(page.locator(".side")).to_be_visible()
        page.go_back()
        expect(page.locator(".side")).to_be_hidden()
        expect(page.locator(".msg").first).to_be_visible()

    def test_are_undone_on_the_other_pages(self, page: Page, server: Server) -> None:
        """Back undoes a chip of the overview, a filter of the search and a kind of memory."""
        managed(server, 2, tokens=20, id="one", title="One")
        managed(server, 2, tokens=20, id="two", title="Two")
        page.goto(server.url)
        active = page.get_by_role("button", name=re.compile("^Above target"))
        active.click()
        expect(active).to_have_attribute("aria-pressed", "true")
        page.go_back()
        expect(active).to_have_attribute("aria-pressed", "false")
        page.goto(f"{server.url}/search?q=message")
        expect(page.locator(".hit")).to_have_count(4)
        page.get_by_label("Session").select_option("Two")
        expect(page.locator(".hit")).to_have_count(2)
        page.go_back()
        expect(page.locator(".hit")).to_have_count(4)
        expect(page.get_by_label("Session")).to_have_value("")
        page.goto(f"{server.url}/memory")
        page.get_by_role("button", name=re.compile("^Learnings")).click()
        page.get_by_label("Search learnings").fill("heron")
        page.reload()
        expect(page.get_by_label("Search learnings")).to_have_value("heron")
        page.go_back()
        expect(page.get_by_label("Search memories")).to_have_value("")


class TestFolds:
    """Folded projects and the weights of a plan."""

    def test_of_the_overview_are_kept_and_undone(self, page: Page, server: Server) -> None:
        """A folded project stays folded after a reload, and Back opens it again."""
        managed(server, 2, tokens=20, title="One")
        managed(server, 2, tokens=20, title="Two")
        page.goto(f"{server.url}/?by=project")
        rows, project = page.locator("tr.session-row"), page.locator("tr.project button")
        expect(rows).to_have_count(2)
        project.click()
        expect(rows).to_have_count(0)
        page.reload()
        expect(project).to_have_attribute("aria-expanded", "false")
        expect(rows).to_have_count(0)
        page.go_back()
        expect(rows).to_have_count(2)

    def test_of_the_weights_is_kept_and_undone(self, page: Page, server: Server) -> None:
        """The weights and the tail of a plan stay open after a reload, until Back closes them."""
        open_tuning(page, server)
        expect(page.get_by_label("Fresh tail")).to_be_visible()
        expect(page).to_have_url(re.compile("weighing="))
        page.reload()
        expect(page.get_by_label("Fresh tail")).to_be_visible()
        page.go_back()
        expect(page.get_by_text("Weights and tail")).to_be_visible()
        expect(page.get_by_label("Fresh tail")).to_be_hidden()


class TestPlan:
    """The values tried in a plan, kept in the address."""

    def test_is_tried_again_after_a_reload(self, page: Page, server: Server) -> None:
        """Weights, tail, strategy and target make the same plan, with the same group open."""
        session = open_tuning(page, server)
        page.locator("plan-panel").get_by_label("Strategy").select_option("score")
        move(page, "Recency", "100")
        page.get_by_label("Fresh tail").fill("25")
        page.get_by_label("Cut to").fill("40")
        group = page.locator(".group").first
        expect(page.get_by_role("heading", name="Prune to 40 %")).to_be_visible()
        group.click()
        expect(page).to_have_url(re.compile("groups="))
        going = page.get_by_role("button", name=APPLY).inner_text()
        for away in (server.url, "about:blank"):
            shared = page.url
            page.goto(away)
            with page.expect_request("**/plan") as asked:
                page.goto(shared)
            sent = json.loads(asked.value.post_data or "")
            assert sent["strategy"] == "score"
            assert sent["settings"]["fresh_tail"] == 25
            assert sent["settings"]["weights"]["recency"] == 100
            expect(page.get_by_role("heading", name="Prune to 40 %")).to_be_visible()
            expect(page.get_by_role("button", name=APPLY)).to_have_text(going)
            expect(group).to_have_attribute("aria-expanded", "true")
        assert server.app.store.sessions.get(session).settings == {}

    def test_shows_its_changes_until_it_is_closed_also_after_a_reload(
        self, page: Page, server: Server
    ) -> None:
        """The list shows all messages again once the plan is closed."""
        open_session(page, server, managed(server, 60))
        expect(page).to_have_url(re.compile("show=changes&sort=tokens"))
        page.reload()
        expect(page.get_by_role("button", name=APPLY)).to_be_visible()
        page.get_by_role("tab", name="Heaviest").click()
        expect(page).not_to_have_url(re.compile("show="))
        expect(row(page, 60)).to_be_visible()

    def test_is_undone_by_back(self, page: Page, server: Server) -> None:
        """Back undoes first a reset and then the chosen strategy."""
        open_tuning(page, server)
        first = page.locator("plan-panel").get_by_label("Strategy").input_value()
        page.locator("plan-panel").get_by_label("Strategy").select_option("score")
        expect(page.get_by_role("button", name="Save for this session")).to_be_visible()
        page.get_by_role("button", name="Reset").click()
        expect(page.locator("plan-panel").get_by_label("Strategy")).to_have_value(first)
        page.go_back()
        expect(page.locator("plan-panel").get_by_label("Strategy")).to_have_value("score")
        expect(page.get_by_role("button", name="Save for this session")).to_be_visible()
        page.go_back()
        expect(page.locator("plan-panel").get_by_label("Strategy")).to_have_value(first)
        expect(page.get_by_role("button", name="Save for this session")).to_have_count(0)

    def test_ignores_invalid_values(self, page: Page, server: Server) -> None:
        """An address with invalid values shows the plan of the settings."""
        session = managed(server, 60)
        page.goto(
            f"{server.url}/sessions/{session}?panel=plan&cut=-3&strategy=magic&tail=x&weights=oops&groups=none"
        )
        expect(page.get_by_role("button", name=APPLY)).to_be_visible()
        expect(page.get_by_role("button", name="Reset")).to_have_count(0)


class TestSelection:
    """Selected rows, and the messages chosen for a plan."""

    def test_is_there_again_after_a_reload(self, page: Page, server: Server) -> None:
        """Rows far from the view stay selected, the plan made from them is kept, and Back selects them again."""
        session = managed(server, 300, tokens=20)
        page.goto(f"{server.url}/sessions/{session}?selected=5-7,290")
        chosen = page.get_by_role("toolbar", name="Selected messages")
        expect(chosen).to_contain_text("4 messages selected")
        page.get_by_label("Select message 289", exact=True).check()
        expect(chosen).to_contain_text("5 messages selected")
        expect(page).to_have_url(re.compile("selected=5-7%2C289-290"))
        page.reload()
        expect(chosen).to_contain_text("5 messages selected")
        chosen.get_by_role("button", name="Drop…").click()
        expect(page.get_by_role("button", name=re.compile("^Prune 5 messages"))).to_be_visible()
        expect(page).to_have_url(re.compile("drop=5-7%2C289-290"))
        page.reload()
        expect(page.get_by_role("button", name=re.compile("^Prune 5 messages"))).to_be_visible()
        expect(page.get_by_role("button", name="Goes 5")).to_be_visible()  # nothing moves any more
        page.get_by_role("button", name="No longer drop message 6").click()
        expect(page.get_by_role("button", name=re.compile("^Prune 4 messages"))).to_be_visible()
        page.go_back()
        expect(page.get_by_role("button", name=re.compile("^Prune 5 messages"))).to_be_visible()
        page.go_back()
        expect(chosen).to_contain_text("5 messages selected")


class TestSettings:
    """The settings page."""

    def test_shows_the_type_of_its_address(self, page: Page, server: Server) -> None:
        """A reload keeps the type, Back shows the type before, and an unknown type is ignored."""
        page.goto(f"{server.url}/settings")
        of_type(page, "Chat").click()
        expect(page).to_have_url(f"{server.url}/settings?type=chat")
        of_type(page, "Support").click()
        page.reload()
        expect(of_type(page, "Support")).to_have_attribute("aria-pressed", "true")
        page.go_back()
        expect(of_type(page, "Chat")).to_have_attribute("aria-pressed", "true")
        page.go_back()
        expect(of_type(page, "All sessions")).to_have_attribute("aria-pressed", "true")
        page.goto(f"{server.url}/settings?type=none-such")
        expect(of_type(page, "All sessions")).to_have_attribute("aria-pressed", "true")

    @pytest.mark.usefixtures("own_context")
    def test_are_read_once(self, page: Page, server: Server) -> None:
        """Joining the live events does not read the settings again."""
        page.clock.install(time=0)
        page.clock.pause_at(1)  # the page would wait for the join only so long
        read: list[str] = []
        page.on("request", lambda one: read.append(one.url) if one.url.endswith("/api/settings") else None)
        page.goto(f"{server.url}/settings")
        expect(page.locator("coppice-status")).to_contain_text("live")
        expect(page.get_by_role("slider", name=re.compile("^Recency"))).to_be_visible()
        page.clock.resume()
        server.app.settings.put({"fresh_tail": 17})
        expect(page.locator("input[name=fresh_tail]")).to_have_value("17")
        assert len(read) == 1

    def test_show_what_changed_before_the_page_had_joined(self, page: Page, server: Server) -> None:
        """A change between the first read and the first event is not missed, and "live" is not claimed before."""
        held = hold_joining(page, "overview")
        page.goto(f"{server.url}/settings")
        fresh_tail, status = page.locator("input[name=fresh_tail]"), page.locator(".live")
        expect(fresh_tail).to_have_value("0")
        until(page, lambda: held)
        server.app.settings.put({"fresh_tail": 17})
        expect(status).to_have_text("connecting")
        held[0]()
        expect(fresh_tail).to_have_value("17")
        expect(status).to_have_text("live")


class TestNarrowest:
    """The session page at 360 px."""

    def test_shows_every_sort_order_in_full(self, page: Page, server: Server) -> None:
        """No choice of the sort field is cut off."""
        page.set_viewport_size({"width": 360, "height": 740})
        open_session(page, server, managed(server, 20, tokens=50))
        room = """field => {
            const text = document.createElement("canvas").getContext("2d");
            text.font = getComputedStyle(field).font;
            const { width } = text.measureText(field.selectedOptions[0].textContent);
            const { paddingLeft, paddingRight } = getComputedStyle(field);
            const arrow = 20;
            return field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - arrow - width;
        }"""
        for order in ("Newest first", "Oldest first", "Most tokens first"):
            page.get_by_label("Sort").select_option(order)
            assert page.get_by_label("Sort").evaluate(room) >= 0
        holds(page, "document.documentElement.scrollWidth <= innerWidth")

    def test_shows_the_full_name_of_every_panel(self, page: Page, server: Server) -> None:
        """The tabs fit, even with the number of operations beside *History*."""
        page.set_viewport_size({"width": 360, "height": 740})
        session = managed(server, 20, tokens=50)
        for _ in range(10):
            server.app.by_hand.pin(
                session, server.app.messages.page(session, MessagesQuery(limit=1)).messages[0].id
            )
            server.app.operations.undo(session)
        open_session(page, server, session)
        page.get_by_role("button", name="Archive").click()
        tabs = page.get_by_role("tablist", name="Panels")
        expect(tabs.get_by_role("tab", name="History 10")).to_be_visible()
        assert tabs.evaluate("tabs => tabs.scrollWidth <= tabs.clientWidth")

    def test_shows_the_number_of_a_row_beside_its_box(self, page: Page, server: Server) -> None:
        """The box does not lie on the digits."""
        page.set_viewport_size({"width": 360, "height": 740})
        open_session(page, server, managed(server, 20, tokens=50))
        page.get_by_label("Select message 18", exact=True).check()
        apart = """row => {
            const digits = document.createRange();
            const walker = document.createTreeWalker(row.querySelector(".m-number"), NodeFilter.SHOW_TEXT);
            while (walker.nextNode() && !/[0-9]/.test(walker.currentNode.data));
            digits.selectNodeContents(walker.currentNode);
            const box = row.querySelector(".m-select input").getBoundingClientRect();
            return box.right <= digits.getBoundingClientRect().left;
        }"""
        assert row(page, 18).evaluate(apart)

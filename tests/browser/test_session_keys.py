"""The keys of the session page, its focus, and its notices."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.session_page import APPLY, open_and_settle, open_session, row
from tests.browser.waiting import drawn, hold, in_place, intercept, top_of
from tests.browser.writing import managed
from tests.servers import Server
from webapp.bodies import PruneBody

SAY = "text => document.dispatchEvent(new CustomEvent('coppice:toast', {detail: {message: text}}))"


class TestKeys:
    """The keys of the session page."""

    def test_are_listed_in_the_sheet(self, page: Page, server: Server) -> None:
        """The sheet that ? opens names the action of each key."""
        open_session(page, server, managed(server, 6, tokens=50))
        page.keyboard.press("?")
        sheet = page.get_by_role("dialog", name="Keys")
        for words in (
            "Undo the last change",
            "Pin or unpin",
            "Show what is heaviest",
            "Earlier message of the user",
            "Select",
            "Act on the selected rows",
            "Go to the notice",
        ):
            expect(sheet).to_contain_text(words)

    def test_pin_undo_and_show_the_heaviest(self, page: Page, server: Server) -> None:  # X5, X2
        """The key x pins, u undoes and e opens the panel."""
        session = managed(server, 12, tokens=50)
        open_session(page, server, session)
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("x")
        expect(row(page, 11).get_by_role("img", name="pinned")).to_be_visible()
        expect(page.locator(".msg:focus-within .m-number")).to_have_text("11")
        page.keyboard.press("u")
        expect(row(page, 11).get_by_role("img", name="pinned")).to_have_count(0)
        page.keyboard.press("u")
        expect(page.get_by_role("status").filter(has_text="Nothing to undo.")).to_be_visible()
        page.get_by_role("tab", name="History").click()
        page.locator("h1").click()
        page.keyboard.press("e")
        expect(page.get_by_role("tab", name="Heaviest")).to_have_attribute("aria-selected", "true")

    @pytest.mark.parametrize("before", [(), ("p", "Escape")])
    def test_apply_no_plan_that_is_not_shown(
        self, page: Page, server: Server, before: tuple[str, ...]
    ) -> None:
        """On a narrow page Enter prunes only while the sheet with the plan is open."""
        open_session(page, server, managed(server, 60))
        apply = page.locator("plan-panel [data-act=apply-plan]")
        expect(apply).to_have_text(APPLY)
        page.set_viewport_size({"width": 900, "height": 800})
        expect(apply).to_be_hidden()
        pruned: list[str] = []
        intercept(page, "**/prune", lambda route: (pruned.append(route.request.url), route.abort()))
        for key in (*before, "Enter", "p"):
            page.keyboard.press(key)
        expect(apply).to_be_visible()
        assert pruned == []


class TestFocus:
    """The focus when its element disappears or a key moves it."""

    def test_stays_near_its_message(self, page: Page, server: Server) -> None:  # X5
        """After *Drop now* the focus is on *Restore*."""
        open_session(page, server, managed(server, 12, tokens=50))
        row(page, 5).get_by_role("button").click()
        drop = page.get_by_role("button", name="Drop now")
        drop.focus()
        page.keyboard.press("Enter")
        expect(row(page, 5)).to_have_attribute("data-fate", "out")
        expect(page.locator(".msg-detail").get_by_role("button", name="Restore")).to_be_focused()

    def test_goes_to_the_panel_that_a_key_opens(self, page: Page, server: Server) -> None:
        """After `e` the next Tab reaches the panel of the heaviest messages, not the top of the page."""
        open_session(page, server, managed(server, 12, tokens=50))
        expect(page.locator("heavy-panel button").first).to_be_visible()
        page.keyboard.press("e")
        expect(page.get_by_role("tab", name="Heaviest")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.locator("heavy-panel :focus")).to_have_count(1)

    def test_goes_from_an_open_plan_to_the_panel_that_a_key_opens(self, page: Page, server: Server) -> None:
        """The tab of the panel that is shown gets the focus, even if a control of the plan had it."""
        open_session(page, server, managed(server, 60))
        expect(page.get_by_role("button", name=APPLY)).to_be_visible()
        page.get_by_label("Cut to").focus()
        page.keyboard.press("e")
        expect(page.get_by_role("tab", name="Heaviest")).to_be_focused()

    def test_stays_in_the_tab_order_when_a_plan_without_an_opener_closes(
        self, page: Page, server: Server
    ) -> None:
        """After a link to a plan, for example, the focus goes to the tab of the panel that is shown then."""
        page.goto(f"{server.url}/sessions/{managed(server, 60)}#plan")
        expect(page.get_by_role("heading", name="Prune to 60 %")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_role("tab", name="Heaviest")).to_be_focused()

    def test_returns_to_the_row_whose_detail_closes(self, page: Page, server: Server) -> None:
        """Escape in a long open message closes it, and its row is in view with the focus."""
        session = managed(server, 1, tokens=20)
        text = "a line of a long message\n" * 400
        server.app.ingest.append_messages(session, [{"role": "user", "content": text}])
        open_session(page, server, session)
        opener = row(page, 2).get_by_role("button")
        opener.click()
        expect(page.locator(".msg-detail .parts")).to_be_visible()
        page.get_by_role("button", name="Pin: never prune").focus()
        expect(opener).not_to_be_in_viewport()
        page.keyboard.press("Escape")
        expect(page.locator(".msg-detail")).to_have_count(0)
        expect(opener).to_be_focused()
        expect(opener).to_be_in_viewport()

    def test_goes_to_the_actions_on_selected_rows_and_back(self, page: Page, server: Server) -> None:
        """The key a moves it to the first action, however many rows are between; Escape moves it to the row."""
        open_and_settle(page, f"{server.url}/sessions/{managed(server, 60, tokens=50)}")
        for key in "jjs":
            page.keyboard.press(key)
        selected = page.locator(".msg:focus-within .m-open")
        number = page.locator(".msg:focus-within .m-number")
        expect(number).to_have_text("59")
        page.keyboard.press("a")
        actions = page.get_by_role("toolbar", name="Selected messages")
        expect(actions.get_by_role("button", name="Drop…")).to_be_focused()
        page.keyboard.press("Escape")
        expect(number).to_have_text("59")
        expect(selected).to_be_focused()
        page.keyboard.press("a")
        scrolled = page.evaluate("scrollY")
        while not actions.get_by_role("button", name="Select none").evaluate("one => one.matches(':focus')"):
            page.keyboard.press("Tab")
        assert page.evaluate("scrollY") == scrolled  # the bar of the actions is in view wherever the page is
        page.keyboard.press("Enter")
        expect(actions).to_have_count(0)
        expect(number).to_have_text("59")

    def test_stays_on_its_tab_when_an_arrow_key_has_a_modifier(self, page: Page, server: Server) -> None:
        """Alt and an arrow go back and forward in the browser, and select no other tab."""
        open_session(page, server, managed(server, 12, tokens=50))
        tab = page.get_by_role("tab", name="Heaviest")
        tab.focus()
        page.keyboard.press("Alt+ArrowRight")
        expect(tab).to_have_attribute("aria-selected", "true")
        expect(tab).to_be_focused()

    def test_returns_to_the_button_of_a_menu(self, page: Page, server: Server) -> None:
        """Escape closes the menu, and Tab goes on from there."""
        open_session(page, server, managed(server, 12, tokens=50))
        more = page.locator(".menu.more summary")
        more.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.get_by_role("switch", name="Automatic pruning")).to_be_focused()
        page.keyboard.press("Escape")
        expect(more).to_be_focused()

    def test_closes_a_dialog_and_nothing_behind_it(self, page: Page, server: Server) -> None:
        """Escape closes the list of keys and leaves the plan open; the next Escape closes the plan."""
        open_session(page, server, managed(server, 60))
        page.keyboard.press("p")
        plan = page.get_by_role("tab", name="Plan")
        expect(plan).to_have_attribute("aria-selected", "true")
        page.keyboard.press("?")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
        expect(plan).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Escape")
        expect(plan).to_have_attribute("aria-selected", "false")

    def test_stays_in_the_panels_when_enter_applies_a_plan(self, page: Page, server: Server) -> None:
        """Enter on the slider applies the plan, and the focus stays in the panels."""
        open_session(page, server, managed(server, 60))
        button = page.get_by_role("button", name=re.compile("^Prune .* messages"))
        expect(button).to_be_visible()
        page.get_by_label("Cut to").focus()
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_role("heading", name="Prune to 59 %")).to_be_visible()
        expect(button).to_be_enabled()
        page.keyboard.press("Enter")
        expect(page.get_by_role("status").filter(has_text="messages pruned")).to_be_visible()
        expect(page.locator(".side :focus")).to_have_count(1)

    def test_on_the_slider_applies_only_the_plan_that_is_shown(self, page: Page, server: Server) -> None:
        """Enter does nothing until the plan for the slider's value is there, and then applies that one."""
        open_session(page, server, managed(server, 60))
        apply = page.get_by_role("button", name=re.compile("^Prune .* messages"))
        expect(apply).to_be_enabled()
        page.get_by_label("Cut to").focus()
        held = hold(page, "**/plan", lambda: page.keyboard.press("ArrowLeft"), others=True)
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Planning…")).to_be_visible()
        with page.expect_response(lambda answer: answer.url.endswith("/plan")) as planned:
            held.continue_()
        plan = planned.value.json()
        assert plan["max_tokens"] == plan["limit"] * 59 // 100
        expect(apply).to_have_attribute("aria-disabled", "false")
        with page.expect_request("**/prune") as pruned:
            page.keyboard.press("Enter")
        assert pruned.value.post_data_json == {"plan_id": plan["plan_id"]}
        expect(page.get_by_role("status").filter(has_text="messages pruned")).to_be_visible()


class TestASheet:
    """The panels of a narrow page, which are a sheet over it."""

    def test_is_closed_by_a_click_beside_it(self, page: Page, server: Server) -> None:
        """The click reaches nothing of the page below."""
        page.set_viewport_size({"width": 900, "height": 800})
        session = managed(server, 12, tokens=50)
        page.goto(f"{server.url}/sessions/{session}?panel=archive")
        sheet = page.locator(".side")
        expect(sheet).to_be_visible()
        link = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Memory")
        box = link.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(sheet).to_be_hidden()
        assert page.url == f"{server.url}/sessions/{session}"

    def test_keeps_its_tabs_in_place(self, page: Page, server: Server) -> None:
        """They stand where they stood before a panel was read, and with another panel."""
        page.set_viewport_size({"width": 390, "height": 844})
        session = managed(server, 60)
        address = f"{server.url}/sessions/{session}?panel=plan"
        plan = hold(page, f"**/sessions/{session}/plan", lambda: page.goto(address), others=True)
        tabs = page.get_by_role("tablist", name="Panels")
        expect(tabs).to_be_visible()
        before = top_of(tabs)
        plan.continue_()
        expect(page.locator(".plan-bars")).to_be_visible()
        assert top_of(tabs) == before
        page.get_by_role("tab", name="History").click()
        expect(page.get_by_text("No operation on the context yet.")).to_be_visible()
        assert top_of(tabs) == before

    def test_keeps_tab_in_it(self, page: Page, server: Server) -> None:
        """Tab reaches nothing that the sheet covers, and everything again once it is closed."""
        page.set_viewport_size({"width": 1080, "height": 800})
        open_session(page, server, managed(server, 12, tokens=50))
        opener = page.get_by_role("navigation", name="Panels").get_by_role("button", name="Heaviest")
        opener.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("tab", name="Heaviest")).to_be_focused()
        expect(page.locator("heavy-panel button").first).to_be_visible()
        inside = 0
        while page.evaluate("document.activeElement !== document.body"):
            assert page.evaluate("document.activeElement.closest('.side') !== null")
            page.keyboard.press("Tab")
            inside += 1
        assert inside > 3
        page.keyboard.press("j")
        expect(page.locator(".msg :focus")).to_have_count(0)
        page.keyboard.press("Escape")
        expect(opener).to_be_focused()
        page.keyboard.press("j")
        expect(page.locator(".msg :focus")).to_have_count(1)

    def test_gives_the_page_back_when_the_window_is_widened(self, page: Page, server: Server) -> None:
        """Beside the page, the open panel covers nothing."""
        page.set_viewport_size({"width": 1080, "height": 800})
        page.goto(f"{server.url}/sessions/{managed(server, 12, tokens=50)}?panel=heaviest")
        expect(page.locator(".side")).to_have_css("position", "fixed")
        expect(page.locator("message-list[inert]")).to_have_count(1)
        page.set_viewport_size({"width": 1081, "height": 800})
        expect(page.locator(".side")).not_to_have_css("position", "fixed")
        expect(page.locator("[inert]")).to_have_count(0)


class TestNotices:
    """The toasts at the foot of the page."""

    def test_come_one_at_a_time(self, page: Page, server: Server) -> None:
        """A new notice replaces the one before; while the pointer is on a notice, the next one waits."""
        session = managed(server, 60)
        server.app.prunes.apply(session, PruneBody())
        open_session(page, server, session)
        toasts = page.locator(".toast")
        page.evaluate(SAY, "one")
        expect(toasts).to_have_text(["one"])
        page.evaluate(SAY, "two")
        expect(toasts).to_have_text(["two"])
        toasts.hover()
        page.evaluate(SAY, "three")
        expect(toasts).to_have_text(["two"])
        toasts.get_by_role("button", name="Close").click()
        expect(toasts).to_have_text(["three"])

    def test_show_a_failure_again_that_comes_again(self, page: Page, server: Server) -> None:
        """A failure that waits behind a later notice is shown when it happens once more."""
        page.goto(f"{server.url}/memory")
        toasts = page.locator(".toast > span")
        say = """([message, kind]) => document.dispatchEvent(
          new CustomEvent("coppice:toast", { detail: { message, kind, stay: kind === "error" } }))"""
        for message, kind in (("a failure", "error"), ("done", "success"), ("a failure", "error")):
            page.evaluate(say, [message, kind])
            drawn(page)
            assert toasts.all_inner_texts() == [message]
        page.locator(".toast").get_by_role("button", name="Close").click()
        expect(toasts).to_have_count(0)

    def test_return_the_focus(self, page: Page, server: Server) -> None:
        """The focus that was moved to a notice is where it was once all notices are closed."""
        page.goto(f"{server.url}/memory")
        field = page.get_by_label("A new memory")
        field.focus()
        page.evaluate(SAY, "one")
        close = page.locator(".toast").get_by_role("button", name="Close")
        close.focus()
        page.evaluate(SAY, "two")
        page.keyboard.press("Enter")
        expect(page.locator(".toast")).to_have_text("two")
        expect(close).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".toast")).to_have_count(0)
        expect(field).to_be_focused()

    def test_are_reached_and_closed_by_keys(self, page: Page, server: Server) -> None:
        """The key n moves the focus to the notice, and Escape closes it and nothing else."""
        open_session(page, server, managed(server, 60))
        page.keyboard.press("p")
        expect(page.get_by_role("heading", name="Prune to 60 %")).to_be_focused()
        page.evaluate(SAY, "one")
        page.keyboard.press("n")
        expect(page.locator(".toast").get_by_role("button", name="Close")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator(".toast")).to_have_count(0)
        expect(page.get_by_role("heading", name="Prune to 60 %")).to_be_focused()

    @pytest.mark.parametrize("width", [390, 1280])
    def test_cover_no_actions_on_selected_rows(self, page: Page, server: Server, width: int) -> None:
        """While rows are selected, notices are at the top."""
        page.set_viewport_size({"width": width, "height": 800})
        open_and_settle(page, f"{server.url}/sessions/{managed(server, 60)}")
        for key in "jjs":
            page.keyboard.press(key)
        page.evaluate(SAY, "a notice " * 20)
        notice, actions = page.locator(".toast"), page.get_by_role("toolbar", name="Selected messages")
        expect(notice).to_be_in_viewport(ratio=1)
        expect(actions).to_be_in_viewport(ratio=1)
        in_place(notice, actions, "(notice, actions) => notice.bottom <= actions.top")

    def test_come_into_a_region_that_is_there_before(self, page: Page, server: Server) -> None:
        """Screen readers announce what is added to a live region, and may miss a region that is added."""
        page.goto(f"{server.url}/memory")
        region = page.locator("coppice-toasts").get_by_role("status")
        expect(region).to_have_count(1)
        region.evaluate("region => { window.region = region; }")
        page.evaluate(SAY, "one")
        expect(region).to_have_text("one")
        assert page.evaluate("document.contains(window.region)")

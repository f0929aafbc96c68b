"""Late answers and changes made elsewhere: a choice made meanwhile stays, and open pages follow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.session_page import APPLY, open_and_settle, open_session
from tests.browser.settings_page import open_below
from tests.browser.waiting import LIST, drawn, fast_forward, hold, intercept, until
from tests.browser.writing import feed, managed
from tests.servers import Server
from tests.webapp.building import call, followed, mid, result, said, user
from webapp.bodies import MessagesQuery, PlanBody, PruneBody, SessionChange

MODEL = "nobody-knows-this"


@contextmanager
def held(page: Page, address: str, method: str = "GET", wanted: bool = True) -> Iterator[None]:
    """Hold back matching requests until the block ends; without `wanted` the page cancels them meanwhile."""
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == method:
            waiting.append(route)
        else:
            route.continue_()

    intercept(page, address, hold)
    yield
    until(page, lambda: waiting)
    with page.expect_response(address) if wanted else nullcontext():
        for route in waiting:
            route.continue_()
    page.unroute(address)


class TestAVerdict:
    """The verdict needs the plan that the list's fates need."""

    @pytest.mark.usefixtures("own_context")
    def test_is_asked_for_with_the_fates(self, page: Page, server: Server) -> None:
        """It is not asked for while the list waits, when the server would make a plan for it alone."""
        session = managed(server, 60, tokens=50)
        page.clock.install()
        with page.expect_response("**/verdict"):
            open_and_settle(page, f"{server.url}/sessions/{session}")
        drawn(page)
        asked: list[str] = []
        page.on("request", lambda one: asked.append(one.url) if one.url.endswith("/verdict") else None)
        rows = hold(page, LIST, lambda: feed(server, session, 1, tokens=50, start=60))
        until(page, lambda: len(asked) == 1)
        feed(server, session, 1, tokens=50, start=61)
        expect(page.locator(".meta")).to_contain_text("62 messages")
        fast_forward(page, 2)
        assert len(asked) == 1
        rows.continue_()

        def is_asked_again() -> bool:
            fast_forward(page)  # the page waits ten times as long as the list took, once it has the answer
            return len(asked) > 1

        until(page, is_asked_again)


class TestALateAnswer:
    """An answer never reverts a choice made after its request."""

    def test_leaves_the_chosen_panel_open(self, page: Page, server: Server) -> None:
        """A tab chosen before the first statistics arrive stays open."""
        session = managed(server, 60)
        with held(page, "**/stats"):
            page.goto(f"{server.url}/sessions/{session}")
            expect(page.locator(".live")).to_have_text("live")
            server.app.sessions.patch(session, SessionChange(title="Named meanwhile"))
            expect(page.locator("h1")).to_have_text(re.compile("Named meanwhile"))
            tab = page.get_by_role("tab", name="Archive")
            tab.click()
            expect(tab).to_have_attribute("aria-selected", "true")
        expect(page.locator("token-chart canvas")).to_be_visible()
        expect(tab).to_have_attribute("aria-selected", "true")

    def test_opens_the_plan_asked_for_while_the_page_loads(self, page: Page, server: Server) -> None:
        """The key p works while the session is being read."""
        session = managed(server, 2, tokens=50)
        with held(page, "**/stats"):
            page.goto(f"{server.url}/sessions/{session}")
            expect(page.locator(".live")).to_have_text("live")
            page.keyboard.press("p")
        expect(page.get_by_role("tab", name="Plan")).to_have_attribute("aria-selected", "true")

    def test_of_a_prune_leaves_the_chosen_panel_open(self, page: Page, server: Server) -> None:
        """A panel opened while the prune runs stays open, and the result is still reported."""
        session = managed(server, 60)
        open_session(page, server, session)
        page.get_by_role("button", name="See the plan").click()
        with held(page, "**/prune", "POST"):
            page.get_by_role("button", name=re.compile(r"^Prune \d+ messages")).click()
            tab = page.get_by_role("tab", name="Archive")
            tab.click()
        expect(page.get_by_role("status").filter(has_text="messages pruned")).to_be_visible()
        expect(tab).to_have_attribute("aria-selected", "true")

    def test_of_a_plan_leaves_the_chosen_rows(self, page: Page, server: Server) -> None:  # X1
        """All messages, chosen while the plan is made, stay after it and after a reload; a later plan shows changes."""
        session = managed(server, 60)
        page.goto(f"{server.url}/sessions/{session}?panel=heaviest")
        everything = page.get_by_role("button", name=re.compile(r"^All \d+"))
        changes = page.get_by_role("button", name=re.compile("^Changes"))
        expect(everything).to_be_visible()
        with held(page, "**/plan", "POST"):
            page.keyboard.press("p")
            everything.click()
        expect(changes).to_be_visible()
        expect(everything).to_have_attribute("aria-pressed", "true")
        page.reload()
        expect(changes).to_be_visible()
        expect(everything).to_have_attribute("aria-pressed", "true")
        page.locator("h1").click()
        page.keyboard.press("Escape")
        expect(page.get_by_role("tab", name="Heaviest")).to_have_attribute("aria-selected", "true")
        page.keyboard.press("p")
        expect(changes).to_have_attribute("aria-pressed", "true")

    def test_of_a_plan_is_applied_only_once_it_is_shown(self, page: Page, server: Server) -> None:  # X1
        """Enter does nothing while a moved slider waits for its plan, and then applies the plan that is shown."""
        session = managed(server, 60)
        open_session(page, server, session)
        page.get_by_role("button", name="See the plan").click()
        apply = page.locator("plan-panel [data-act=apply-plan]")
        expect(apply).to_have_text(APPLY)
        before = apply.inner_text()
        asked = hold(page, "**/plan", lambda: page.get_by_label("Cut to").fill("20"))
        expect(apply).to_contain_text("Planning…")
        page.locator("h1").click()
        page.keyboard.press("Enter")
        asked.continue_()
        expect(apply).to_have_text(APPLY)
        assert apply.inner_text() != before
        drawn(page)
        assert server.app.operations.list(session) == []
        page.keyboard.press("Enter")
        expect(page.get_by_role("status").filter(has_text="messages pruned")).to_be_visible()

    def test_leaves_the_rows_before_in_view(self, page: Page, server: Server) -> None:
        """While the rows of another list are read, those of the list before stay, and take no click."""
        session = managed(server, 60, tokens=50)
        open_and_settle(page, f"{server.url}/sessions/{session}")
        first = page.locator('.msg[aria-rowindex="2"] .m-number')
        asked = hold(page, LIST, lambda: page.get_by_label("Sort").select_option("oldest"), others=True)
        expect(first).to_have_text("60")
        expect(page.locator(".rows[inert]")).to_have_count(1)
        expect(page.locator(".msg[data-coming]")).to_have_count(0)
        asked.continue_()
        expect(first).to_have_text("1")
        expect(page.locator(".rows[inert]")).to_have_count(0)

    def test_gets_the_focus_that_was_moved_before_it(self, page: Page, server: Server) -> None:
        """A key that moves the focus while other rows are read focuses the new row, once it is there."""
        session = managed(server, 60, tokens=50)
        open_and_settle(page, f"{server.url}/sessions/{session}")
        asked = hold(page, LIST, lambda: page.get_by_label("Sort").select_option("oldest"), others=True)
        expect(page.locator(".rows[inert]")).to_have_count(1)
        page.get_by_label("Sort").blur()
        page.keyboard.press("j")
        asked.continue_()
        expect(page.locator('.msg[aria-rowindex="2"] .m-open')).to_be_focused()
        expect(page.locator('.msg[aria-rowindex="2"] .m-number')).to_have_text("1")

    def test_still_shows_its_rows_where_others_came_before_it(self, page: Page, server: Server) -> None:
        """Messages that keep coming do not keep the fates of older ones from the list."""
        session = managed(server, 60, tokens=50)
        open_and_settle(page, f"{server.url}/sessions/{session}")
        message = server.app.messages.page(session, MessagesQuery(limit=10)).messages[9]
        asked = hold(page, LIST, lambda: server.app.by_hand.pin(session, message.id))
        feed(server, session, 1, start=60)
        expect(page.locator('.msg[aria-rowindex="2"] .m-number')).to_have_text("61")
        asked.continue_()
        expect(page.locator(f'.msg[data-id="{message.id}"] .icon[aria-label="pinned"]')).to_be_visible()

    def test_is_not_shown_under_a_later_choice(self, page: Page, server: Server) -> None:
        """Memories that arrive after a switch to learnings are not shown."""
        page.request.post(f"{server.url}/api/memories", data={"text": "the lexer lives in src"})
        with held(page, "**/api/memories", wanted=False):
            with page.expect_request("**/api/memories"):
                page.goto(f"{server.url}/memory")
            page.get_by_role("button", name="Learnings").click()
            expect(page.get_by_text("No learnings yet.")).to_be_visible()
        expect(page.get_by_text("No learnings yet.")).to_be_visible()
        expect(page.locator(".hit")).to_have_count(0)

    def test_keeps_text_typed_meanwhile(self, page: Page, server: Server) -> None:
        """Text typed while the previous memory is saved stays in the field."""
        page.goto(f"{server.url}/memory")
        field = page.get_by_label("A new memory")
        field.fill("the first")
        with held(page, "**/api/memories", "POST"):
            page.get_by_role("button", name="Keep it").click()
            field.fill("the second")
        expect(page.locator(".hit")).to_have_count(1)
        expect(field).to_have_value("the second")

    def test_keeps_settings_edited_meanwhile(self, page: Page, server: Server) -> None:
        """A field changed while others are saved stays changed and unsaved."""
        page.goto(f"{server.url}/settings")
        target, aim = page.get_by_label("Target", exact=True), page.get_by_label("Aim", exact=True)
        target.fill("85")
        with held(page, "**/api/settings", "PUT"):
            page.get_by_role("button", name="Save", exact=True).click()
            aim.fill("55")
        expect(page.get_by_text("Not saved: Aim")).to_be_visible()
        expect(target).to_have_value("85")
        expect(aim).to_have_value("55")

    def test_leaves_no_deleted_memory_in_the_list(self, page: Page, server: Server) -> None:
        """Its row leaves with the deletion, not only once the list was read again: it has no more to offer."""
        server.app.memory.add("memory", "it is so")
        page.goto(f"{server.url}/memory")
        row = page.locator(".hit")
        expect(row).to_have_count(1)
        with held(page, "**/api/memories*"):
            row.get_by_role("button", name="Delete").click()
            expect(page.get_by_role("button", name="Undo")).to_be_visible()
            expect(row).to_have_count(0)

    def test_comes_before_a_webhook_can_be_added(self, page: Page, server: Server) -> None:
        """A form opened before the list is read would offer no events, without which no webhook can be added."""
        add = page.get_by_role("button", name="Add webhook")
        answer = hold(page, "**/api/webhooks", lambda: open_below(page, server, "webhooks-panel"))
        expect(page.locator("webhooks-panel .reading")).to_be_visible()
        expect(add).to_be_disabled()
        answer.continue_()
        add.click()
        expect(page.locator(".webhook-event")).not_to_have_count(0)

    def test_keeps_the_form_of_another_model_open(self, page: Page, server: Server) -> None:
        """The saved row closes, and the row opened meanwhile stays open."""
        page.goto(f"{server.url}/settings")
        page.locator("models-table").scroll_into_view_if_needed()
        expect(page.locator("models-table td.mono").first).to_be_visible()
        names = page.locator("models-table td.mono").all_inner_texts()[:2]
        page.get_by_role("button", name=f"Override {names[0]}", exact=True).click()
        page.locator(".model-edit").get_by_label("Window").fill("123456")
        with held(page, "**/api/models/**", "PUT"):
            page.locator(".model-edit").get_by_role("button", name="Save").click()
            page.get_by_role("button", name=f"Override {names[1]}", exact=True).click()
        expect(page.get_by_role("button", name=f"Reset {names[0]}", exact=True)).to_be_visible()
        expect(page.locator(".model-edit b")).to_have_text(names[1])


@pytest.mark.parametrize(
    ("path", "asked", "after"),
    [
        ("/memory", "**/api/memories*", "No memories yet."),
        ("/widget", "**/api/sessions?*", "There is no session yet"),
        ("/settings", "**/api/settings", "Target and aim"),
        ("/search?q=heron", "**/api/search?*", "No message has these words."),
    ],
)
def test_a_page_says_that_it_is_being_read(
    page: Page, server: Server, path: str, asked: str, after: str
) -> None:
    """A page that waits for its answer is not blank, and the words for that leave with the answer."""
    answer = hold(page, asked, lambda: page.goto(server.url + path))
    expect(page.locator("main .reading").first).to_be_visible()
    answer.continue_()
    expect(page.get_by_text(after)).to_be_visible()
    expect(page.locator("main .reading")).to_have_count(0)


class TestAnOpenSession:
    """An open page follows changes made elsewhere."""

    def test_shows_new_limits(self, page: Page, server: Server) -> None:
        """A new window and a new target appear without a reload."""
        session = managed(server, 10)
        open_session(page, server, session)
        figures = page.locator(".bar-figures")
        expect(figures).to_contain_text("of 100,000")
        page.request.put(f"{server.url}/api/models/{MODEL}", data={"window": 50_000})
        expect(figures).to_contain_text("of 50,000")
        page.request.put(f"{server.url}/api/settings", data={"target_percent": 70})
        expect(page.locator(".gauge-label")).to_contain_text("target 70")

    def test_updates_its_plan(self, page: Page, server: Server) -> None:
        """A new aim and a new window change the open plan at once."""
        session = managed(server, 60)
        open_session(page, server, session)
        page.get_by_role("button", name="See the plan").click()
        aim = page.locator("plan-panel output").first
        expect(aim).to_have_text(re.compile("^60"))
        page.request.put(f"{server.url}/api/settings", data={"aim_percent": 40})
        expect(aim).to_have_text(re.compile("^40"))
        page.request.put(f"{server.url}/api/models/{MODEL}", data={"window": 80_000})
        expect(page.locator("plan-panel")).to_contain_text("113.1")
        page.request.patch(f"{server.url}/api/sessions/{session}", data={"window": 200_000})
        expect(page.locator(".bar-figures")).to_contain_text("of 200,000")
        expect(page.locator("plan-panel")).to_contain_text("45.2")

    def test_shows_an_open_message_as_it_was_shortened_elsewhere(
        self, page: Page, server: Server
    ) -> None:  # X3
        """The open row has the shortened text too, and after an undo the whole one alone."""
        long = "".join(f"line {n} of the build\n" for n in range(400))
        app, session = (
            server.app,
            followed(
                server.app, user("please build"), call("a"), result("a", long), said("done"), user("thanks")
            ),
        )
        page.goto(f"{server.url}/sessions/{session}?message=3")
        shortened = page.get_by_role("heading", name="In the context, shortened")
        expect(page.locator(".msg-detail pre")).to_have_count(1)
        expect(page.locator(".live")).to_have_text("live")
        plan = app.prunes.plan(session, PlanBody(max_tokens=10**9, shorten=[mid(app, session, 3)]))
        done = app.prunes.apply(session, PruneBody(plan_id=plan.plan_id))
        expect(shortened).to_be_visible()
        app.operations.undo(session, done.operation.n)
        expect(shortened).to_have_count(0)
        expect(page.locator(".msg-detail pre")).to_have_count(1)

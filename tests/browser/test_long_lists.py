"""The message list of a long session: windowed, and used like a short one."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, Request, Route, expect

from tests.browser.session_page import open_and_settle, open_session, row
from tests.browser.waiting import LIST, drawn, hold, intercept, until
from tests.browser.writing import feed, managed
from tests.servers import Server
from webapp.bodies import MessagesQuery

LONG = 900
# Reads of the rows of the list that do not wait for a plan, and those that do.
AT_ONCE = re.compile(r"/messages\?.*at_once")
WITH_FATES = re.compile(r"/messages\?(?!.*(sort=tokens|at_once))")
REVEAL = "number => document.querySelector('message-list').reveal(number)"


def long_session(server: Server) -> str:
    """Create a session of many short messages, one of them about a heron; return its id."""
    session = managed(server, LONG, tokens=5)
    server.app.ingest.append_messages(session, [{"role": "user", "content": "a heron by the weir"}])
    feed(server, session, 200, tokens=5, start=LONG + 1)
    return session


def without_fates(route: Route) -> None:
    """Answer a read of rows as while their plan is being made."""
    answer = route.fetch().json()
    rows = [{**one, "fate": "pending"} for one in answer["messages"]]
    route.fulfill(json={**answer, "messages": rows, "pending": True})


def scrolled(page: Page, to: str) -> str:
    """Scroll to a place and return the number of the row in the middle of the view, once the rows there are drawn."""
    page.evaluate(f"scrollTo(0, {to})")
    middle = "document.elementFromPoint(300, innerHeight / 2).closest('.msg')?.querySelector('.m-number')?.textContent"
    until(page, lambda: page.evaluate(middle) and page.locator(".msg[data-coming]").count() == 0)
    return str(page.evaluate(middle)).strip().replace(",", "")


class TestWindowing:
    """Only the rows in view and some around them are in the page."""

    def test_draws_only_the_rows_near_the_view(self, page: Page, server: Server) -> None:
        """Keys and scroll bar reach every row, and the list is as high as all its rows."""
        open_session(page, server, long_session(server))
        for key, number in (("End", 1), ("Home", LONG + 201)):
            page.keyboard.press(key)
            expect(row(page, number)).to_be_in_viewport()
            assert page.locator(".msg").count() < 200
        middle = scrolled(page, "document.documentElement.scrollHeight / 2")
        assert 400 < int(middle) < 800
        expect(page.get_by_role("table", name="Messages")).to_have_attribute("aria-rowcount", f"{LONG + 202}")

    def test_leaves_no_nodes_of_removed_rows(self, page: Page, server: Server) -> None:
        """The number of nodes for each row stays the same, however far the reader scrolls."""
        open_session(page, server, long_session(server))
        nodes = "(({childNodes, children}) => childNodes.length / children.length)"
        for place in ("20000", "40000", "20000"):
            scrolled(page, place)
            assert page.evaluate(f"{nodes}(document.querySelector('message-list .drawn'))") < 4

    def test_keeps_the_place_of_the_reader(self, page: Page, server: Server) -> None:
        """New rows wait, and no visible row moves by a pixel."""
        session = long_session(server)
        open_session(page, server, session)
        scrolled(page, "20000")
        seen = page.locator(".msg").nth(60)
        number, before = seen.locator(".m-number").inner_text(), seen.bounding_box()
        feed(server, session, 3, tokens=5, start=LONG + 201)
        expect(page.get_by_role("button", name="3 new messages")).to_be_attached()
        assert row(page, int(number.replace(",", ""))).bounding_box() == before

    def test_moves_the_focus_with_the_keys(self, page: Page, server: Server) -> None:
        """The focus moves on to rows that were not drawn before, and stays while the reader scrolls away."""
        open_session(page, server, long_session(server))
        for _ in range(130):
            page.keyboard.press("j")
        focused = page.locator(".msg:focus-within")
        expect(focused.locator(".m-number")).to_have_text(f"{LONG + 201 - 129:,}")
        expect(focused).to_be_in_viewport()
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        expect(row(page, 1)).to_be_in_viewport()
        expect(focused.locator(".m-number")).to_have_text(f"{LONG + 201 - 129:,}")
        page.keyboard.press("k")
        expect(focused.locator(".m-number")).to_have_text(f"{LONG + 201 - 128:,}")
        expect(focused).to_be_in_viewport()

    def test_counts_every_key_while_rows_are_read(self, page: Page, server: Server) -> None:
        """A row that is still loading counts as a step."""
        open_session(page, server, long_session(server))

        def walk() -> None:
            for _ in range(260):
                page.keyboard.press("j")

        hold(page, "**/messages?*", walk)
        page.unroute("**/messages?*")
        expect(page.locator(".msg:focus-within .m-number")).to_have_text(f"{LONG + 201 - 259:,}")

    def test_keeps_the_focused_row_when_a_late_answer_arrives(self, page: Page, server: Server) -> None:
        """A reader who moved far down meanwhile stays at the same row, and the keys still move in the list."""
        session = long_session(server)
        open_session(page, server, session)
        first = server.app.messages.page(session, MessagesQuery(sort="oldest", limit=1)).messages[0]
        whole = re.compile(r"/messages\?(?!.*last=)(?=.*offset=0)")
        asked = hold(page, whole, lambda: server.app.by_hand.pin(session, first.id), others=True)
        expect(row(page, LONG + 201)).to_be_in_viewport()
        for _ in range(130):
            page.keyboard.press("j")
        focused = page.locator(".msg:focus-within .m-number")
        expect(focused).to_have_text(f"{LONG + 201 - 129:,}")
        with page.expect_response(whole):
            asked.continue_()
        until(page, lambda: page.locator(".msg[data-coming]").count() == 0)
        drawn(page)
        expect(focused).to_have_text(f"{LONG + 201 - 129:,}")
        page.keyboard.press("Home")
        expect(row(page, LONG + 201)).to_be_in_viewport()

    def test_moves_between_messages_of_the_user(self, page: Page, server: Server) -> None:
        """The keys [ and ] skip any number of answers."""
        session = managed(server, 1, tokens=5)
        answers = [{"role": "assistant", "content": f"step {n}"} for n in range(400)]
        server.app.ingest.append_messages(
            session, [*answers, {"role": "user", "content": "and now?"}, *answers]
        )
        open_session(page, server, session)
        focused = page.locator(".msg:focus-within .m-number")
        for key, number in (("[", "402"), ("[", "1"), ("[", "1"), ("]", "402"), ("]", "402")):
            page.keyboard.press(key)
            expect(focused).to_have_text(number)
            expect(page.locator(".msg:focus-within")).to_be_in_viewport()

    def test_finds_any_message(self, page: Page, server: Server) -> None:
        """The search field covers all messages, and a link of a panel opens one that is not drawn."""
        open_session(page, server, long_session(server))
        page.get_by_label("Find in messages").fill("heron")
        expect(page.locator(".msg")).to_have_count(1)
        expect(row(page, LONG + 1)).to_be_visible()
        page.locator("heavy-panel .group-rows button").first.click()
        expect(page.locator(".msg[data-open=true]")).to_be_in_viewport()
        expect(page.get_by_label("Find in messages")).to_have_value("")

    def test_reads_the_rows_of_a_jump_once(self, page: Page, server: Server) -> None:
        """The rows around a message that a link opens are not asked for twice."""
        session = long_session(server)
        open_and_settle(page, f"{server.url}/sessions/{session}")
        index = LONG + 201 - 700

        def has_it(request: Request) -> bool:
            query = parse_qs(urlsplit(request.url).query)
            first = int(query.get("offset", ["0"])[0])
            return LIST.search(request.url) is not None and first <= index < first + 200

        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if has_it(request) else None)
        page.evaluate(REVEAL, 700)
        expect(page.locator(".msg[data-open=true] .m-number")).to_have_text("700")
        assert len(asked) == 1

    def test_shows_the_rows_of_a_jump_before_their_fates(self, page: Page, server: Server) -> None:
        """A plan of a long session takes long; its messages can be read meanwhile."""
        waiting: list[Route] = []
        intercept(page, AT_ONCE, without_fates)
        intercept(page, WITH_FATES, waiting.append)
        open_session(page, server, long_session(server))
        assert 400 < int(scrolled(page, "document.documentElement.scrollHeight / 2")) < 800
        pending = page.locator(".msg .fate[data-fate=pending]")
        expect(pending.first).to_be_attached()
        intercept(page, WITH_FATES, Route.continue_)
        for route in waiting:
            route.continue_()
        expect(pending).to_have_count(0)
        page.keyboard.press("Home")
        expect(row(page, LONG + 201)).to_contain_text("last message")

    def test_says_that_the_rows_of_a_jump_could_not_be_read(self, page: Page, server: Server) -> None:
        """A link to a message that cannot be read shows why above the list."""
        open_and_settle(page, f"{server.url}/sessions/{long_session(server)}")
        intercept(page, LIST, lambda route: route.abort())
        page.evaluate(REVEAL, 700)
        expect(page.locator(".list-problem")).to_contain_text("Could not read the messages")
        drawn(page)


class TestState:
    """The choices of the reader are in the address."""

    def test_is_there_again_after_a_reload(self, page: Page, server: Server) -> None:
        """A reload keeps the open message, the panel and the shown part of the session."""
        session = managed(server, 40, tokens=50)
        page.goto(f"{server.url}/sessions/{session}?from=5&to=20")
        expect(page.locator(".msg")).to_have_count(16)
        page.get_by_role("tab", name="History").click()
        row(page, 12).get_by_role("button").click()
        expect(page).to_have_url(re.compile(r"\?(?=.*from=5)(?=.*to=20)(?=.*message=12)(?=.*panel=history)"))
        page.reload()
        expect(page.locator(".msg")).to_have_count(16)
        expect(page.locator(".msg[data-open=true] .m-number")).to_have_text("12")
        expect(page.get_by_role("tab", name="History")).to_have_attribute("aria-selected", "true")
        page.get_by_role("button", name="Messages 5–20: show all again").click()
        expect(page.locator(".msg")).to_have_count(40)


class TestSelecting:
    """Several messages at once."""

    def test_works_by_box_range_and_key(self, page: Page, server: Server) -> None:
        """A box selects one message, Shift a range and the key s the focused message; the plan drops exactly these."""
        open_session(page, server, managed(server, 30, tokens=300))
        page.get_by_label("Select message 25", exact=True).check()
        page.get_by_label("Select message 22", exact=True).click(modifiers=["Shift"])
        page.keyboard.press("j")
        page.keyboard.press("s")
        chosen = page.get_by_role("toolbar", name="Selected messages")
        expect(chosen).to_contain_text("5 messages selected")
        chosen.get_by_role("button", name="Drop…").click()
        expect(page.get_by_role("button", name=re.compile("^Prune 5 messages"))).to_be_visible()
        expect(chosen).to_have_count(0)


class TestTools:
    """The list filtered by tool."""

    def test_holds_its_calls_and_results(self, page: Page, server: Server) -> None:
        """The field offers the tools that were used, and the choice is in the address."""
        session = managed(server, 6, tokens=20)
        for n, name in enumerate(("read_file", "bash", "read_file")):
            call = {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": "{}"}}
            rows = [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{n}", "content": "an output"},
            ]
            server.app.ingest.append_messages(session, rows)
        open_session(page, server, session)
        tools = page.get_by_label("Tool", exact=True)
        expect(tools.locator("option")).to_have_text(["All tools", "read_file", "bash"])
        tools.select_option("read_file")
        expect(page.locator(".msg")).to_have_count(4)
        expect(page).to_have_url(re.compile("tool=read_file"))

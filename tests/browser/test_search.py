"""The search page."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser, Page, expect

from tests.browser.looking import Look
from tests.browser.waiting import in_place, until
from tests.browser.writing import managed
from tests.servers import Server


def open_titles(page: Page, server: Server) -> None:
    """Open the search with a message of a session with a long title, and one of a session with a short title."""
    managed(server, 1, tokens=20, title="Move the billing service " * 20)
    managed(server, 1, tokens=20, title="Short")
    page.goto(f"{server.url}/search?q=message")
    expect(page.locator(".hit")).to_have_count(2)


class TestSearching:
    """The search page."""

    def test_finds_a_pruned_message_and_opens_it(self, page: Page, server: Server) -> None:  # X14, B15
        """A dropped message is found, marked as out of the context, and opened in its session."""
        session = managed(server, 6, tokens=50)
        [row] = [m for m in server.app.messages.page(session).messages if m.number == 2]
        server.app.by_hand.drop(session, row.id)
        other = managed(server, 2, tokens=20, title="Another")
        server.app.ingest.append_messages(other, [{"role": "user", "content": "a <b>heron</b> by the weir"}])
        page.goto(server.url)
        page.get_by_role("link", name="Search").click()
        field = page.get_by_label("Search all messages")
        expect(field).to_be_focused()
        field.fill("heron")
        hit = page.locator(".hit")
        expect(hit).to_have_count(1)
        expect(hit.locator("mark")).to_have_text("heron")
        expect(hit.locator(".snippet")).to_contain_text("<b>heron</b>")
        expect(page).to_have_url(f"{server.url}/search?q=heron")
        field.fill("message")
        out = page.locator(".hit", has_text="out of the context")
        expect(out).to_have_count(1)
        out.get_by_role("link").click()
        expect(page.locator(".msg-detail")).to_be_visible()
        expect(page.locator(".msg[data-open=true] .m-number")).to_have_text("2")

    def test_begins_the_words_of_fields_and_choices_at_one_place(self, page: Page, server: Server) -> None:
        """Fields of words are as far from their edge as the words of the choices beside them."""
        page.goto(f"{server.url}/search")
        fields = page.locator("coppice-search").locator("input[type=search], input[type=text], select")
        expect(fields).to_have_count(4)
        edges = fields.evaluate_all("all => all.map(one => getComputedStyle(one).paddingLeft)")
        assert len(set(edges)) == 1

    def test_says_that_nothing_was_found(self, page: Page, server: Server) -> None:
        """The query of the address has no result, and the page says so."""
        page.goto(f"{server.url}/search?q=nothing+of+the+kind")
        expect(page.get_by_text("No message has these words.")).to_be_visible()

    def test_keeps_long_titles_on_one_line(self, look: Look) -> None:
        """On a phone too, where the end of the title is cut."""
        page = look(open_titles)
        page.set_viewport_size({"width": 360, "height": 780})
        title = page.locator(".hit-head b", has_text="Move the billing")
        hits = page.locator(".hits")
        in_place(title, hits, "(title, hits) => title.height <= 24 && title.width <= hits.width")

    def test_aligns_the_number_whatever_the_title(self, look: Look) -> None:
        """A long title is cut before number and role; on a phone both stand below every title, short or long."""
        page = look(open_titles)
        for width, below in ((1280, False), (360, True)):
            page.set_viewport_size({"width": width, "height": 780})
            heads = page.locator(".hit-head").evaluate_all(
                """heads => heads.map(head => {
                    const [title, number] = head.children;
                    return number.getBoundingClientRect().top >= title.getBoundingClientRect().bottom;
                })"""
            )
            assert heads == [below, below]

    def test_filters_the_results(self, page: Page, server: Server) -> None:
        """Session, role and tool filter the results, and the filters are in the address."""
        managed(server, 2, tokens=20, id="one", title="One")
        managed(server, 2, tokens=20, id="two", title="Two")
        page.goto(f"{server.url}/search?q=message")
        hits = page.locator(".hit")
        expect(hits).to_have_count(4)
        page.get_by_label("Session").select_option("Two")
        expect(hits).to_have_count(2)
        page.get_by_label("Role").select_option("user")
        expect(hits).to_have_count(1)
        page.reload()
        expect(hits).to_have_count(1)
        expect(page.get_by_label("Role")).to_have_value("user")
        page.get_by_label("Tool").fill("Bash")
        page.keyboard.press("Enter")
        expect(page.get_by_text("No message within these limits has these words.")).to_be_visible()
        page.get_by_role("button", name="Search everywhere").click()
        expect(hits).to_have_count(4)
        expect(page).to_have_url(f"{server.url}/search?q=message")

    def test_filters_by_days(self, page: Page, server: Server) -> None:
        """Only messages of the days between the two dates are found; both are in the address."""
        managed(server, 3, tokens=20)
        page.goto(f"{server.url}/search?q=message")
        hits = page.locator(".hit")
        expect(hits).to_have_count(3)
        page.get_by_label("from").fill("2100-01-02")
        expect(hits).to_have_count(0)
        expect(page).to_have_url(f"{server.url}/search?q=message&since=2100-01-02")
        page.get_by_label("from").fill("2000-01-02")
        expect(hits).to_have_count(3)
        page.get_by_label("to", exact=True).fill("2000-01-03")
        expect(hits).to_have_count(0)
        expect(page).to_have_url(f"{server.url}/search?q=message&since=2000-01-02&until=2000-01-03")
        page.get_by_label("to", exact=True).fill("2100-01-03")
        expect(hits).to_have_count(3)

    def test_filters_by_the_days_of_the_reader(self, browser: Browser, server: Server) -> None:
        """A day begins at midnight where the reader is, in Sydney hours before it does in UTC."""
        asked: list[str] = []
        context = browser.new_context(timezone_id="Australia/Sydney")
        page = context.new_page()
        page.on("request", lambda one: asked.append(one.url) if "/api/search" in one.url else None)
        page.goto(f"{server.url}/search?q=message&since=2026-11-27&until=2026-11-27")
        until(page, lambda: asked)
        context.close()
        query = parse_qs(urlsplit(asked[-1]).query)
        assert (query["since"], query["until"]) == (
            ["2026-11-26T13:00:00.000Z"],
            ["2026-11-27T13:00:00.000Z"],
        )

    def test_shows_more_on_request(self, page: Page, server: Server) -> None:
        """The next results follow the first, and the first new one is focused."""
        managed(server, 130, tokens=5)
        page.goto(f"{server.url}/search?q=message")
        expect(page.locator(".hit")).to_have_count(100)
        found = page.locator(".toolbar [role=status]")
        expect(found).to_have_text("100 messages, the best matches; more are below")
        page.get_by_role("button", name="Show more").click()
        expect(page.locator(".hit")).to_have_count(130)
        expect(found).to_have_text("130 messages")
        expect(page.locator(".hit a").nth(100)).to_be_focused()
        expect(page.get_by_role("button", name="Show more")).to_have_count(0)

    def test_shows_more_of_copies_of_a_session(self, page: Page, server: Server) -> None:
        """A copy has the ids of the messages that it was copied from; its hits are hits of their own."""
        found = {
            "session_title": "One", "message_id": "m1", "number": 1, "role": "user", "snippet": "a heron",
            "at": None, "in_context": True,
        }  # fmt: skip
        pages = [
            {"results": [{**found, "session_id": "one"}], "total": 1, "next": 1},
            {"results": [{**found, "session_id": "copy"}], "total": 1, "next": None},
        ]
        page.route("**/api/search?*", lambda route: route.fulfill(json=pages["after=" in route.request.url]))
        page.goto(f"{server.url}/search?q=heron")
        expect(page.locator(".hit")).to_have_count(1)
        page.get_by_role("button", name="Show more").click()
        expect(page.locator(".hit")).to_have_count(2)

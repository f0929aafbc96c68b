"""<context-manager-widget>: one session's context, on any page of ours."""

from __future__ import annotations

import contextlib
import re

from playwright.sync_api import Error, Page, Request, expect

from tests.browser.waiting import drawn, hold, holds, until
from tests.browser.writing import feed, managed
from tests.servers import Server

PUT = """session => {
  const widget = document.createElement("context-manager-widget");
  widget.setAttribute("session", session);
  document.querySelector("main").prepend(widget);
}"""
TURN = "session => document.querySelector('context-manager-widget').setAttribute('session', session)"
COUNT = """() => {
  const own = window.fetch;
  window.asked = 0;
  window.fetch = (address, init) => {
    if (address.endsWith("/stats")) window.asked += 1;
    return own(address, init);
  };
}"""
BURST = """async session => {
  const { live } = await import("/static/shared/socket.js");
  for (let i = 0; i < 20; i++)
    live.dispatchEvent(new CustomEvent("messages:appended", { detail: { session_id: session } }));
}"""
STATUS = "document.querySelector('context-manager-widget').getStatus()"


class TestTheWidget:
    """The widget's figures, and its one button."""

    def test_shows_figures_warns_and_prunes(self, page: Page, server: Server) -> None:  # B17
        """Messages, tokens of limit, utilization with a bar; above 80 % a banner; the button prunes and says so."""
        session = managed(server, 60)
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, session)
        widget = page.locator("context-manager-widget")
        expect(widget).to_contain_text(re.compile(r"[\d,]+ of 100,000"))
        expect(widget.get_by_role("meter", name="Utilization")).to_be_visible()
        expect(widget.get_by_text("Context exceeds 80% capacity - pruning recommended")).to_be_visible()
        expect(widget).to_contain_text("Automatic management is off")
        assert page.evaluate(STATUS)["state"] == "warning"
        widget.get_by_role("button", name="Prune Context Now").click()
        expect(widget.get_by_text(re.compile(r"^Context pruned: \d+ items removed$"))).to_be_visible()
        expect(widget.get_by_text("Context exceeds 80% capacity")).to_have_count(0)
        status = page.evaluate(STATUS)
        assert status["state"] in ("idle", "active")
        assert status["primaryMetric"]["label"] == "Utilization"
        assert status["secondaryMetric"]["value"].endswith("of 100,000")
        assert status["lastActivity"].endswith("Z")
        assert "messages in the context" in status["message"]

    def test_warns_by_the_target_of_its_session(self, page: Page, server: Server) -> None:  # B17
        """A session of its own target is warned of there, not at 80 %."""
        session = managed(server, 40)
        server.app.sessions.patch(session, settings={"target_percent": 40})
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, session)
        widget = page.locator("context-manager-widget")
        expect(widget.get_by_text("Context exceeds 40% capacity - pruning recommended")).to_be_visible()

    def test_follows_its_session(self, page: Page, server: Server) -> None:  # B17
        """New messages change it by themselves, live, and without a live connection within three seconds too."""
        session = managed(server, 2, tokens=50)
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, session)
        count = page.locator("context-manager-widget dd").first
        expect(count).to_have_text("2")
        feed(server, session, 2, tokens=50, start=2)
        expect(count).to_have_text("4")
        page.route_web_socket("**/socket.io/**", lambda socket: None)
        page.reload()
        page.evaluate(PUT, session)
        expect(count).to_have_text("4")
        feed(server, session, 2, tokens=50, start=4)
        expect(count).to_have_text("6")

    def test_asks_once_however_much_happens(self, page: Page, server: Server) -> None:
        """Many events while an answer is on its way make one more request, not one each."""
        session = managed(server, 2, tokens=50)
        page.goto(f"{server.url}/search")
        page.evaluate(COUNT)
        held = hold(page, "**/stats", lambda: page.evaluate(PUT, session))
        page.evaluate(BURST, session)
        assert page.evaluate("window.asked") == 1
        held.continue_()
        holds(page, "() => window.asked === 2")
        page.unroute("**/stats")
        expect(page.locator("context-manager-widget dd").first).to_have_text("2")

    def test_turns_to_another_session(self, page: Page, server: Server) -> None:
        """With another id it follows that one live, and a late answer for the one before is not shown."""
        before, after = managed(server, 2, tokens=50), managed(server, 5, tokens=50)
        page.goto(f"{server.url}/search")
        page.evaluate("window.setInterval = () => 0")
        ended: list[Request] = []
        for end in ("requestfinished", "requestfailed"):
            page.on(end, lambda request: ended.append(request) if before in request.url else None)
        late = hold(page, f"**/{before}/stats", lambda: page.evaluate(PUT, before))
        page.evaluate(TURN, after)
        count = page.locator("context-manager-widget dd").first
        expect(count).to_have_text("5")
        with contextlib.suppress(Error):  # the page may have given it up
            late.continue_()
        until(page, lambda: ended)
        drawn(page)
        expect(count).to_have_text("5")
        feed(server, after, 1, tokens=50, start=5)
        expect(count).to_have_text("6")

    def test_keeps_its_looks_to_itself(self, page: Page, server: Server) -> None:  # B17
        """It lives in a shadow root of its own, styled without a style element or attribute."""
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, managed(server, 2, tokens=50))
        expect(page.locator("context-manager-widget dd").first).to_have_text("2")
        box = page.locator("context-manager-widget .widget")
        assert box.evaluate("box => box.getRootNode() instanceof ShadowRoot")
        expect(box).to_have_css("border-radius", "6px")

    def test_says_when_there_is_no_such_session(self, page: Page, server: Server) -> None:
        """A wrong id is said instead of figures."""
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, "nobody")
        expect(page.locator("context-manager-widget").get_by_role("alert")).to_contain_text("no such session")

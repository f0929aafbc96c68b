"""<context-manager-widget>: the context of one session, on a page of Coppice."""

from __future__ import annotations

import contextlib
import re

import pytest
from playwright.sync_api import Error, Page, Request, expect

from tests.browser.waiting import drawn, hold, hold_joining, holds, intercept, until, without_live_connection
from tests.browser.writing import ClaudeFolder, feed, managed, words
from tests.servers import Server
from webapp.bodies import ModelRow, PruneBody, SessionChange

PUT = """async session => {
  await import("/static/widget/context-manager-widget.js");
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
NO_POLLING = "window.setInterval = () => 0"
BURST = """async session => {
  const { live } = await import("/static/shared/socket.js");
  for (let i = 0; i < 20; i++)
    live.dispatchEvent(new CustomEvent("messages:appended", { detail: { session_id: session } }));
}"""
# The inherited properties of the widget's texts.
LETTERS = """box => [box, ...box.querySelectorAll("p, dt, dd, span, button")].map(one => {
  const style = getComputedStyle(one);
  return ["fontFamily", "fontSize", "fontStyle", "lineHeight", "letterSpacing", "wordSpacing", "textTransform",
    "textIndent", "textShadow", "whiteSpace", "direction", "cursor"].map(name => style[name]).join();
})"""
# True where all parts but the mark of what exceeds the limit are inside the widget.
INSIDE = """e => {
  const edge = e.getBoundingClientRect().right;
  const parts = [...e.shadowRoot.querySelectorAll("section, p, dl, dd, button, .gauge-track")];
  return parts.every(part => part.getBoundingClientRect().right <= edge + 0.5);
}"""
STATUS = "document.querySelector('context-manager-widget').getStatus()"


class TestTheWidget:
    """The widget's numbers, and its button."""

    def test_shows_figures_warns_and_prunes(self, page: Page, server: Server) -> None:  # B17
        """It shows tokens, utilization and a warning above 80 %, and its button prunes and reports the result."""
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
        """A session with its own target is warned of at that target, not at 80 %."""
        session = managed(server, 40)
        server.app.sessions.patch(session, SessionChange(settings={"target_percent": 40}))
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, session)
        widget = page.locator("context-manager-widget")
        expect(widget.get_by_text("Context exceeds 40% capacity - pruning recommended")).to_be_visible()

    def test_draws_the_gauge_of_its_figures(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X10, B17
        """After a prune of a followed session, too, which changes the pruned view and not what the agent sends."""
        transcript = folder.transcript()
        for n in range(12):
            transcript.user(f"step {n} {words(500)}")
            transcript.assistant(f"Done {n}. {words(500)}", tokens=20_000 + 1_000 * n)
        session = transcript.session
        until(page, lambda: server.app.store.sessions.find(session) is not None)
        until(page, lambda: server.app.sessions.get(session).messages == 24)
        server.app.prunes.apply(session, PruneBody(max_tokens=10_000))
        size = server.app.sessions.get(session)
        assert size.agent is not None
        assert size.agent.utilization > size.pruned.utilization
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, session)
        meter = page.locator("context-manager-widget").get_by_role("meter", name="Utilization")
        expect(meter).to_have_attribute("aria-valuenow", f"{size.agent.utilization:g}")
        assert page.evaluate(STATUS)["primaryMetric"]["value"].startswith(f"{size.agent.utilization:g}")

    def test_rounds_its_figure_as_the_session_page_does(self, page: Page, server: Server) -> None:  # X10, B17
        """Half of a tenth of a percent goes the same way in both."""
        server.app.models.put("odd", ModelRow(window=100_000))
        session = managed(server, 1, model="odd")
        server.app.ingest.append_messages(
            session,
            [{"role": "assistant", "content": "ok"}],
            usage={"input_tokens": 23_145, "output_tokens": 5},
        )
        size = server.app.sessions.get(session)
        assert (size.pruned.tokens, size.pruned.utilization) == (23_150, 23.1)
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, session)
        expect(page.locator("context-manager-widget dd").last).to_have_text(re.compile(r"^23\.1"))

    def test_follows_its_session(self, page: Page, server: Server) -> None:  # B17
        """New messages change it live, and without a live connection by polling."""
        session = managed(server, 2, tokens=50)
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, session)
        count = page.locator("context-manager-widget dd").first
        expect(count).to_have_text("2")
        feed(server, session, 2, tokens=50, start=2)
        expect(count).to_have_text("4")
        without_live_connection(page)
        page.reload()
        page.evaluate(PUT, session)
        expect(count).to_have_text("4")
        feed(server, session, 2, tokens=50, start=4)
        expect(count).to_have_text("6")

    def test_reads_once_for_many_events(self, page: Page, server: Server) -> None:
        """Many events during a read cause one more read, not one each."""
        session = managed(server, 2, tokens=50)
        page.goto(f"{server.url}/search")
        page.evaluate(NO_POLLING)
        page.evaluate(COUNT)
        held = hold(page, "**/stats", lambda: page.evaluate(PUT, session))
        page.evaluate(BURST, session)
        assert page.evaluate("window.asked") == 1
        held.continue_()
        holds(page, "() => window.asked === 2")
        page.unroute("**/stats")
        expect(page.locator("context-manager-widget dd").first).to_have_text("2")

    def test_switches_to_another_session(self, page: Page, server: Server) -> None:
        """It follows the new session live, and ignores a late answer for the old one."""
        before, after = managed(server, 2, tokens=50), managed(server, 5, tokens=50)
        page.goto(f"{server.url}/search")
        page.evaluate(NO_POLLING)
        ended: list[Request] = []
        for end in ("requestfinished", "requestfailed"):
            page.on(end, lambda request: ended.append(request) if before in request.url else None)
        late = hold(page, f"**/{before}/stats", lambda: page.evaluate(PUT, before))
        page.evaluate(TURN, after)
        count = page.locator("context-manager-widget dd").first
        expect(count).to_have_text("5")
        with contextlib.suppress(Error):  # the page may have cancelled it
            late.continue_()
        until(page, lambda: ended)
        drawn(page)
        expect(count).to_have_text("5")
        feed(server, after, 1, tokens=50, start=5)
        expect(count).to_have_text("6")

    def test_shows_what_came_before_it_joined_the_room(self, page: Page, server: Server) -> None:
        """A message between the first read and the subscription caused no event for this page."""
        session = managed(server, 2, tokens=50)
        held = hold_joining(page, session)
        page.goto(f"{server.url}/search")
        page.evaluate(NO_POLLING)
        page.evaluate(PUT, session)
        count = page.locator("context-manager-widget dd").first
        expect(count).to_have_text("2")
        until(page, lambda: held)
        feed(server, session, 1, tokens=50, start=2)
        held[0]()
        expect(count).to_have_text("3")

    def test_leaves_the_rooms_of_sessions_that_it_shows_no_more(self, page: Page, server: Server) -> None:
        """The server no longer sends the changes of a session that was shown before."""
        one, two = managed(server, 2, tokens=50), managed(server, 2, tokens=50)
        sent: list[str] = []
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))

        def says(act: str, session: str) -> bool:
            return any(f'["{act}",{{"room":"session:{session}"' in frame for frame in sent)

        page.goto(f"{server.url}/search")
        page.evaluate(PUT, one)
        until(page, lambda: says("subscribe", one))
        page.evaluate(TURN, two)
        until(page, lambda: says("unsubscribe", one) and says("subscribe", two))
        page.evaluate("document.querySelector('context-manager-widget').remove()")
        until(page, lambda: says("unsubscribe", two))

    def test_isolates_its_styles(self, page: Page, server: Server) -> None:  # B17
        """It has its own shadow root and its own style there."""
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, managed(server, 2, tokens=50))
        expect(page.locator("context-manager-widget dd").first).to_have_text("2")
        box = page.locator("context-manager-widget .widget")
        assert box.evaluate("box => box.getRootNode() instanceof ShadowRoot")
        expect(box).to_have_css("border-radius", "6px")

    def test_takes_no_letters_or_direction_from_its_page(self, page: Page, server: Server) -> None:  # B17
        """Every element of a page, also in a shadow root, inherits from it unless its own style says otherwise."""
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, managed(server, 60))
        box = page.locator("context-manager-widget .widget")
        expect(box.get_by_role("meter")).to_be_visible()
        before = box.evaluate(LETTERS)
        page.evaluate(
            "style => document.querySelector('context-manager-widget').style.cssText = style",
            "font: italic 30px/3 cursive; letter-spacing: 5px; word-spacing: 9px; text-transform: uppercase;"
            "text-indent: 60px; text-shadow: 2px 2px red; white-space: nowrap; direction: rtl; cursor: wait",
        )
        assert box.evaluate(LETTERS) == before
        left = "e => e.getBoundingClientRect().left"
        assert box.locator(".gauge-part").first.evaluate(left) == box.locator(".gauge-track").evaluate(left)

    def test_is_hidden_with_a_hidden_part_of_its_page(self, page: Page, server: Server) -> None:
        """The page that embeds it can still hide it, and choose its colour scheme."""
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, managed(server, 2, tokens=50))
        box = page.locator("context-manager-widget .widget")
        expect(box).to_be_visible()
        page.evaluate("document.querySelector('main').style.visibility = 'hidden'")
        expect(box).to_be_hidden()
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        expect(box).to_have_css("color-scheme", "dark")

    @pytest.mark.parametrize("width", [120, 160])
    def test_fits_a_narrow_column(self, page: Page, server: Server, width: int) -> None:
        """Nothing is wider than its place, and the button is as high as its words."""
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, managed(server, 60))
        widget = page.locator("context-manager-widget")
        expect(widget.get_by_role("alert")).to_be_visible()
        widget.evaluate("(e, width) => e.style.width = `${width}px`", width)
        assert widget.evaluate(INSIDE)
        button = widget.get_by_role("button")
        assert button.evaluate("e => e.scrollHeight <= e.clientHeight")

    def test_reports_an_unknown_session(self, page: Page, server: Server) -> None:
        """An unknown id is reported instead of numbers, with the page that has the right one."""
        page.goto(f"{server.url}/search")
        page.evaluate(PUT, "nobody")
        widget = page.locator("context-manager-widget")
        expect(widget.get_by_role("alert")).to_contain_text(
            re.compile(
                rf"^No such session: nobody\. {server.url}/widget shows the element for each session\.$"
            )
        )
        expect(widget).not_to_contain_text("Automatic management")

    def test_tries_again_after_a_failure(self, page: Page, server: Server) -> None:
        """It says that it does, and shows the numbers once the server answers."""
        session = managed(server, 2, tokens=50)
        page.goto(f"{server.url}/search")
        intercept(page, "**/stats", lambda route: route.abort())
        page.evaluate(PUT, session)
        widget = page.locator("context-manager-widget")
        expect(widget.get_by_role("alert")).to_have_text(
            "The server does not answer; is coppice still running? The widget tries again by itself."
        )
        page.unroute("**/stats")
        expect(widget.locator("dd").first).to_have_text("2")
        expect(widget.get_by_role("alert")).to_have_count(0)

    def test_can_be_read_in_forced_colours(self, page: Page, server: Server) -> None:  # B17
        """The filled button keeps its colours, so that its text is not on a box of another colour."""
        page.emulate_media(forced_colors="active")
        page.goto(f"{server.url}/widget?session={managed(server, 60)}")
        button = page.locator("context-manager-widget").get_by_role("button", name="Prune Context Now")
        expect(button).to_be_visible()
        assert button.evaluate("b => getComputedStyle(b).forcedColorAdjust") == "none"
        colours = button.evaluate("b => [getComputedStyle(b).color, getComputedStyle(b).backgroundColor]")
        assert colours[0] != colours[1]

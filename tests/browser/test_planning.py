"""The plan on the session page: opening it, choosing its messages, and keeping up with a growing session."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.cable import cable_to
from tests.browser.looking import Look
from tests.browser.session_page import APPLY, open_session, row, tokens_shown
from tests.browser.waiting import holds, in_place, intercept, until
from tests.browser.writing import ClaudeFolder, Transcript, feed, managed
from tests.servers import Server

# An output of distinct lines with an error: worth keeping, and long enough to be shortened.
OUTPUT = "".join(f"src/module_{n}.py:{n}: something or other\n" for n in range(400)) + "ERROR: it broke\n"


def followed(folder: ClaudeFolder, calls: int = 30) -> Transcript:
    """Write a transcript far above its target, with long outputs."""
    transcript = folder.transcript()
    transcript.user("Fix the login race")
    for i in range(calls):
        transcript.call("Bash", {"command": f"step {i}"}, OUTPUT, tokens=6_000 * (i + 1))
    transcript.assistant("Done.", tokens=180_000)
    return transcript


def open_followed(page: Page, server: Server, transcript: Transcript) -> None:
    """Open the page of a session once its whole transcript is read."""
    page.goto(server.url)
    expect(page.locator(".session-row .c-full")).to_contain_text("90.0")
    open_session(page, server, transcript.session)


def version_of(planned: Request) -> int:
    """Return the version of the session for which a request made a plan."""
    response = planned.response()
    assert response is not None
    return int(response.json()["version"])


def show_all(page: Page) -> None:
    """Show the messages that the open plan keeps as well, once the list shows its changes."""
    expect(page.get_by_role("button", name=re.compile("^Changes"))).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name=re.compile(r"^All \d+")).click()


def expect_in_view(page: Page, selector: str) -> None:
    """Wait until an element lies within the window and nothing lies over it."""
    holds(
        page,
        """selector => {
            const one = document.querySelector(selector);
            const at = one.getBoundingClientRect();
            const top = document.elementFromPoint(at.left + 4, at.top + at.height / 2);
            return at.top >= 0 && at.bottom <= innerHeight && (one === top || one.contains(top));
        }""",
        arg=selector,
    )


class TestOpening:
    """The place and the focus of a plan that is opened."""

    @pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844), (1920, 1080)])
    def test_brings_it_into_view_and_focuses_it(
        self, page: Page, server: Server, folder: ClaudeFolder, width: int, height: int
    ) -> None:
        """On every screen its heading is visible and focused, and its button is visible."""
        page.set_viewport_size({"width": width, "height": height})
        open_followed(page, server, followed(folder))
        page.get_by_role("button", name="Prune…").first.click()
        heading = page.get_by_role("heading", name="Prune to 60")
        expect(heading).to_be_focused()
        expect(page.get_by_role("button", name=APPLY)).to_be_visible()
        expect_in_view(page, ".plan-title")
        expect_in_view(page, ".panel-foot button")

    def test_returns_the_focus_from_a_sheet(self, page: Page, server: Server) -> None:
        """Escape focuses the button that opened the sheet."""
        page.set_viewport_size({"width": 390, "height": 844})
        open_session(page, server, managed(server, 60))
        opener = page.get_by_role("button", name="Prune…")
        opener.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Prune to 60")).to_be_focused()
        page.keyboard.press("Escape")
        expect(opener).to_be_focused()

    def test_returns_the_focus_after_closing_or_applying(self, page: Page, server: Server) -> None:
        """Beside the list, too, the button that opened the plan is focused again."""
        open_session(page, server, managed(server, 60))
        opener = page.get_by_role("button", name="Prune…")
        for end in ("Escape", "Enter"):
            opener.focus()
            page.keyboard.press("Enter")
            expect(page.get_by_role("heading", name="Prune to 60")).to_be_focused()
            expect(page.get_by_role("button", name=APPLY)).to_be_visible()
            page.keyboard.press(end)
            expect(page.get_by_role("heading", name="Prune to 60")).to_have_count(0)
            expect(opener).to_be_focused()


class TestTheListUnderAPlan:
    """The message list while a plan is open."""

    def test_shows_the_changes_first(self, page: Page, server: Server) -> None:  # X1
        """It shows the messages that go, largest first; a chip shows all, and so does closing the plan."""
        session = managed(server, 60)
        open_session(page, server, session)
        expect(page.get_by_role("button", name=APPLY)).to_be_visible()
        expect(page).to_have_url(re.compile("show=changes&sort=tokens"))
        changes = page.get_by_role("button", name=re.compile(r"^Changes \d+"))
        expect(changes).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".msg:not([data-fate=goes]), .msg[data-coming=true]")).to_have_count(0)
        expect(page.locator(".msg").first).to_be_visible()
        fates = page.locator(".msg").evaluate_all("rows => [...new Set(rows.map(row => row.dataset.fate))]")
        assert fates == ["goes"]
        sizes = [
            int(text.removeprefix("~").replace(",", ""))
            for text in page.locator(".m-tokens > span:first-child").all_inner_texts()
        ]
        assert sizes == sorted(sizes, reverse=True)
        show_all(page)
        expect(page.locator(".msg")).to_have_count(60)
        changes.click()
        page.get_by_label("Sort").select_option("tokens")
        page.keyboard.press("Escape")
        page.get_by_role("tab", name="Heaviest").click()
        expect(page.locator(".msg").first).to_be_visible()

    def test_shows_all_messages_if_nothing_changes(self, page: Page, server: Server) -> None:  # X1
        """A plan for a context within its aim leaves the list as it is."""
        open_session(page, server, managed(server, 6))
        page.get_by_role("button", name="Prune…").click()
        expect(page.get_by_role("button", name="Nothing to prune")).to_be_visible()
        expect(page.get_by_role("button", name=re.compile(r"^All \d+"))).to_have_attribute(
            "aria-pressed", "true"
        )
        expect(page.locator(".msg")).to_have_count(6)


class TestChoosing:
    """Messages chosen by hand for a plan."""

    def test_drops_a_message_after_a_preview(self, page: Page, server: Server) -> None:  # X1, X2
        """The plan holds that message only, can be extended to the aim, is applied and undone."""
        session = managed(server, 60)
        open_session(page, server, session)
        before = tokens_shown(page)
        page.get_by_role("tab", name="Heaviest").click()
        page.get_by_role("button", name="Drop message 1…").click()
        expect(page.get_by_role("heading", name="Only what you chose")).to_be_focused()
        expect(page.get_by_role("button", name="Prune 1 message ")).to_be_visible()
        expect(page.get_by_role("button", name="Goes 1", exact=True)).to_be_visible()
        assert server.app.operations.list(session) == []
        page.get_by_role("button", name=re.compile("^Prune to 60.* as well")).click()
        expect(page.get_by_role("heading", name="Prune to 60")).to_be_visible()
        expect(page.get_by_role("button", name=re.compile(r"^Prune \d\d messages"))).to_be_visible()
        page.get_by_role("button", name="Reset").click()
        page.get_by_role("button", name="Prune 1 message ").click()
        toast = page.get_by_role("status").filter(has_text="1 message pruned")
        until(page, lambda: tokens_shown(page) < before)
        toast.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("status").filter(has_text="1 message back")).to_be_visible()
        until(page, lambda: tokens_shown(page) == before)

    def test_shortens_the_outputs_of_a_tool(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X7
        """Each output shows its tokens before and after, and the history counts shortened outputs."""
        open_followed(page, server, followed(folder, calls=8))
        page.get_by_role("tab", name="Heaviest").click()
        expect(page.get_by_role("button", name=re.compile("Shorten the outputs of calls"))).to_have_count(0)
        page.get_by_role("button", name="Shorten the outputs of Bash…").click()
        expect(page.get_by_role("button", name=re.compile("^Shorten 8 outputs"))).to_be_visible()
        page.locator("button.group").first.click()
        expect(page.locator(".group-rows .num").nth(1)).to_have_text(
            re.compile(r"^[\d,]+, shortened to→ [\d,]+$")
        )
        page.get_by_role("button", name="Spare message 3", exact=True).click()
        page.get_by_role("button", name=re.compile("^Shorten 7 outputs")).click()
        expect(page.get_by_role("status").filter(has_text="7 outputs shortened")).to_be_visible()
        expect(page.locator(".op-figures").first).to_contain_text(re.compile(r"^7 shortened, [\d,]+ → "))

    def test_shortens_one_output_from_its_row(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X7
        """The open row of a long output offers it; that of a short message does not."""
        open_followed(page, server, followed(folder, calls=8))
        row(page, 1).get_by_role("button").click()
        expect(page.get_by_role("button", name="Pin: never prune")).to_be_visible()
        expect(page.locator(".m-acts").get_by_role("button", name="Shorten…")).to_have_count(0)
        row(page, 1).get_by_role("button").click()
        row(page, 5).get_by_role("button").click()
        page.locator(".m-acts").get_by_role("button", name="Shorten…").click()
        expect(page.get_by_role("heading", name="Only what you chose")).to_be_focused()
        expect(page.get_by_role("button", name="No longer shorten message 5")).to_be_visible()
        expect(page.get_by_role("button", name="Shorten 1 output ")).to_be_visible()

    def test_refuses_to_drop_a_pinned_message(self, page: Page, server: Server) -> None:  # X5, B7
        """Neither its row nor the heaviest panel offers to drop it, and an earlier choice can be removed."""
        session = managed(server, 60)
        open_session(page, server, session)
        show_all(page)
        row(page, 1).get_by_role("button").click()
        acts = page.locator(".m-acts")
        expect(acts.get_by_role("button", name="Drop now")).to_be_visible()
        page.get_by_role("tab", name="Heaviest").click()
        page.get_by_role("button", name="Drop message 1…").click()
        expect(page.get_by_role("button", name="Prune 1 message ")).to_be_visible()
        page.get_by_role("tab", name="Heaviest").click()
        acts.get_by_role("button", name="Pin: never prune").click()
        expect(acts.get_by_role("button", name="Unpin and drop first")).to_be_visible()
        expect(acts.get_by_role("button", name="Drop now")).to_have_count(0)
        expect(page.get_by_role("button", name="Drop message 1…")).to_have_count(0)
        page.get_by_role("tab", name="Plan").click()
        expect(page.get_by_role("alert")).to_contain_text("No plan: message 1 is pinned")
        page.get_by_role("button", name="No longer drop message 1").click()
        expect(page.get_by_role("button", name=APPLY)).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)

    def test_is_kept_while_another_panel_is_open(self, page: Page, server: Server) -> None:
        """A spared message stays spared while the history is open."""
        open_session(page, server, managed(server, 60))
        page.get_by_role("button", name="See the plan").click()
        page.locator("button.group").first.click()
        page.locator(".group-rows").get_by_role("button", name="Spare").first.click()
        chip = page.get_by_role("button", name=re.compile("No longer spare message"))
        expect(chip).to_be_visible()
        page.get_by_role("tab", name="History").click()
        page.get_by_role("tab", name="Plan").click()
        expect(chip).to_be_visible()


class TestPlansWithoutEffect:
    """A plan that changes nothing."""

    def test_say_how_to_free_some_in_one_sentence(self, page: Page, server: Server) -> None:  # X1
        """The name of the slider stands within the sentence, not on a line of its own."""
        open_session(page, server, managed(server, 10))
        page.keyboard.press("p")
        box = page.locator(".note-box")
        expect(box).to_contain_text("move Cut to below")
        assert box.locator("i").evaluate("one => getComputedStyle(one).display") == "inline"


class TestGrowing:
    """A plan that is open while the agent goes on."""

    def test_keeps_up_with_new_messages(self, page: Page, server: Server) -> None:  # X1, X4
        """A new plan is made without a click, no request fails, the choices stay, and no fate flickers."""
        session = managed(server, 60)
        failed: list[str] = []
        page.on("response", lambda r: failed.append(f"{r.status} {r.url}") if r.status >= 400 else None)
        open_session(page, server, session)
        page.get_by_role("button", name="See the plan").click()
        page.get_by_label("Cut to").fill("40")
        page.locator("button.group").first.click()
        page.locator(".group-rows").get_by_role("button", name="Spare").first.click()
        chip = page.get_by_role("button", name=re.compile("No longer spare message"))
        expect(chip).to_be_visible()
        show_all(page)
        page.mouse.move(600, 10)
        page.locator("h1").click()
        expect(row(page, 20)).to_be_visible()
        page.evaluate(
            """() => {
                window.fates = new Set();
                const look = () => document.querySelectorAll('.msg[data-id]').forEach(row =>
                    window.fates.add(row.dataset.id + ' ' + row.dataset.fate));
                look();
                new MutationObserver(look).observe(document.querySelector('message-list'),
                    {subtree: true, attributes: true, childList: true});
            }"""
        )
        fate = row(page, 20).get_attribute("data-fate")
        for start in range(60, 68):
            feed(server, session, 1, tokens=5, start=start)
            expect(row(page, start + 1)).to_be_visible()
        planned: list[Request] = []
        page.on("requestfinished", lambda one: planned.append(one) if one.url.endswith("/plan") else None)
        feed(server, session, 1, tokens=5, start=68)
        latest = server.app.sessions.get(session).version
        until(page, lambda: any(version_of(one) == latest for one in planned))
        expect(chip).to_be_visible()
        expect(page.get_by_label("Cut to")).to_have_value("40")
        expect(page.locator(".note-box")).to_have_count(0)
        seen = page.evaluate("[...window.fates]")
        one = row(page, 20).get_attribute("data-id")
        assert {entry for entry in seen if entry.startswith(f"{one} ")} == {f"{one} {fate}"}
        assert failed == []

    def test_waits_while_the_pointer_is_on_it(self, page: Page, server: Server) -> None:
        """The page reports new messages, and makes a new plan after the pointer leaves. Until then all of the old plan
        stays, its bars too.
        """
        session = managed(server, 60)
        open_session(page, server, session)
        page.get_by_role("button", name="See the plan").click()
        page.locator("button.group").first.click()
        page.locator(".group-rows li").nth(2).hover()
        bars = page.locator(".plan-bars")
        before = bars.inner_html()
        feed(server, session, 2, tokens=4_000, start=60)
        expect(page.locator(".note-box")).to_contain_text("2 messages came since this plan was made")
        assert bars.inner_html() == before
        with page.expect_response("**/plan"):
            page.mouse.move(300, 300)
        expect(page.locator(".note-box")).to_have_count(0)

    def test_is_made_again_after_the_server_returns(self, page: Page, server: Server) -> None:
        """A plan that failed while the connection was lost is retried without a click."""
        with cable_to(server) as cable:
            page.goto(f"{cable.url}/sessions/{managed(server, 60)}?panel=history")
            expect(page.locator(".live")).to_have_text("live")
            expect(page.locator(".msg").first).to_be_visible()
            cable.cut()
            page.keyboard.press("p")
            expect(page.locator("plan-panel").get_by_role("alert")).to_contain_text("does not answer")
            cable.mend()
            expect(page.get_by_role("button", name=APPLY)).to_be_visible()
            expect(page.locator("plan-panel").get_by_role("alert")).to_have_count(0)


class TestApplying:
    """The button of a plan."""

    def test_says_that_it_failed_and_not_that_there_is_no_plan(self, page: Page, server: Server) -> None:
        """The plan stays, and the button works once the server answers again."""
        open_session(page, server, managed(server, 60))
        page.keyboard.press("p")
        button = page.get_by_role("button", name=APPLY)
        expect(button).to_be_visible()
        intercept(page, "**/prune", lambda route: route.abort())
        page.locator(".panel-body").evaluate("body => body.scrollTo(0, body.scrollHeight)")
        button.click()
        expect(page.get_by_role("alert")).to_contain_text("Could not prune: the server does not answer")
        expect(page.get_by_role("alert")).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("button", name="Try again")).to_have_count(0)
        page.unroute("**/prune")
        button.click()
        expect(page.get_by_role("status").filter(has_text="messages pruned")).to_be_visible()


def open_long_plan(page: Page, server: Server) -> None:
    """Open the plan of a session above its limit, with a long list of reasons."""
    open_session(page, server, managed(server, 120))
    page.get_by_role("button", name="See the plan").click()
    page.locator("button.group").first.click()
    expect(page.locator(".group-rows li").first).to_be_visible()


class TestVisibleParts:
    """The parts of the plan that stay visible while its reasons scroll."""

    def test_shows_both_bars_on_one_scale(self, look: Look) -> None:  # X1
        """Above the limit, too, the target is at the same place before and after."""
        page = look(open_long_plan)
        targets = page.locator(".plan-bars .gauge-target")
        expect(targets).to_have_count(2)
        in_place(
            targets.first, targets.last, "(now, after) => now.width > 0 && Math.abs(now.x - after.x) < 1"
        )
        expect(page.locator(".plan-bars .num").first).to_contain_text("~")

    def test_keeps_bars_slider_and_button_visible(self, look: Look) -> None:  # X1, X4
        """All three are visible at the end of a long list of reasons."""
        page = look(open_long_plan)
        page.locator("plan-panel .panel-body").evaluate("body => body.scrollTo(0, body.scrollHeight)")
        for selector in (".plan-bars", "#plan-aim", ".panel-foot button"):
            expect_in_view(page, selector)


class TestSubAgents:
    """The sessions of sub-agents."""

    def test_link_to_their_parent_if_it_has_messages(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X12
        """The link is the parent's title; without messages in the parent there is no link."""
        parent, silent = folder.transcript(), folder.transcript()
        parent.user("Fix the login race")
        parent.sub_agent("look around")
        silent.path.touch()
        silent.sub_agent("all alone")
        page.goto(server.url)
        page.get_by_role("link", name="look around", exact=True).click()
        page.locator(".meta").get_by_role("link", name="Fix the login race").click()
        expect(page.locator("h1")).to_contain_text("Fix the login race")
        page.goto(server.url)
        page.get_by_role("link", name="all alone", exact=True).click()
        expect(page.locator(".meta")).to_contain_text("sub-agent ·")
        expect(page.locator(".meta").get_by_role("link")).to_have_count(0)

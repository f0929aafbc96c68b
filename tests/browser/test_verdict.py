"""The verdict of a session, on its page and in the overview."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.looking import Look
from tests.browser.overview_page import listed
from tests.browser.waiting import until
from tests.browser.writing import ClaudeFolder, managed, reading
from tests.servers import Server
from webapp.bodies import PruneBody


def test_verdict_names_one_action_and_opens_its_plan(page: Page, server: Server) -> None:  # X18, X4, X2
    """The verdict appears on the open page, and its button opens the plan that does exactly this."""
    server.app.new_sessions.create(id="reader", title="Read the spec", model="claude-sonnet-4-5")
    reading(server, 1)
    page.goto(f"{server.url}/sessions/reader")
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text("Nothing needed")
    expect(verdict.get_by_role("button")).to_have_count(0)
    reading(server, 6, start=1)
    expect(verdict).to_contain_text(
        re.compile(r"6 superseded reads of spec\.md hold \d+k tokens: clearing them")
    )
    expect(verdict).to_contain_text("Can be undone.")
    verdict.get_by_role("button", name="Clear them…").click()
    page.get_by_role("button", name=re.compile("^Shorten 6 outputs")).click()
    expect(verdict).to_contain_text("Nothing needed")
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(verdict).to_contain_text("6 superseded reads of spec.md")


def test_verdicts_order_the_overview(page: Page, server: Server) -> None:  # X18
    """A session that needs an action comes first with its verdict, before a newer one."""
    managed(server, 60, title="Full")
    managed(server, 2, title="Calm")
    page.goto(server.url)
    expect(page.locator("tr.session-row a.title")).to_have_text(["Full", "Calm"])
    rows = page.locator("tr.session-row")
    expect(rows.nth(0)).to_contain_text("Prune now: ")
    expect(rows.nth(0).get_by_role("link", name="Prune Full")).to_be_visible()
    expect(rows.nth(1)).to_contain_text("Nothing needed")
    expect(rows.nth(1).locator(".c-last a")).to_have_count(0)


def is_whole(sentence: Locator) -> bool:
    """Return whether all of a sentence is visible."""
    return bool(
        sentence.evaluate("e => e.scrollHeight <= e.clientHeight && e.scrollWidth <= e.clientWidth + 1")
    )


def lines(sentence: Locator) -> int:
    """Return the number of lines that a sentence takes."""
    return int(
        sentence.evaluate("e => Math.round(e.clientHeight / parseFloat(getComputedStyle(e).lineHeight))")
    )


def is_longer_than_a_line(sentence: Locator) -> bool:
    """Return whether a sentence is longer than its line."""
    return bool(
        sentence.evaluate("""e => {
          const range = document.createRange();
          range.selectNodeContents(e);
          e.style.display = "inline-block";
          e.style.whiteSpace = "nowrap";
          const { width } = range.getBoundingClientRect();
          e.style.display = e.style.whiteSpace = "";
          return width > e.clientWidth;
        }""")
    )


# Wide letter spacing, as a reader may set it: two lines of a narrow table are too few for a sentence.
SPACE = "e => { e.style.letterSpacing = '1em'; }"


def open_overview(page: Page, server: Server) -> None:
    """Open the overview with a session above its target."""
    managed(server, 120, tokens=690, title="Full")
    page.goto(server.url)
    expect(page.locator("tr.session-row .said")).to_contain_text("above the target of 80")


def open_full(page: Page, server: Server) -> None:
    """Open the page of a session above its target."""
    page.goto(f"{server.url}/sessions/{managed(server, 120, tokens=690, title='Full')}")
    expect(page.locator(".verdict .said")).to_contain_text("above the target of 80")


class TestReadingTheSentence:
    """The sentence of a verdict, readable in full by mouse, keyboard and touch."""

    @pytest.mark.parametrize(("width", "most"), [(390, 3), (1280, 2)])
    def test_wraps_in_the_overview_instead_of_being_cut_off(
        self, look: Look, width: int, most: int
    ) -> None:  # X18
        """A long sentence takes two lines, three on a phone."""
        page = look(open_overview)
        page.set_viewport_size({"width": width, "height": 800})
        said = page.locator("tr.session-row .said")
        assert is_longer_than_a_line(said)
        assert is_whole(said)
        assert lines(said) <= most

    def test_wraps_in_a_wide_overview_if_its_letters_are_wide(
        self, page: Page, server: Server
    ) -> None:  # X18
        """On a wide screen only wide letters take two lines."""
        page.set_viewport_size({"width": 1920, "height": 800})
        open_overview(page, server)
        said = page.locator("tr.session-row .said")
        said.evaluate(SPACE)
        assert is_longer_than_a_line(said)
        assert is_whole(said)
        assert lines(said) <= 2

    @pytest.mark.parametrize(("width", "most"), [(390, 4), (1280, 2), (1920, 2)])
    def test_wraps_on_the_page_of_its_session_instead_of_being_cut_off(
        self, look: Look, width: int, most: int
    ) -> None:  # X18
        """A long sentence takes two lines, four on a phone."""
        page = look(open_full)
        page.set_viewport_size({"width": width, "height": 800})
        assert is_whole(page.locator(".verdict p"))
        assert lines(page.locator(".verdict p")) <= most

    def test_is_shown_in_full_in_the_focused_row(self, page: Page, server: Server) -> None:  # X18
        """A sentence that needs a third line shows it in the row with the keyboard's focus."""
        managed(server, 60, title="Full")
        page.set_viewport_size({"width": 720, "height": 800})
        page.goto(server.url)
        said = page.locator("tr.session-row .said")
        expect(said).to_contain_text("Prune now: ")
        said.evaluate(SPACE)
        assert (lines(said), is_whole(said)) == (2, False)
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.locator("tr.session-row a.title:focus").count():
                break
        expect(page.locator("tr.session-row a.title")).to_be_focused()
        assert is_whole(said)

    def test_is_shown_in_full_on_a_touch_screen(self, browser: Browser, server: Server) -> None:  # X18
        """A touch screen has no hover, so it shows all lines at once."""
        managed(server, 60, title="Full")
        context = browser.new_context(has_touch=True, viewport={"width": 720, "height": 800})
        try:
            page = context.new_page()
            page.goto(server.url)
            said = page.locator("tr.session-row .said")
            expect(said).to_contain_text("Prune now: ")
            said.evaluate(SPACE)
            assert lines(said) > 2
            assert is_whole(said)
        finally:
            context.close()


class TestBothPages:
    """The overview and the page of a session."""

    def test_show_the_same_verdict(self, page: Page, server: Server, folder: ClaudeFolder) -> None:  # X18
        """Sessions above the target, full, with redundant outputs, calm, empty, and pruned before a resume."""
        apps = server.app
        for name, settings in (("reader", {}), ("full", {"cap_tokens": 30_000}), ("calm", {})):
            apps.new_sessions.create(id=name, title=name, model="claude-sonnet-4-5", settings=settings)
            reading(server, 1 if name == "calm" else 6, session=name)
        apps.new_sessions.create(id="empty", title="empty", model="claude-sonnet-4-5")
        managed(server, 60, id="small", title="small")
        followed = transcript(folder)
        page.goto(server.url)
        expect(page.locator("tr.session-row")).to_have_count(6)
        expect(listed(page, followed)).to_contain_text("pays back")
        apps.prunes.apply(followed, PruneBody())
        expect(listed(page, followed)).to_contain_text("Resume from a pruned copy")
        expect(listed(page, "reader")).to_contain_text("5 superseded reads of spec.md hold")
        expect(listed(page, "full")).to_contain_text("pays back")
        names = [one.id for one in apps.sessions.list()]
        until(page, lambda: all(one.verdict.priced for one in apps.sessions.list()))
        texts = {name: apps.verdicts.of(name).text for name in names}
        for name, text in texts.items():
            expect(listed(page, name)).to_have_text(text)
        for name, text in texts.items():
            page.goto(f"{server.url}/sessions/{name}")
            expect(page.locator(".verdict .said")).to_have_text(text)
            assert apps.verdicts.of(name).text == text


def transcript(folder: ClaudeFolder) -> str:
    """Write the transcript of a session above its target; return its id."""
    made = folder.transcript()
    made.user("Fix the login race")
    for n in range(30):
        output = "".join(f"src/module_{n}_{i}.py: something or other\n" for i in range(400))
        made.call("Bash", {"command": f"step {n}"}, output, tokens=6_000 * (n + 1))
    made.assistant("Done.", tokens=180_000)
    return made.session

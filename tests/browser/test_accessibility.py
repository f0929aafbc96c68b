"""Every page in both themes, checked by axe, and the preferences of the reader's system."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

from tests.browser import writing
from tests.browser.looking import Look
from tests.browser.pages import (
    PAGES,
    managed,
    open_messages,
    open_overview,
    open_plan,
    open_search,
    open_settings,
)
from tests.browser.session_page import APPLY
from tests.browser.tab import SCREEN, Opening
from tests.browser.waiting import drawn, hold, holds, intercept
from tests.servers import Server
from tests.shared import ROOT

# The rows of the table of panels: their names begin lines of an object in it.
PANELS = re.findall(r"(?m)^  (\w+): \{", (ROOT / "static/session/panels.js").read_text("utf-8"))


@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_of_a_session_is_opened(panel: str) -> None:
    """All that holds for pages is then checked with the panel open."""
    assert f"open_{panel}" in {one.__name__ for one in PAGES}, f"add a function open_{panel} to PAGES"


# Records every transition and animation that begins, and every smooth scroll.
WATCH_MOTION = """
  window.moved = new Set();
  for (const type of ["transitionrun", "animationstart"])
    addEventListener(type, ({ target, propertyName, animationName }) =>
      window.moved.add(`${target.localName}.${target.className}: ${propertyName ?? animationName}`), true);
  for (const [owner, name] of [[Element.prototype, "scrollIntoView"], [window, "scrollBy"], [window, "scrollTo"]]) {
    const scroll = owner[name];
    owner[name] = function (...to) {
      const smooth = to.some((one) => one?.behavior === "smooth");
      if (smooth || getComputedStyle(document.documentElement).scrollBehavior === "smooth")
        window.moved.add(name);
      return scroll.apply(this, to);
    };
  }
"""

# Without this, axe also describes every element that breaks no rule.
ONLY_VIOLATIONS = {"resultTypes": ["violations"]}


@pytest.mark.parametrize("open_page", PAGES, ids=lambda f: f.__name__, scope="class")
class TestPages:
    """Each page, as it is opened here."""

    def test_have_no_violations(self, look: Look, open_page: Opening) -> None:
        """No rule is broken. The dark theme differs in colours only, so it is checked for contrast only."""
        page = look(open_page)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        light = Axe().run(page, options=ONLY_VIOLATIONS)
        assert light.violations_count == 0, light.generate_report()
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        contrast = {"runOnly": ["color-contrast", "link-in-text-block"]}
        dark = Axe().run(page, options={**ONLY_VIOLATIONS, **contrast})
        assert dark.violations_count == 0, dark.generate_report()

    def test_fit_a_screen_enlarged_four_times(self, look: Look, open_page: Opening) -> None:
        """At 320 pixels no page scrolls sideways, and no control begins left of the page."""
        page = look(open_page)
        page.set_viewport_size({"width": 320, "height": 640})
        expect(page.locator("h1")).to_be_visible()
        holds(page, "document.documentElement.scrollWidth <= innerWidth")
        cut = page.evaluate(
            """() => [...document.querySelectorAll("main :is(button, input, select, textarea, a)")]
                .filter(one => one.checkVisibility() && one.getBoundingClientRect().left < 0)
                .map(one => one.outerHTML)"""
        )
        assert cut == []


class TestPhones:
    """The cards and the sheet of a phone."""

    def test_have_no_violations(self, page: Page, server: Server) -> None:
        """They break no rule either, and neither does the page once its window is widened."""
        page.set_viewport_size({"width": 390, "height": 844})
        page.emulate_media(reduced_motion="reduce")
        open_overview(page, server)
        overview = Axe().run(page, options=ONLY_VIOLATIONS)
        assert overview.violations_count == 0, overview.generate_report()
        page.get_by_role("link", name="Prune A managed session").click()
        expect(page.locator(".side")).to_be_visible()
        sheet = Axe().run(page, options=ONLY_VIOLATIONS)
        assert sheet.violations_count == 0, sheet.generate_report()
        page.set_viewport_size(SCREEN)
        expect(page.get_by_role("complementary", name="Panels")).to_be_visible()
        widened = Axe().run(page, options=ONLY_VIOLATIONS)
        assert widened.violations_count == 0, widened.generate_report()

    def test_the_narrowest_keep_numbers_and_times_apart(self, page: Page, server: Server) -> None:
        """The tokens of a session take two lines beside its time and its button, rather than run into them."""
        page.set_viewport_size({"width": 280, "height": 640})
        managed(server, 40, tokens=4_500)
        page.goto(server.url)
        expect(page.get_by_role("link", name="Prune A managed session")).to_be_visible()
        spilt = page.locator("td.c-tokens").evaluate_all(
            "cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth).map(cell => cell.textContent)"
        )
        assert spilt == []


class TestPreferences:
    """Pages follow the reader's system: contrast, motion, themes."""

    @pytest.mark.parametrize(("pixels", "width"), [(24, 1280), (24, 390), (32, 390)])
    @pytest.mark.parametrize("open_page", [open_overview, open_messages, open_settings, open_search])
    def test_of_larger_text_enlarge_it_within_the_page(
        self, page: Page, server: Server, open_page: Opening, pixels: int, width: int
    ) -> None:
        """A larger font, set in the browser, enlarges all text, on phones too, and no page scrolls sideways."""
        sizes = {"fontSizes": {"standard": pixels, "fixed": pixels}}
        page.context.new_cdp_session(page).send("Page.setFontSizes", sizes)
        page.set_viewport_size({"width": width, "height": 900})
        open_page(page, server)
        size = "e => Number.parseFloat(getComputedStyle(e).fontSize)"
        assert page.locator("body").evaluate(size) == 13 / 16 * pixels
        assert page.locator("h1").first.evaluate(size) == 20 / 16 * pixels
        holds(page, "document.documentElement.scrollWidth <= innerWidth")

    def test_of_less_motion_are_respected(self, look: Look) -> None:
        """No element is animated, not even the live dot."""
        page = look(open_overview)
        page.emulate_media(reduced_motion="reduce")
        assert page.locator(".live i").evaluate("dot => getComputedStyle(dot).animationName") == "none"
        assert page.locator(".gauge-part").first.evaluate(
            "part => getComputedStyle(part).transitionDuration"
        ) in (
            "0s",
            "0.0s",
        )

    def test_of_forced_colours_leave_bars_readable(self, look: Look) -> None:
        """In forced colours the regions keep their hues and the track its outline."""
        page = look(open_overview)
        page.emulate_media(forced_colors="active")
        assert (
            page.locator(".gauge-part").first.evaluate("part => getComputedStyle(part).forcedColorAdjust")
            == "none"
        )
        expect(page.locator(".gauge-track").first).to_have_css("border-top-width", "1px")

    def test_of_less_motion_hold_whatever_is_done(self, page: Page, server: Server) -> None:
        """Opening, hovering, pruning, new rows and jumps move and fade nothing; for other readers they do."""
        page.add_init_script(WATCH_MOTION)
        for motion in ("reduce", "no-preference"):
            page.emulate_media(reduced_motion=motion)
            session = managed(server, 60, title=motion)
            page.goto(f"{server.url}/sessions/{session}")
            expect(page.get_by_role("button", name=APPLY)).to_be_visible()
            page.get_by_label("More", exact=True).hover()
            page.get_by_label("More", exact=True).click()
            page.get_by_role("switch", name="Automatic pruning").click()
            expect(page.get_by_role("status").filter(has_text="Automatic pruning is on")).to_be_visible()
            page.keyboard.press("Escape")
            writing.feed(server, session, 2, start=60)
            expect(page.get_by_role("status").filter(has_text="Pruned automatically")).to_be_visible()
            page.get_by_role("tab", name="Heaviest").click()
            page.locator("heavy-panel .group-rows button").first.click()
            expect(page.locator(".msg[data-open=true]")).to_be_in_viewport()
            page.get_by_label("Select message 61", exact=True).check()
            drawn(page)
            moved = page.evaluate("[...window.moved]")
            assert bool(moved) == (motion == "no-preference"), moved

    def test_of_a_theme_are_kept(self, page: Page, server: Server) -> None:
        """The next page opens in the chosen theme."""
        page.goto(server.url)
        page.get_by_role("button", name="Theme: system").click()
        page.get_by_role("button", name="Theme: light").click()
        page.goto(f"{server.url}/settings")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"

    def test_of_forced_colours_leave_dots_visible(self, page: Page, server: Server) -> None:
        """The dot of the connection, and those of the task types with values of their own, keep their colour."""
        page.emulate_media(forced_colors="active")
        page.goto(f"{server.url}/settings")
        for dot in (page.locator(".live i"), page.locator(".own-mark").first):
            expect(dot).to_be_attached()
            assert dot.evaluate("dot => getComputedStyle(dot).forcedColorAdjust") == "none"

    def test_of_forced_colours_leave_buttons_and_the_current_page_readable(
        self, page: Page, server: Server
    ) -> None:
        """A filled button keeps its background, and only the current page is marked in the navigation."""
        page.emulate_media(forced_colors="active")
        open_plan(page, server)
        apply = page.locator("button.primary").first
        colours = apply.evaluate("b => [getComputedStyle(b).color, getComputedStyle(b).backgroundColor]")
        assert colours[0] != colours[1]
        assert apply.evaluate("b => getComputedStyle(b).forcedColorAdjust") == "none"
        ground = page.evaluate(
            "getComputedStyle(Object.assign(document.body.appendChild(document.createElement('i')),"
            " { style: 'color: Canvas' })).color"
        )
        edges = page.locator(".top nav a").evaluate_all(
            "links => links.map(one => getComputedStyle(one).borderBottomColor)"
        )
        assert [edge != ground for edge in edges] == [True, False, False, False]

    def test_of_forced_colours_leave_choices_their_arrow(self, look: Look) -> None:
        """Our arrow is a background, which forced colours remove; the browser draws its own instead."""
        page = look(open_plan)
        page.emulate_media(forced_colors="active")
        choices = page.locator("select")
        assert choices.count() > 0
        looks = choices.evaluate_all("all => all.map(one => getComputedStyle(one).appearance)")
        assert set(looks) == {"auto"}

    def test_of_keyboard_users_skip_the_navigation(self, page: Page, server: Server) -> None:
        """The first link that Tab reaches leads past the navigation to the content."""
        page.goto(server.url)
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()


class TestABusyButton:
    """A button whose act takes a while."""

    @pytest.mark.parametrize(
        ("path", "name", "asked"),
        [
            ("/sessions/one?panel=plan", APPLY, "**/prune"),
            ("/widget?session=one", "Prune Context Now", "**/prune"),
            ("/settings", "Save", "**/api/settings"),
            ("/", "Start the demo session", "**/api/demo"),
        ],
    )
    def test_keeps_the_focus(
        self, page: Page, server: Server, path: str, name: str | re.Pattern[str], asked: str
    ) -> None:
        """It is marked as disabled while it is busy, and a reader of keys stays at it, also after a failure."""
        if path != "/":
            managed(server, 60, id="one")
        page.goto(server.url + path)
        if path == "/settings":
            page.get_by_label("Aim", exact=True).fill("55")
        button = page.get_by_role("button", name=name)
        expect(button).to_be_enabled()
        button.focus()
        request = hold(page, asked, lambda: page.keyboard.press("Enter"))
        expect(button).to_be_disabled()
        drawn(page)
        expect(button).to_be_focused()
        page.keyboard.press("Enter")
        request.abort()
        expect(button).to_be_enabled()
        expect(button).to_be_focused()

    def test_keeps_the_focus_while_a_summary_is_written(self, page: Page, server: Server) -> None:
        """The page learns only later that one is being written, and asks for no other meanwhile."""
        page.goto(f"{server.url}/sessions/{managed(server, 8, tokens=50)}?panel=summary")
        button = page.get_by_role("button", name="Summarise now")
        button.focus()
        asked: list[str] = []

        def summarise(route: Route) -> None:
            asked.append(route.request.url)
            route.fulfill(status=202, json={})

        def is_running(route: Route) -> None:
            route.fulfill(json={**route.fetch().json(), "running": True})

        intercept(page, "**/summarize", summarise)
        intercept(page, "**/status", is_running)
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Stop")).to_be_visible()
        drawn(page)
        expect(button).to_be_focused()
        page.keyboard.press("Enter")
        drawn(page)
        assert len(asked) == 1

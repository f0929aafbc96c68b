"""Pages in browsers that do some things in another way than Chromium, which is made to do the same here."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.session_page import open_and_settle
from tests.browser.writing import managed
from tests.servers import Server

# A click focuses no button, as in Safari, but <main> around it.
CLICKS_OF_SAFARI = """() => document.addEventListener("mousedown", event => {
  if (!event.target.closest("button, summary")) return;
  event.preventDefault();
  document.querySelector("main").focus({ preventScroll: true });
}, true)"""

# Keeps in `rung` if the last focus that a script set was to be ringed.
NOTE_RINGS = """() => {
  const { focus } = HTMLElement.prototype;
  HTMLElement.prototype.focus = function (options) {
    globalThis.rung = options?.focusVisible ?? null;
    focus.call(this, options);
  };
}"""

# Drags a file over elements, each named by its selector, up to the moment when the one before the last is left; it is
# out of the window if the last is "". As in Safari, no event names the other element.
DRAG = """selectors => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(["[]"], "chat.json"));
  const fire = (type, target) =>
    target.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
  let last = null;
  for (const next of selectors.map(selector => selector && document.querySelector(selector))) {
    if (next) fire("dragenter", next);
    if (last) fire("dragleave", last);
    else fire("dragover", next);
    last = next;
  }
}"""


class TestAClick:
    """A click on a button, in a browser that does not give it the focus."""

    def test_focuses_the_button(self, page: Page, server: Server) -> None:
        """A page that opens a panel knows from where."""
        page.goto(f"{server.url}/settings")
        expect(page.locator("what-if")).to_be_visible()
        page.evaluate(CLICKS_OF_SAFARI)
        button = page.get_by_role("button", name="Blueprint")
        button.click()
        expect(button).to_be_focused()

    def test_on_a_tab_leaves_the_page_where_it_is(self, page: Page, server: Server) -> None:
        """The page scrolls to a panel only if that is opened from elsewhere."""
        open_and_settle(page, f"{server.url}/sessions/{managed(server, 30, tokens=300)}")
        page.evaluate(CLICKS_OF_SAFARI)
        tab = page.get_by_role("tab", name="History")
        tab.click()
        expect(tab).to_be_focused()
        assert page.evaluate("scrollY") == 0

    def test_by_enter_in_a_field_leaves_the_focus_there(self, page: Page, server: Server) -> None:
        """Enter presses the button of the form, which is no click on it."""
        page.goto(f"{server.url}/settings")
        field = page.get_by_label("Aim", exact=True)
        field.fill("55")
        field.press("Enter")
        expect(page.get_by_role("status").filter(has_text="Settings saved")).to_be_visible()
        expect(field).to_be_focused()


class TestAFocusByAKey:
    """A focus that the page moves, in a browser that rings it only if it is asked to."""

    def test_is_ringed_after_a_click(self, page: Page, server: Server) -> None:
        """The row that the key j reaches is seen, whatever was clicked before."""
        open_and_settle(page, f"{server.url}/sessions/{managed(server, 3, tokens=50)}")
        page.evaluate(NOTE_RINGS)
        page.locator("h1").click()
        page.keyboard.press("j")
        expect(page.locator(".m-open").first).to_be_focused()
        assert page.evaluate("rung") is True

    def test_is_not_ringed_by_a_click(self, page: Page, server: Server) -> None:
        """A focus that a click moves is left to the browser."""
        open_and_settle(page, f"{server.url}/sessions/{managed(server, 3, tokens=50)}")
        page.evaluate(NOTE_RINGS)
        page.keyboard.press("j")
        page.get_by_role("tab", name="History").click()
        expect(page.get_by_role("tab", name="History")).to_be_focused()
        assert page.evaluate("rung") is None


class TestADraggedFile:
    """A file that is dragged over a page whose events name no second element."""

    def test_is_awaited_from_one_element_to_the_next(self, page: Page, server: Server) -> None:
        """The invitation to drop it does not flicker."""
        page.goto(server.url)
        expect(page.locator("h1")).to_be_visible()
        page.evaluate(DRAG, ["h1", "header", "main"])
        expect(page.get_by_text("Drop to import")).to_be_visible()

    def test_is_no_longer_awaited_outside_the_window(self, page: Page, server: Server) -> None:
        """The invitation goes when the file leaves the page."""
        page.goto(server.url)
        expect(page.locator("h1")).to_be_visible()
        page.evaluate(DRAG, ["h1", "header"])
        expect(page.get_by_text("Drop to import")).to_be_visible()
        page.evaluate(DRAG, ["h1", ""])
        expect(page.get_by_text("Drop to import")).to_be_hidden()


class TestAChoice:
    """A list to choose from, which each browser draws in its own way."""

    def test_is_drawn_by_the_page_and_clips_its_words(self, page: Page, server: Server) -> None:
        """The arrow is the page's, and in Safari a long choice makes nothing around it scroll sideways."""
        page.goto(f"{server.url}/search")
        choice = page.get_by_label("Session")
        expect(choice).to_have_css("appearance", "none")
        expect(choice).to_have_css("contain", "paint")

"""The pages of a viewer: everything can be seen, and what changes something is disabled, with the reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.browser.looking import Looking
from tests.browser.overview_page import DROP
from tests.browser.pages import PAGES, open_import
from tests.browser.writing import managed
from tests.servers import Server, running_server
from webapp.access.identity import OPERATOR, VIEWER
from webapp.bodies import PruneBody

WHY = "You are viewing: your token can look and plan, and change nothing."

# Uses everything of a page that is not disabled: keys, buttons, fields and a dropped file. Returns the requests
# that the server refused. All requests of one are answered before the next is used.
USE_ALL = """async () => {
  const [refused, sent, real] = [[], [], globalThis.fetch];
  globalThis.fetch = (address, given) => {
    const answer = real(address, given);
    const note = (answered) => {
      if (answered.status === 403) refused.push(`${given.method} ${address}`);
      return answered.clone().text();
    };
    sent.push(answer.then(note).catch(() => {}));
    return answer;
  };
  const settle = async () => {
    for (let awaited = -1; awaited < sent.length; ) {
      awaited = sent.length;
      await Promise.all(sent);
      await new Promise((resolve) => setTimeout(resolve));
    }
  };
  const nameOf = (control) => control.cloneNode(false).outerHTML.replace(/[\\da-f]{6,}|\\d+/g, "");
  const shown = {};
  const use = async (name, act) => {
    const before = refused.length;
    act();
    await settle();
    if (refused.length > before) shown[name] = refused.slice(before);
  };
  const press = (target, key) =>
    target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const used = new Set();
  const unused = (kind) => [...document.querySelectorAll(kind)].find((one) => !used.has(nameOf(one)));
  const next = () =>
    unused(":is(input, select, textarea):not(:disabled)") ??
    unused("button:not(:disabled, [role=tab]), summary") ??
    unused("[role=tab]"); // the other buttons go with their panel
  const act = (control) => {
    if (control.matches("button, summary, [type=checkbox], [type=radio]")) return control.click();
    for (const type of ["input", "change"]) control.dispatchEvent(new Event(type, { bubbles: true }));
    press(control, "Enter");
  };
  for (const key of ["u", "Enter"]) await use(`the key ${key}`, () => press(document.body, key));
  for (let control = next(); control; control = next()) {
    const name = nameOf(control);
    used.add(name);
    await use(name, () => act(control));
  }
  const drop = DROP;
  await use("a dropped file", () => drop(["dropped.json", "[]"]));
  return shown;
}""".replace("DROP", DROP)


@pytest.fixture
def server(tmp_path: Path, port: int, looking: Looking) -> Iterator[Server]:
    """A server that asks for a token."""
    looking.leave()
    with running_server(tmp_path, token="a-token-of-the-test", port=port) as running:
        yield running


def enter(page: Page, server: Server, role: str) -> None:
    """Open the overview with a token of a role."""
    _, token = server.app.access_tokens.make("somebody", role)
    page.goto(f"{server.url}/?token={token}")
    expect(page.get_by_role("row", name="Session")).not_to_have_count(0)


def is_refused(control: Locator) -> None:
    """Expect a control that is disabled and says why."""
    expect(control).to_be_disabled()
    expect(control).to_have_attribute("title", WHY)


class TestViewing:
    """The pages as a viewer sees them."""

    def test_disables_what_changes_a_session(self, page: Page, server: Server) -> None:  # B17
        """A plan can be looked at and not applied; a message's actions and the session's choices are disabled."""
        session = managed(server, 40)
        enter(page, server, VIEWER)
        expect(page.get_by_text(WHY)).to_be_visible()
        is_refused(page.get_by_role("button", name="Import…"))
        page.goto(f"{server.url}/sessions/{session}?show=all#plan")
        is_refused(page.locator("[data-act=apply-plan]"))
        expect(page.get_by_role("button", name="Prune…")).to_be_enabled()
        page.locator(".m-open").nth(3).click()
        is_refused(page.get_by_role("button", name=re.compile("^Pin")).first)
        page.get_by_label("More", exact=True).click()
        is_refused(page.get_by_role("switch", name="Automatic pruning"))
        is_refused(page.get_by_role("button", name="Delete this session"))

    def test_disables_what_changes_settings_and_memories(self, page: Page, server: Server) -> None:  # B17
        """Settings can be tried and not saved."""
        managed(server, 4)
        enter(page, server, VIEWER)
        page.goto(f"{server.url}/settings")
        page.get_by_label("Aim", exact=True).fill("45")
        expect(page.get_by_text("Not saved: Aim")).to_be_visible()
        is_refused(page.get_by_role("button", name="Save", exact=True))
        expect(page.get_by_role("button", name="Discard")).to_be_enabled()
        page.goto(f"{server.url}/memory")
        is_refused(page.get_by_role("button", name="Keep it"))
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()

    def test_says_why_keys_and_files_do_nothing(self, page: Page, server: Server) -> None:  # B17
        """Nothing is asked of the server: what a key would do, or an import, is refused by the page."""
        session = managed(server, 40)
        server.app.prunes.apply(session, PruneBody(max_tokens=1_000))
        enter(page, server, VIEWER)
        page.evaluate(DROP, ["dropped.json", "[]", ["dragover"]])
        expect(page.locator(".drop-veil")).to_have_text(WHY)
        page.evaluate(DROP, ["dropped.json", "[]"])
        expect(page.locator(".toast")).to_contain_text(WHY)
        for key, panel in (("u", ""), ("Enter", "plan")):
            page.goto(f"{server.url}/sessions/{session}?panel={panel}")
            expect(page.locator(".msg").first).to_be_visible()
            page.keyboard.press(key)
            expect(page.locator(".toast")).to_contain_text(WHY)

    @pytest.mark.parametrize("opening", [one for one in PAGES if one is not open_import])
    def test_offers_nothing_that_is_refused(
        self, page: Page, server: Server, opening: Callable[[Page, Server], None]
    ) -> None:  # B17
        """The server allows everything that can still be used on a page."""
        _, token = server.app.access_tokens.make("somebody", VIEWER)
        page.goto(f"{server.url}/search?token={token}")
        expect(page.get_by_text(WHY)).to_be_visible()
        opening(page, server)
        assert page.evaluate(USE_ALL) == {}

    @pytest.mark.parametrize("width", [390, 1280])
    def test_begin_the_sentence_where_the_page_begins(self, page: Page, server: Server, width: int) -> None:
        """The sentence and the heading stand at one line, also on a phone."""
        managed(server, 4)
        page.set_viewport_size({"width": width, "height": 800})
        enter(page, server, VIEWER)
        begin = "e => e.getBoundingClientRect().x + parseFloat(getComputedStyle(e).paddingLeft)"
        assert page.locator("#viewing").evaluate(begin) == page.locator("h1").evaluate(begin)

    def test_is_only_for_viewers(self, page: Page, server: Server) -> None:
        """An operator's pages have neither the sentence nor the script."""
        managed(server, 4)
        enter(page, server, OPERATOR)
        expect(page.get_by_role("button", name="Import…")).to_be_enabled()
        expect(page.locator("#viewing")).to_have_count(0)
        assert "frame/viewing" not in page.content()

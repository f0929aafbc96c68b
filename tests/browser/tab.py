"""The tab that the tests of a worker use one after the other, without what earlier tests changed in it.

Most tests take less processor time than a new tab, which has a new process that compiles every script again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Dialog, Error, Page, ViewportSize

from tests.browser.waiting import PROBE
from tests.servers import Server

# Fills the store of a server and opens a page of it.
Opening = Callable[[Page, Server], object]

SCREEN: ViewportSize = {"width": 1280, "height": 900}

# The empty page needs no server, so it is there at once or never.
LEAVING_MS = 5_000

# Playwright cannot undo these in a tab, or only with what the test gave them.
LASTING = (
    (Page, "add_init_script"),
    (Page, "expose_binding"),
    (Page, "expose_function"),
    (Page, "on"),
    (Page, "once"),
    (Page, "route_web_socket"),
    (BrowserContext, "new_cdp_session"),
)

# Takes the focus away, and scrolls the page and everything in it to its beginning.
AT_REST = """() => {
  document.activeElement.blur();
  for (const one of document.querySelectorAll("*")) if (one.scrollTop) one.scrollTop = 0;
}"""


class Tab:
    """The tab of a worker; a new one after a test that made a lasting change, or that opened other tabs."""

    def __init__(self, context: BrowserContext, patch: pytest.MonkeyPatch) -> None:
        self._context = context
        self._page: Page | None = None
        self._changed = False
        self._shown: tuple[Opening, Server] | None = None
        for owner, name in LASTING:
            patch.setattr(owner, name, self._noting(getattr(owner, name)))

    def _noting(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*given: Any, **named: Any) -> Any:
            self._changed = True
            return method(*given, **named)

        return noted

    def lend(self) -> Page:
        """Return the tab with none of our pages open, nothing stored, and the mouse in its corner."""
        self.leave()
        self._page = self._page or self._context.new_page()
        self._changed = False
        return self._page

    def show(self, opening: Opening, server: Server) -> Page:
        """Open a page that several tests look at; return the tab."""
        page, self._shown = self.lend(), (opening, server)
        try:
            opening(page, server)
        except BaseException:
            self.leave()
            raise
        return page

    def shown(self, opening: Opening) -> Page | None:
        """Return the tab if the page that `opening` opens is still open in it."""
        return self._page if self._shown is not None and self._shown[0] is opening else None

    def leave(self) -> None:
        """Leave the page that several tests look at, if it is still open."""
        if self._shown is not None:
            self.take_back(self._shown[1].url)

    def take_back(self, origin: str | None) -> None:
        """Leave the open page, and undo what was changed and stored; the server at `origin` still runs.

        Without an origin the tab is closed: what pages of other servers stored cannot be reached any more.
        """
        page = self._reusable(origin is not None)
        self._page = self._shown = None
        if page is None:
            return
        page.unroute_all(behavior="ignoreErrors")
        page.on("dialog", Dialog.accept)  # asks whether to leave unsaved fields
        _leave(page, str(origin))
        page.remove_listener("dialog", Dialog.accept)
        page.evaluate("() => (localStorage.clear(), sessionStorage.clear())")
        _restore(page)
        self._page = page

    def rest(self) -> None:
        """Undo what a test changed that only looked at the open page, so that the next one finds it as it was."""
        if (page := self._reusable(self._shown is not None)) is not None:
            page.unroute_all(behavior="ignoreErrors")
            _restore(page)
            page.evaluate(AT_REST)

    def _reusable(self, reachable: bool) -> Page | None:
        """Return the tab; None if it cannot be as it was before the test, and then it is closed."""
        tabs = self._context.pages[1:]  # the first keeps the window open
        if self._page is None or self._changed or not reachable or tabs != [self._page]:
            self._page = self._shown = None
            for tab in tabs:
                tab.close()
        return self._page


def _leave(page: Page, origin: str) -> None:
    """Leave the open page for one without a script at the same origin.

    The empty page has the origin of the page that opens it, and takes a sixth less of a test's processor time than a
    page of the server. It is not reached if the test's own navigation ends only now.
    """
    if page.url.startswith(f"{origin}/"):
        with suppress(Error):
            page.evaluate("location.replace('about:blank')")
            page.wait_for_url("about:blank", timeout=LEAVING_MS)
            return
    page.goto(f"{origin}{PROBE}")


def _restore(page: Page) -> None:
    page.mouse.move(0, 0)
    page.set_viewport_size(SCREEN)
    page.emulate_media(
        media="null", color_scheme="null", reduced_motion="reduce", forced_colors="null", contrast="null"
    )

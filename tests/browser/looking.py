"""A page that several tests look at: one server and one loaded page for those that follow each other.

A test that changes its page, or the store of its server, uses the fixtures `page` and `server` instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, NoReturn

import pytest
from playwright.sync_api import Keyboard, Locator, Mouse, Page

from tests.browser.tab import Opening, Tab
from tests.servers import Server

# Opens a page, or finds it open.
Look = Callable[[Opening], Page]

# A test that only looks at a page does none of these: the next test finds the page as it was opened.
CHANGING = (
    (Page, ("go_back", "go_forward", "goto", "reload", "set_content")),
    (Keyboard, ("down", "insert_text", "press", "type", "up")),
    (Mouse, ("click", "dblclick", "down", "up", "wheel")),
    (
        Locator,
        (
            "blur", "check", "clear", "click", "dblclick", "dispatch_event", "drag_to", "fill", "press",
            "press_sequentially", "select_option", "set_checked", "set_input_files", "tap", "type", "uncheck",
        ),
    ),
)  # fmt: skip


@contextmanager
def only_looking() -> Iterator[None]:
    """Refuse, until the block ends, every act that could change a page."""

    def refusal(name: str) -> Callable[..., NoReturn]:
        def refuse(*given: Any, **named: Any) -> NoReturn:
            raise AssertionError(
                f"{name} could change a page that other tests look at; use `page` and `server`"
            )

        return refuse

    with pytest.MonkeyPatch.context() as patch:
        for owner, names in CHANGING:
            for name in names:
                patch.setattr(owner, name, refusal(f"{owner.__name__}.{name}"))
        yield


class Looking:
    """A server whose page is open in the worker's tab, for all tests that look at it one after the other."""

    def __init__(self, tab: Tab, serve: Callable[[], AbstractContextManager[Server]]) -> None:
        self._tab, self._serve, self._running = tab, serve, ExitStack()

    def at(self, opening: Opening) -> Page:
        """Return the page that `opening` opens on a server of its own, unless it is open."""
        if (page := self._tab.shown(opening)) is None:
            self.leave()
            server = self._running.enter_context(self._serve())
            page = self._tab.show(opening, server)
        return page

    def leave(self) -> None:
        """Leave the page and stop its server, if there is one."""
        self._tab.leave()
        self._running.close()

"""Waiting in a page: for a condition, for what is drawn, and for a request that the test holds back."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route

from tests import waiting


def until(page: Page, condition: Callable[[], object]) -> None:
    """Return once `condition` holds; the page goes on meanwhile. Raises AssertionError when it never does."""
    waiting.until(condition, lambda seconds: page.wait_for_timeout(1_000 * seconds))


def holds(page: Page, script: str, arg: object = None) -> None:
    """Return once `script` is true in the page; Playwright's own waiting needs eval, which our pages forbid."""
    until(page, lambda: page.evaluate(script, arg))


def drawn(page: Page) -> None:
    """Return once the page has drawn its present state."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def hold(
    page: Page, pattern: str | re.Pattern[str], act: Callable[[], object], *, others: bool = False
) -> Route:
    """Do `act` and return the request that it makes, which waits until the test lets it go on.

    With `others`, later requests are answered meanwhile; else they wait too.
    """
    held: list[Route] = []

    def keep(route: Route) -> None:
        if others and held:
            route.continue_()
        else:
            held.append(route)

    page.route(pattern, keep)
    act()
    until(page, lambda: held)
    return held[0]

"""Waiting in a page: for a condition, a drawn frame, or a request held back by the test."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route

from tests import waiting

# Reads of the rows of a session's list, not the heaviest messages beside it.
LIST = re.compile(r"/messages\?(?!.*sort=tokens)")
# An address of every server, and an answer that none gives to it.
PROBE, CAUGHT = "/healthz", 204


def until(page: Page, condition: Callable[[], object]) -> None:
    """Return once `condition` holds; the page runs meanwhile. Raises AssertionError if it never does."""
    waiting.until(condition, lambda seconds: page.wait_for_timeout(1_000 * seconds))


def holds(page: Page, script: str, arg: object = None) -> None:
    """Return once `script` is true in the page; Playwright's own wait needs eval, which the pages forbid."""
    until(page, lambda: page.evaluate(script, arg))


def drawn(page: Page) -> None:
    """Return once the page has drawn its current state."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def intercept(page: Page, pattern: str | re.Pattern[str], handler: Callable[[Route], object]) -> None:
    """Answer matching requests with `handler` from now on.

    Chromium confirms an interception before the loader of an open page knows of it, so that a busy machine lets the
    page's next request pass. Here one request has been intercepted on return.
    """
    page.route(pattern, handler)
    if not page.url.startswith("http"):
        return
    page.route(f"**{PROBE}", lambda route: route.fulfill(status=CAUGHT))
    holds(page, "([probe, caught]) => fetch(probe).then(answer => answer.status === caught)", [PROBE, CAUGHT])
    page.unroute(f"**{PROBE}")


def without_live_connection(page: Page) -> None:
    """Let the pages opened from now on wait for their live connection for ever.

    A connection that comes about reads again what failed, at times before a test has clicked to read it again.
    """
    page.route_web_socket("**/socket.io/**", lambda socket: None)


def hold(
    page: Page, pattern: str | re.Pattern[str], act: Callable[[], object], *, others: bool = False
) -> Route:
    """Run `act` and return the request that it causes, held back until the test continues it.

    With `others`, later requests are answered meanwhile; otherwise they wait too.
    """
    held: list[Route] = []

    def keep(route: Route) -> None:
        if others and held:
            route.continue_()
        else:
            held.append(route)

    intercept(page, pattern, keep)
    act()
    until(page, lambda: held)
    return held[0]

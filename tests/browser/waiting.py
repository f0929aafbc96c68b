"""Waiting for a condition, a drawn frame or a request in a page; answering and holding its requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from playwright.sync_api import Locator, Page, Route, WebSocketRoute

from tests import waiting
from tests.servers import Server

# Reads of the rows of a session's list, not the heaviest messages beside it.
LIST = re.compile(r"/messages\?(?!.*sort=tokens)")
# The address of the test request, and a status with which no server answers it.
PROBE, CAUGHT = "/healthz", 204


def until(page: Page, condition: Callable[[], object]) -> None:
    """Return once `condition` holds; the page runs meanwhile. Raises AssertionError if it never does."""
    waiting.until(condition, lambda seconds: page.wait_for_timeout(1_000 * seconds))


def holds(page: Page, script: str, arg: object = None) -> None:
    """Return once `script` is true in the page. Playwright's own wait needs eval, which the pages forbid."""
    until(page, lambda: page.evaluate(script, arg))


def in_place(one: Locator, other: Locator, condition: str) -> None:
    """Return once `condition`, a function of two boxes, holds for the boxes of both elements at one moment.

    Two boxes that are read one after the other need not be of one layout: a list may get its rows in between.
    """
    boxes = "elements.map(element => element.getBoundingClientRect())"
    script = f"elements => elements.every(one => one.isConnected) && ({condition})(...{boxes})"
    until(one.page, lambda: one.page.evaluate(script, [one.element_handle(), other.element_handle()]))


def top_of(element: Locator) -> float:
    """Return the distance in pixels of an element from the top of the view."""
    top: float = element.evaluate("element => element.getBoundingClientRect().top")
    return top


def drawn(page: Page) -> None:
    """Return once the page has drawn its current state."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def fast_forward(page: Page, seconds: int = 30) -> None:
    """Let time pass on the page's clock: whatever the page delays by less happens now.

    The clock must be installed before the page is opened, in a context of the test's own.
    """
    page.clock.fast_forward(1_000 * seconds)
    drawn(page)


def intercept(
    page: Page, pattern: str | re.Pattern[str], handler: Callable[[Route], object], *, method: str = ""
) -> None:
    """Answer matching requests with `handler` from now on; with a `method`, only those by it.

    A test that lets a change fail names its method: a late event can make the page read again at the same address.

    Chromium confirms an interception before it reaches the loader of an open page, so on a busy machine the page's next
    request could pass. This function returns only after a test request was intercepted.
    """

    def answer(route: Route) -> None:
        if method in {"", route.request.method}:
            handler(route)
        else:
            route.fallback()

    page.route(pattern, answer)
    if not page.url.startswith("http") or page.url.endswith(PROBE):
        return  # no page of ours is open
    page.route(f"**{PROBE}", lambda route: route.fulfill(status=CAUGHT))
    holds(page, "([probe, caught]) => fetch(probe).then(answer => answer.status === caught)", [PROBE, CAUGHT])
    page.unroute(f"**{PROBE}")


def open_live(page: Page, server: Server, address: str, room: str = "overview") -> None:
    """Open a page of the server, and return once it gets the events of a room."""
    before = members_of(server, room)
    page.goto(f"{server.url}{address}")
    until(page, lambda: members_of(server, room) - before)


def members_of(server: Server, room: str) -> set[str]:
    """Return the ids of the connections that get the events of a room."""
    manager = server.flask.extensions["coppice.live"].socketio.server.manager
    rooms = manager.rooms.get("/", {})
    return {sid for sid, _ in manager.get_participants("/", room)} if room in rooms else set()


def hold_joining(page: Page, room: str) -> list[Callable[[], None]]:
    """Let no page join a room until the test calls the function that is then in the returned list."""
    held: list[Callable[[], None]] = []

    def connect(route: WebSocketRoute) -> None:
        to_server = route.connect_to_server()

        def send(message: str | bytes) -> None:
            if "subscribe" in str(message) and room in str(message):
                held.append(partial(to_server.send, message))
            else:
                to_server.send(message)

        route.on_message(send)

    page.route_web_socket("**/socket.io/**", connect)
    return held


def without_live_connection(page: Page) -> None:
    """Give no live connection to the pages opened from now on.

    A new connection repeats failed reads, which can happen before the test has clicked to repeat them.
    """
    page.route_web_socket("**/socket.io/**", lambda socket: None)


def hold(
    page: Page, pattern: str | re.Pattern[str], act: Callable[[], object], *, others: bool = False
) -> Route:
    """Run `act` and return the request that it causes, held until the test continues it.

    With `others`, later requests are answered; otherwise they are held, too.
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

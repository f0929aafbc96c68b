"""The bytes that a page receives, as the browser counts them: headers and compressed content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page

from tests.browser.waiting import holds

# Returns whether the page has prefetched the modules of other pages, which it does once it is idle.
PREFETCHED = """() => {
  const named = JSON.parse(document.querySelector("#prefetch")?.textContent ?? "[]");
  const fetched = new Set(performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
  return named.every((path) => fetched.has(path));
}"""


@dataclass
class Sent:
    """One request; `size` is the bytes of its answer, 0 from the browser's own cache."""

    url: str
    size: int = 0
    revalidated: bool = False
    cached: bool = False


@dataclass
class Visit:
    """The requests of one visit. `first_paint_ms` counts from the start of the visit."""

    sent: list[Sent] = field(default_factory=list)
    first_paint_ms: float = 0.0

    @property
    def fetched(self) -> list[Sent]:
        """Return the requests that the server answered."""
        return [one for one in self.sent if not one.cached]

    @property
    def size(self) -> int:
        """Return the bytes of all answers."""
        return sum(one.size for one in self.fetched)


class Wire:
    """A tab whose visits are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._open: dict[str, Sent] = {}
        self._browser = browser = page.context.new_cdp_session(page)
        browser.send("Network.enable")
        browser.on("Network.requestWillBeSent", self._asked)
        browser.on("Network.requestServedFromCache", self._about(lambda one, _: _cached(one)))
        browser.on(
            "Network.responseReceived",
            self._about(lambda one, event: _cached(one) if event["response"].get("fromDiskCache") else None),
        )
        browser.on("Network.responseReceivedExtraInfo", self._about(_status))
        browser.on("Network.loadingFinished", self._about(_finished))

    def empty_cache(self) -> None:
        """Remove everything that the browser has cached."""
        self.page.goto("about:blank")
        self._browser.send("Network.clearBrowserCache")

    def visit(self, url: str, ready: Callable[[], object]) -> Visit:
        """Go to `url`, wait until it is `ready` and has prefetched the modules of others, and return the requests."""
        self._open = {}
        self.page.goto(url)
        ready()
        holds(self.page, PREFETCHED)
        self.page.wait_for_load_state("networkidle")
        paint = self.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
        return Visit(list(self._open.values()), float(paint or 0))

    def _asked(self, event: dict[str, Any]) -> None:
        self._open[event["requestId"]] = Sent(event["request"]["url"])

    def _about(self, note: Callable[[Sent, dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
        def heard(event: dict[str, Any]) -> None:
            if (one := self._open.get(event["requestId"])) is not None:
                note(one, event)

        return heard


def _cached(one: Sent) -> None:
    one.cached = True


def _status(one: Sent, event: dict[str, Any]) -> None:
    one.revalidated = event.get("statusCode") == 304


def _finished(one: Sent, event: dict[str, Any]) -> None:
    one.size = int(event["encodedDataLength"])

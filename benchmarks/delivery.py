"""The cost of the pages over the network, and the time until they are first drawn: in the browser, with an empty cache.

A session of 300 messages of 100 words, visited first; then the overview, the session again, and the settings.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from benchmarks.rows import Row
from scripts.browser import launched
from tests.browser.wire import Visit, Wire
from tests.servers import Server, running_server

MESSAGES, WORDS = 300, 100
FIRST_BYTES, NEXT_BYTES = 200_000, 40_000


def run() -> list[Row]:
    """Return bytes and requests of four visits, and the time until something was drawn on the first."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(Path(folder)) as server,
        launched() as browser,
    ):
        _talk(server)
        first, overview, again, settings = _visits(browser.new_page(), server.url)
    asked = sum(one.revalidated for visit in (overview, again, settings) for one in visit.sent)
    return [
        Row("first visit of a session: sent", first.size, "bytes", FIRST_BYTES),
        Row("first visit of a session: requests", len(first.fetched), ""),
        Row("first visit of a session: first paint", first.first_paint_ms, "ms"),
        Row("then the overview: sent", overview.size, "bytes", NEXT_BYTES),
        Row("then the session again: sent", again.size, "bytes", NEXT_BYTES),
        Row("then the settings: sent", settings.size, "bytes", NEXT_BYTES),
        Row("files asked for again", asked, "", 0),
    ]


def _talk(server: Server) -> None:
    rng = random.Random(1)
    words = (Path(__file__).parent.parent / "docs" / "using.md").read_text(encoding="utf-8").split()
    server.app.new_sessions.create(id="s", model="claude-sonnet-4-5", title="Delivery")
    talk = [
        {"role": ("user", "assistant")[n % 2], "content": f"{n} {' '.join(rng.choices(words, k=WORDS))}"}
        for n in range(MESSAGES)
    ]
    server.app.ingest.append_messages("s", talk)


def _visits(page: Page, url: str) -> list[Visit]:
    wire = Wire(page)
    return [
        wire.visit(address, lambda shown=shown: page.wait_for_selector(shown))  # type: ignore[misc]
        for address, shown in (
            (f"{url}/sessions/s", "heavy-panel li"),
            (url, "table"),
            (f"{url}/sessions/s", "heavy-panel li"),
            (f"{url}/settings", ".what-if-words p"),
        )
    ]

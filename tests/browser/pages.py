"""The pages, each opened as the checks of all pages see it."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser import writing
from tests.browser.overview_page import DROP
from tests.servers import Server
from tests.waiting import PATIENCE
from webapp.bodies import PruneBody

# With a title too long for any screen, to find pages that grow with it.
managed = partial(writing.managed, title="A managed session " + "with a title that goes on " * 12)


def above_target(server: Server) -> str:
    """Create a session above its target; return its id. Few messages fill it: axe judges each row again."""
    return managed(server, 20, tokens=4_500)


def open_overview(page: Page, server: Server) -> None:
    """Open the overview with a session above its target."""
    above_target(server)
    page.goto(server.url)
    expect(page.locator("tr.session-row")).to_have_count(1)


def open_nothing(page: Page, server: Server) -> None:
    """Open the overview without sessions."""
    page.goto(server.url)
    expect(page.get_by_role("heading", name="No sessions yet")).to_be_visible()


def open_messages(page: Page, server: Server) -> None:
    """Open a session with its messages, and what followed a compaction."""
    page.goto(f"{server.url}/sessions/{writing.compacted(server)}")
    expect(page.locator(".m-open").first).to_be_visible()
    expect(page.locator(".chart-after li")).to_be_visible()


def open_plan(page: Page, server: Server) -> None:
    """Open a session with its plan, an open group and an open message."""
    page.goto(f"{server.url}/sessions/{above_target(server)}")
    page.locator(".m-open").first.click()
    expect(page.locator(".parts")).to_be_visible()
    page.locator("button.group").first.click()
    expect(page.locator(".group-rows li").first).to_be_visible()
    page.get_by_text("Weights and tail").click()
    page.get_by_label("Recency").fill("90")
    expect(page.get_by_role("button", name="Save for this session")).to_be_visible()


def open_history(page: Page, server: Server) -> None:
    """Open a pruned session with its history."""
    session = above_target(server)
    server.app.prunes.apply(session, PruneBody())
    page.goto(f"{server.url}/sessions/{session}")
    page.get_by_role("tab", name="History").click()
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".operations .group-rows li").first).to_be_visible()


def open_heaviest(page: Page, server: Server) -> None:
    """Open the panel of the heaviest messages, where they can be dropped and shortened, beside a long output."""
    page.goto(f"{server.url}/sessions/{with_outputs(server)}")
    page.locator(".m-open").nth(1).click()
    expect(page.locator(".parts pre")).to_be_visible()
    page.get_by_role("tab", name="Heaviest").click()
    expect(page.get_by_role("button", name="Shorten the outputs of bash…")).to_be_visible()


def open_chosen(page: Page, server: Server) -> None:
    """Open a plan made by hand: shortened outputs with their tokens before and after."""
    open_heaviest(page, server)
    page.get_by_role("button", name="Shorten the outputs of bash…").click()
    page.locator("button.group").first.click()
    expect(page.locator(".chosen .chip")).to_have_count(1)
    expect(page.locator(".group-rows small").first).to_be_visible()


def open_archive(page: Page, server: Server) -> None:
    """Open the list of messages that are out of the context."""
    session = above_target(server)
    server.app.prunes.apply(session, PruneBody())
    page.goto(f"{server.url}/sessions/{session}")
    page.get_by_role("tab", name="Archive").click()
    expect(page.get_by_role("button", name="Restore").first).to_be_visible()


def open_summary(page: Page, server: Server) -> None:
    """Open the panel of summaries, and one of them in it."""
    session = above_target(server)
    server.app.summarising.summarise(session)
    page.goto(f"{server.url}/sessions/{session}")
    page.get_by_role("tab", name="Summary").click()
    page.locator("summary-panel summary").click()
    expect(page.get_by_role("button", name="Expand summary")).to_be_visible()


def open_empty(page: Page, server: Server) -> None:
    """Open a session without messages, with its menu open."""
    page.goto(f"{server.url}/sessions/{managed(server, 0)}")
    expect(page.get_by_text("No messages yet.")).to_be_visible()
    page.get_by_label("More", exact=True).click()
    expect(page.get_by_role("switch", name="Automatic pruning")).to_be_visible()


def open_import(page: Page, server: Server) -> None:
    """Open the overview while a file is imported."""
    go_on = threading.Event()

    def slow(*_: Any, **__: Any) -> Any:
        go_on.wait(PATIENCE)
        return {"imported": []}

    server.app.importing.import_file = slow
    page.goto(server.url)
    page.evaluate(DROP, ["first.json", "[]"])
    expect(page.locator(".importing")).to_be_visible()


def with_outputs(server: Server) -> str:
    """Create a session with seven long outputs of a tool; return its id."""
    session = managed(server, 1, tokens=20)
    rows: list[dict[str, Any]] = []
    for n in range(7):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        text = "".join(f"src/module_{n}_{i}.py: something or other\n" for i in range(300))
        rows.append({"role": "assistant", "content": None, "tool_calls": [call]})
        rows.append({"role": "tool", "tool_call_id": f"c{n}", "content": text})
    server.app.ingest.append_messages(session, [*rows, {"role": "user", "content": "go on"}])
    return session


def open_settings(page: Page, server: Server) -> None:
    """Open the settings with a wrong field and a what-if."""
    managed(server, 3, tokens=50)
    page.goto(f"{server.url}/settings")
    page.locator("input[name=fresh_tail]").fill("1.5")
    expect(page.locator("#fault-fresh_tail")).to_be_visible()


def open_search(page: Page, server: Server) -> None:
    """Open the search with results."""
    managed(server, 3, tokens=50)
    page.goto(f"{server.url}/search?q=message")
    expect(page.locator(".hit").first).to_be_visible()


def open_memory(page: Page, server: Server) -> None:
    """Open the memory page while a memory is edited."""
    server.app.memory.add("memory", "the parser lives in src/parser.py")
    page.goto(f"{server.url}/memory")
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("The text")).to_be_visible()


def open_error(page: Page, server: Server) -> None:
    """Open the page of an unknown session."""
    page.goto(f"{server.url}/sessions/nobody")
    expect(page.get_by_role("heading", name="There is nothing here")).to_be_visible()


PAGES = [
    open_overview, open_nothing, open_import, open_plan, open_heaviest, open_chosen, open_history, open_summary,
    open_archive, open_empty, open_settings, open_search, open_memory, open_error,
]  # fmt: skip

"""The verdict under a session's title, and the order of the overview."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Page, expect

from tests.browser.writing import managed, words
from tests.servers import Server


def reading(server: Server, reads: int, start: int = 0, session: str = "reader") -> None:
    """A session that reads one file again in every turn."""
    for n in range(start, start + reads):
        asked = {"name": "read_file", "arguments": json.dumps({"path": "docs/spec.md"})}
        call = {"id": f"c{n}", "type": "function", "function": asked}
        rows = [
            {"role": "user", "content": f"question {n}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"version {n} " + words(9_000)},
            {"role": "assistant", "content": f"answer {n}"},
        ]
        server.app.ingest.append_messages(session, rows)


def test_names_one_thing_to_do_and_does_it(page: Page, server: Server) -> None:  # X18, X4, X2
    """It comes while the page is open; its button opens the plan that does what was said, and no more."""
    server.app.sessions.create(id="reader", title="Read the spec", model="claude-sonnet-4-5")
    reading(server, 1)
    page.goto(f"{server.url}/sessions/reader")
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text("Nothing needed")
    expect(verdict.get_by_role("button")).to_have_count(0)
    reading(server, 6, start=1)
    expect(verdict).to_contain_text(
        re.compile(r"6 superseded reads of spec\.md hold \d+k tokens: clearing them")
    )
    expect(verdict).to_contain_text("Can be undone.")
    verdict.get_by_role("button", name="Clear them…").click()
    page.get_by_role("button", name=re.compile("^Shorten 6 outputs")).click()
    expect(verdict).to_contain_text("Nothing needed")
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(verdict).to_contain_text("6 superseded reads of spec.md")


def test_orders_the_overview(page: Page, server: Server) -> None:  # X18
    """A session that needs something done stands first with its sentence, whatever came last."""
    managed(server, 60, title="Full")
    managed(server, 2, title="Calm")
    page.goto(server.url)
    expect(page.locator("tr.session-row a.title")).to_have_text(["Full", "Calm"])
    rows = page.locator("tr.session-row")
    expect(rows.nth(0)).to_contain_text("Prune now: ")
    expect(rows.nth(0).get_by_role("link", name="Prune Full")).to_be_visible()
    expect(rows.nth(1)).to_contain_text("Nothing needed")
    expect(rows.nth(1).locator(".c-act a")).to_have_count(0)

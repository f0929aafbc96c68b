"""The stages before dropping: their section of the settings, and their groups in a plan."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.writing import managed
from tests.servers import Server
from webapp.bodies import SessionChange

LOG = "".join(f"line {n} of the build\n" for n in range(400))


def twice(server: Server) -> str:
    """Create a session above its target with the same output twice; return its id."""
    session = managed(server, 0)
    said: list[dict[str, Any]] = [{"role": "user", "content": "please build"}]
    for n in (1, 2):
        function = {"name": "Bash", "arguments": json.dumps({"command": "make"})}
        said += [
            {"role": "assistant", "tool_calls": [{"id": f"c{n}", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": LOG},
        ]
    server.app.ingest.append_messages(session, [*said, {"role": "user", "content": "thanks"}])
    tokens = server.app.sessions.get(session).pruned.tokens
    server.app.sessions.patch(
        session, SessionChange(settings={"cap_tokens": tokens - 100, "aim_percent": 80})
    )
    return session


class TestStages:
    """The stages in the settings and in a plan."""

    def test_have_a_section_of_the_settings(self, page: Page, server: Server) -> None:  # X7
        """Two switches with a description and a choice of how to treat old outputs are saved."""
        page.goto(f"{server.url}/settings")
        section = page.locator("section", has=page.get_by_role("heading", name="Before anything is dropped"))
        again = section.get_by_role("switch", name="Clear repeated outputs")
        expect(again).to_be_checked()
        expect(again).to_have_accessible_description(
            "Outputs that are equal word for word; the newest stays."
        )
        expect(section.get_by_role("switch", name="Clear outputs that a later read replaces")).to_be_checked()
        again.uncheck()
        section.get_by_label("Old outputs").select_option("Shortened")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Settings saved.")).to_be_visible()
        saved = server.app.settings.get().settings
        assert (saved.stage_duplicates, saved.stage_superseded) == (False, True)
        assert saved.stage_outputs == "shorten"

    def test_are_groups_of_the_plan(self, page: Page, server: Server) -> None:  # X7, X3, X1
        """A group lists its outputs with reasons; applying clears the output, and Undo restores it."""
        session = twice(server)
        page.goto(f"{server.url}/sessions/{session}")
        page.get_by_role("button", name="See the plan").click()
        group = page.get_by_role("button", name=re.compile("The same output again"))
        expect(group).to_contain_text("1 output")
        group.click()
        row = page.locator(".group-rows li")
        expect(row).to_have_count(1)
        expect(row).to_contain_text("message 5 holds the same output")
        page.get_by_role("button", name=re.compile("^Shorten 1 output")).click()
        expect(page.get_by_text(re.compile("1 output shortened"))).to_be_visible()
        sent = json.dumps(server.app.context.get(session, "openai").messages)
        assert sent.count("cleared: the same came again later") == 1
        page.get_by_role("button", name="Undo").first.click()
        expect(page.locator(".verdict")).to_have_attribute("data-need", "act")
        assert "cleared" not in json.dumps(server.app.context.get(session, "openai").messages)

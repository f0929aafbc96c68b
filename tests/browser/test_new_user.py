"""Three tasks of a new user, done by the words on the pages alone.

What filled this context? Bring it to half and go on in the agent. Never let it happen again.
"""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.overview_page import listed
from tests.browser.session_page import APPLY, copied
from tests.browser.writing import ClaudeFolder, Transcript, words
from tests.servers import Server
from tests.waiting import until


def crowded(folder: ClaudeFolder, cwd: Path) -> Transcript:
    """Write a session above its target, most of it one file that was read again and again."""
    transcript = folder.transcript(cwd=str(cwd))
    transcript.user("Fix the login race")
    for i in range(9):
        before = 12_500 * (i + 1)
        transcript.call("Read", {"file_path": "docs/spec.md"}, f"version {i} " + words(9_000), tokens=before)
        transcript.call("Bash", {"command": f"pytest -q {i}"}, words(1_500), tokens=before + 10_500)
    for i in range(6):
        transcript.call("Bash", {"command": f"make part-{i}"}, words(6_000), tokens=125_000 + 7_000 * i)
    transcript.assistant("Done for now.", tokens=167_000)
    return transcript


def open_listed(page: Page, server: Server, transcript: Transcript) -> None:
    """Find the session on the overview, where its verdict says that it is above its target, and open it."""
    page.goto(server.url)
    expect(listed(page, transcript.session)).to_contain_text("above the target of 80")
    page.get_by_role("link", name="Fix the login race", exact=True).click()


class TestANewUser:
    """Somebody who has read nothing and sees the overview."""

    def test_finds_what_filled_the_context(
        self, page: Page, server: Server, folder: ClaudeFolder, tmp_path: Path
    ) -> None:  # X18, X19
        """Two clicks: the session, then what is heaviest. The file, its reads and its share are the first line."""
        open_listed(page, server, crowded(folder, tmp_path))
        page.get_by_role("tab", name="Heaviest").click()
        first = page.locator(".heavy li").first
        expect(first).to_contain_text("spec.md")
        expect(first).to_contain_text("read 9 ×, 8 superseded")
        expect(first).to_contain_text(re.compile(r"\d\d,\d{3}\s*[5-7]\d\.\d\s%"))
        expect(page.locator(".chart-steps")).to_contain_text(re.compile(r"Read spec\.md\+\d+(\.\d)?k"))

    def test_halves_it_and_goes_on_in_the_agent(
        self, page: Page, server: Server, folder: ClaudeFolder, tmp_path: Path
    ) -> None:  # X1, X18, X22
        """The verdict leads to the plan, the toast to the command; afterwards the promise is compared with the call."""
        transcript = crowded(folder, tmp_path)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        open_listed(page, server, transcript)
        verdict = page.get_by_role("region", name="Verdict")
        expect(verdict).to_contain_text("the agent is untouched until you resume it")
        verdict.get_by_role("button").click()
        page.get_by_label("Cut to").fill("50")
        expect(page.get_by_role("heading", name="Prune to 50 %")).to_be_visible()
        page.get_by_role("button", name=APPLY).click()
        expect(verdict).to_contain_text("Resume from a pruned copy")
        page.get_by_role("status").filter(has_text="freed").get_by_role("button", name="Resume…").click()
        page.get_by_role("button", name="Write the copy").click()
        page.get_by_role("button", name="Copy command").click()
        command = copied(page, f"cd {tmp_path} && claude --resume ")
        copy = Transcript(
            transcript.path.with_name(command.rpartition(" ")[2] + ".jsonl"),
            command.rpartition(" ")[2],
            str(tmp_path),
        )
        until(copy.path.exists)
        page.get_by_role("dialog").get_by_role("link", name="Fix the login race (pruned)").click()
        lines = page.locator(".session-copies")
        expect(lines).to_contain_text("its first call is still to come")
        promised = server.app.sessions.get(copy.session).agent
        assert promised is not None
        assert promised.utilization <= 50
        copy.assistant("I go on.", tokens=promised.tokens + 500)
        expect(lines).to_contain_text(
            re.compile(r"its first call held [\d,]+ instead of [\d,]+, [\d,]+ less")
        )

    def test_lets_it_never_happen_again(
        self, page: Page, server: Server, folder: ClaudeFolder, tmp_path: Path
    ) -> None:  # X9
        """Two clicks on the session's page: the menu, and *Automatic pruning*, which says what it will do."""
        transcript = crowded(folder, tmp_path)
        open_listed(page, server, transcript)
        page.get_by_label("More", exact=True).click()
        menu = page.locator(".menu.more")
        expect(menu).to_contain_text(re.compile(r"Above 80\s%, prune to 60\s% as soon as a message arrives"))
        menu.get_by_role("switch", name="Automatic pruning").check()
        expect(page.locator(".meta")).to_contain_text("prunes automatically")
        transcript.user("go on")
        toast = page.get_by_role("status").filter(has_text="Pruned automatically")
        expect(toast.get_by_role("button", name="Undo")).to_be_visible()
        expect(page.locator(".bar").nth(1)).to_contain_text("tokens less")

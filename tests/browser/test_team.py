"""The pages of a team: sessions of several users and machines, and limits on their age and size."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.settings_page import open_below
from tests.browser.waiting import open_live
from tests.browser.writing import managed
from tests.servers import Server
from tests.webapp.building import followed, user
from webapp.services.catalog.answers import RetentionLimits


class TestATeam:
    """Sessions of several users and machines."""

    def test_is_filtered_and_grouped_by_user_and_host(self, page: Page, server: Server) -> None:
        """The choices are in the address, and absent while all sessions are of one machine."""
        own: dict[str, Any] = {"state": {}}
        for name, origin in {
            "here": own,
            "ada-1": {"state": {"owner": "ada", "host": "laptop"}},
            "ada-2": {"state": {"owner": "ada", "host": "box"}},
        }.items():
            followed(
                server.app, user(f"request of {name}"), session_id=name, title=f"Session {name}", **origin
            )
            if name == "here":
                page.goto(server.url)
                expect(page.get_by_role("row", name="Session here")).to_be_visible()
                expect(page.get_by_role("button", name="By user")).to_have_count(0)
        row = page.get_by_role("row", name="Session ada-1")
        expect(row).to_contain_text("ada on laptop")
        page.get_by_label("User", exact=True).select_option("ada")
        expect(page.locator("tr.session-row")).to_have_count(2)
        page.get_by_label("Host", exact=True).select_option("box")
        expect(page.locator("tr.session-row")).to_have_count(1)
        expect(page).to_have_url(re.compile("user=ada"))
        page.reload()
        expect(page.locator("tr.session-row")).to_have_count(1)
        page.get_by_label("Host", exact=True).select_option("")
        page.get_by_label("User", exact=True).select_option("")
        page.get_by_role("button", name="By host").click()
        expect(page.locator("tr.project")).to_have_count(3)
        page.get_by_role("link", name="Session ada-1").click()
        expect(page.get_by_text("ada on laptop")).to_be_visible()

    def test_is_filtered_by_project(self, page: Page, server: Server) -> None:
        """A list offers the folders, and the choice is in the address."""
        for name in ("app", "api"):
            followed(
                server.app,
                user(f"work on {name}"),
                session_id=name,
                title=f"Session {name}",
                cwd=f"/src/{name}",
            )
        page.goto(server.url)
        expect(page.locator("tr.session-row")).to_have_count(2)
        page.get_by_label("Project", exact=True).select_option(label="api")
        expect(page.locator("tr.session-row")).to_have_count(1)
        expect(page.get_by_role("row", name="Session api")).to_be_visible()
        page.reload()
        expect(page.get_by_label("Project", exact=True)).to_have_value("/src/api")
        page.get_by_label("Project", exact=True).select_option(label="All projects")
        expect(page.locator("tr.session-row")).to_have_count(2)


class TestRetention:
    """Limits on the age and size of sessions."""

    def test_show_the_affected_sessions_before_deleting(self, page: Page, server: Server) -> None:
        """Typed limits delete nothing, set limits delete at night, and a button deletes at once."""
        followed(server.app, user("an old request"), session_id="old")
        followed(server.app, user("a search in it"), session_id="old.agent-1", parent_id="old")
        managed(server, 2)
        open_below(page, server, "retention-panel")
        panel = page.locator("#retention")
        expect(panel.get_by_role("status")).to_contain_text("no session is ever deleted")
        panel.get_by_label("Not used for").fill("30")
        expect(panel.get_by_role("status")).to_contain_text(
            "2 sessions, 0.1 MiB, last used before Feb 1, 2026"
        )
        expect(panel.get_by_role("status")).to_contain_text("would be deleted")
        expect(panel.get_by_role("listitem")).to_have_count(1)
        expect(panel.get_by_role("listitem")).to_contain_text("with 1 sub-agent · under 0.1 MiB")
        panel.get_by_role("button", name="Set these limits").click()
        expect(panel.get_by_role("status")).to_contain_text("will be deleted tonight")
        assert server.app.store.sessions.find("old") is not None
        panel.get_by_role("button", name="Delete them now").click()
        dialog = page.get_by_role("dialog", name="Delete 2 sessions now?")
        dialog.get_by_role("button", name="Delete", exact=True).click()
        expect(panel.get_by_role("status")).to_contain_text("No session is beyond the limits.")
        assert "old" not in [one.id for one in server.app.sessions.list()]

    def test_show_what_is_set_elsewhere(self, page: Page, server: Server) -> None:
        """A change made on another page is shown without a reload."""
        open_live(page, server, "/settings")
        page.locator("retention-panel").scroll_into_view_if_needed()
        days = page.locator("#retention").get_by_label("Not used for")
        expect(days).to_have_value("")
        server.app.retention.put(RetentionLimits(days=30, size_mib=None, user_size_mib=None))
        expect(days).to_have_value("30")

    def test_name_a_wrong_field(self, page: Page, server: Server) -> None:
        """A wrong limit cannot be set until it is corrected."""
        open_below(page, server, "retention-panel")
        panel = page.locator("#retention")
        size = panel.get_by_label("All sessions together")
        size.fill("0")
        expect(panel.get_by_role("status")).to_have_text("All sessions together: expected at least 1, got 0.")
        expect(panel.get_by_role("button", name="Set these limits")).to_be_disabled()
        expect(size).to_have_attribute("aria-invalid", "true")
        size.fill("70")
        expect(size).to_have_attribute("aria-invalid", "false")
        expect(panel.get_by_role("status")).not_to_contain_text("expected")
        expect(panel.get_by_role("button", name="Set these limits")).to_be_enabled()

    def test_leave_a_session_that_is_kept_for_good(self, page: Page, server: Server) -> None:
        """The switch of the session page exempts it from every limit."""
        session = followed(server.app, user("an old request"), session_id="old")
        page.goto(f"{server.url}/sessions/{session}")
        page.locator("details.more summary").click()
        page.get_by_role("switch", name="Never delete automatically").check()
        expect(page.get_by_text("No limit deletes this session.")).to_be_visible()
        assert server.app.sessions.get(session).kept

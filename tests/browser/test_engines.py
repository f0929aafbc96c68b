"""The pages over PostgreSQL: stored sessions are shown by every page, and after a restart.

`make test-postgresql ARGS=tests/browser` runs all browser tests over it.
"""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.session_page import APPLY
from tests.browser.writing import managed
from tests.postgresql import Cluster
from tests.servers import running_server


class TestPostgresql:
    """A session that is shown, pruned, restored and found."""

    def test_serves_the_pages_as_sqlite_does(self, page: Page, tmp_path: Path, cluster: Cluster) -> None:
        """A second server on the same database shows what the first one stored."""
        with cluster.database() as database:
            with running_server(tmp_path, db=database) as server:
                session = managed(server, 40, tokens=400)
                before = server.app.context.get(session).messages
                page.goto(f"{server.url}/sessions/{session}#plan")
                page.locator("plan-panel").get_by_label("Cut to").fill("5")
                page.get_by_role("button", name=APPLY).click()
                toast = page.get_by_role("status").filter(has_text="pruned")
                expect(toast).to_be_visible()
                assert len(server.app.context.get(session).messages) < len(before)
                toast.get_by_role("button", name="Undo").click()
                expect(page.get_by_role("status").filter(has_text="back")).to_be_visible()
                assert server.app.context.get(session).messages == before
                server.app.ingest.append_messages(
                    session, [{"role": "user", "content": "Where is the parser?"}]
                )
                expect(page.get_by_text("Where is the parser?").first).to_be_visible()
            with running_server(tmp_path, db=database) as server:
                page.goto(f"{server.url}/search?q=parser")
                expect(page.get_by_text("Where is the").first).to_be_visible()
                assert list(server.app.verify()) == []

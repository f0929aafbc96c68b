"""The settings page, as several test modules use it."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page

from tests.servers import Server


def of_type(page: Page, name: str) -> Locator:
    """Return the button that shows the weights and keywords of a task type."""
    group = page.get_by_role("group", name="Shown below")
    return group.get_by_role("button", name=re.compile(f"^{name}"))


def open_below(page: Page, server: Server, panel: str) -> None:
    """Open the settings and scroll to a panel below them, which is loaded then."""
    page.goto(f"{server.url}/settings")
    page.locator(panel).scroll_into_view_if_needed()

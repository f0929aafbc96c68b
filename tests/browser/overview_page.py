"""The overview, as several test modules use it."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

# Drops a file [name, text] on the page, or sends it only the given events of a drag.
DROP = """([name, text, types = ["dragover", "drop"]]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name, {type: "application/json"}));
  for (const type of types)
    window.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));
}"""


def listed(page: Page, session: str) -> Locator:
    """Return the sentence of a session in the overview."""
    return page.locator(f'tr[data-id="{session}"] .said')

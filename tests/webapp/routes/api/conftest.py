"""Fixtures of tests of the API."""

from __future__ import annotations

import pytest

from webapp.app import App

TALK = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} word " * 200} for n in range(40)]


@pytest.fixture
def ids(app: App) -> list[str]:
    """The ids of the messages of session `a`."""
    app.new_sessions.create(id="a", model="gpt-5", title="Fix the login")
    found: list[str] = app.ingest.append_messages("a", TALK).ids
    return found

"""The session on which operations are tried."""

from __future__ import annotations

import pytest

from tests.webapp.building import call, followed, result, said, user
from webapp.app import App


@pytest.fixture
def session(app: App) -> str:
    """A session with a request, a call with its result, answers and another request."""
    return followed(app, user("go"), call("c1"), result("c1", "out"), said("well"), user("more"), said("end"))

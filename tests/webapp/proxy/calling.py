"""Calls through the proxy, and the sessions that they make."""

from __future__ import annotations

from typing import Any

import anthropic

from tests.waiting import until
from tests.webapp.proxy.conftest import Way

TOOLS: list[Any] = [
    {"name": "Bash", "description": "Run", "input_schema": {"type": "object", "properties": {}}}
]
FUNCTIONS: list[Any] = [
    {"type": "function", "function": {"name": "bash", "description": "Run", "parameters": {"type": "object"}}}
]
RESPONSE_TOOLS: list[Any] = [
    {"type": "function", "name": "bash", "parameters": {"type": "object"}, "strict": False}
]


def claude(way: Way, session: str) -> anthropic.Anthropic:
    """Return Anthropic's SDK behind the proxy."""
    return anthropic.Anthropic(
        base_url=way.anthropic, api_key="sk-ant-api-x", default_headers={"x-claude-code-session-id": session}
    )


def session_with(way: Way, session_id: str, messages: int) -> Any:
    """Wait until a session has so many messages; return it."""

    def there() -> Any:
        found = [one for one in way.server.app.sessions.list() if one.id == session_id]
        return found and found[0].messages >= messages

    until(there)
    return way.server.app.sessions.get(session_id)

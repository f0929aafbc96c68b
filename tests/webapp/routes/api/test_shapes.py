"""Real answers, compared with the schemas of the OpenAPI document."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.promises import Client
from webapp.routes.api import routes
from webapp.routes.api.routing import Route

TALK = [
    {"role": "user", "content": "Fix the login race."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"cmd": "ls"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "error: not found\n" * 200},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": "Now the tests."},
]

# Required queries, by the name of the route.
QUERIES = {"members_of_group": {"kind": "repeated", "name": ""}}


@pytest.fixture
def fed(client: Client) -> tuple[Client, str]:
    """A client, and the id of a message in a session `a` with a prune, a summary and memories."""
    client.post("/api/sessions", json={"id": "a", "model": "gpt-5"})
    ids = client.post("/api/sessions/a/messages", json={"messages": TALK * 8}).json["ids"]
    client.post("/api/sessions/a/prune", json={"max_tokens": 900})
    client.post("/api/sessions/a/summarize", json={})
    client.post("/api/memories", json={"text": "the login race is in auth.py"})
    client.post("/api/learnings", json={"text": "login tests are slow"})
    client.post("/api/webhooks", json={"url": "http://127.0.0.1:9/"})
    return client, ids[-1]


def of(method: str) -> list[Any]:
    """Return the routes of a method that answer with data."""
    found = [route for route in routes() if route.method == method and route.answers is not None]
    return [pytest.param(route, id=route.name) for route in found]


class TestAnswers:
    """Answers checked against the schemas of the document."""

    @pytest.mark.parametrize("route", of("GET"))
    def test_of_reads_match_their_schema(self, fed: tuple[Client, str], route: Route) -> None:
        """Every GET is made with a session that has data."""
        client, message_id = fed
        path = fill(route.path, message_id)
        searched = {"q": "login"} if route.query and "q" in route.query.model_fields else {}
        query = QUERIES.get(route.name, searched)
        answer = client.get(f"/api{path}", query_string=query)
        assert answer.status_code == 200, answer.text

    def test_of_operations_match_their_schema(self, fed: tuple[Client, str]) -> None:
        """These are plan, prune, undo and each operation on a message."""
        client, message_id = fed
        by_name = {route.name: route for route in routes()}
        sent: dict[str, dict[str, Any]] = {
            "create_session": {"id": "b", "model": "gpt-5"},
            "append_messages": {"messages": TALK},
            "change_session": {"title": "t"},
            "plan_prune": {"max_tokens": 500},
            "apply_prune": {"max_tokens": 500},
        }
        for name in (
            *sent,
            "pin_message",
            "unpin_message",
            "drop_message",
            "restore_message",
            "drop_message_first",
        ):
            route = by_name[name]
            answer = client.open(
                f"/api{fill(route.path, message_id)}", method=route.method, json=sent.get(name, {})
            )
            assert answer.status_code == route.status, f"{name}: {answer.text}"

    def test_of_memory_and_summaries_match_their_schema(self, fed: tuple[Client, str]) -> None:
        """These are all routes that change memories, and those of summaries and overflow."""
        client, message_id = fed
        by_name = {route.name: route for route in routes()}
        messages = [{"role": "user", "content": f"request {n}: " + "more words " * 40} for n in range(12)]
        client.post("/api/sessions/a/messages", json={"messages": messages})
        sent: dict[str, dict[str, Any]] = {
            "add_memory": {"text": "t"},
            "add_learning": {"session_id": "a", "message_id": message_id},
            "change_memory": {"text": "t"},
            "change_learning": {"text": "t"},
            "delete_memory": {},
            "delete_learning": {},
            "expand_summary": {},
            "summarize_session": {},
            "cancel_summary": {},
            "relieve_overflow": {},
        }
        for name, body in sent.items():
            route = by_name[name]
            answer = client.open(f"/api{fill(route.path, message_id)}", method=route.method, json=body)
            assert answer.status_code == route.status, f"{name}: {answer.text}"


def fill(path: str, message_id: str) -> str:
    """Return a path with its parameters filled in."""
    for parameter, value in (
        ("<session_id>", "a"),
        ("<message_id>", message_id),
        ("<memory_id>", "2" if path.startswith("/learnings") else "1"),
        ("<webhook_id>", "1"),
        ("<int(max=2147483647):n>", "1"),
    ):
        path = path.replace(parameter, value)
    return path

"""The context over HTTP: read, planned, pruned and restored."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.formats import FORMATS
from tests.webapp.promises import Client
from tests.webapp.routes.api.conftest import TALK
from webapp.app import App

pytestmark = pytest.mark.usefixtures("ids")

LIST = {"name": "ls", "arguments": "{}"}


class TestAsking:
    """Reading: GET …/context."""

    @pytest.mark.parametrize("name", ["openai", "anthropic", "gemini", "responses"])
    def test_gives_the_list_in_the_requested_format(self, client: Client, name: str) -> None:  # X13
        """The answer has its estimate and its time."""
        context = client.get(f"/api/sessions/a/context?format={name}").json
        assert context["format"] == name
        assert context["tokens"] > 0
        assert context["as_of"].endswith("Z")

    def test_gives_equal_bytes_for_the_same_state(self, client: Client, app: App) -> None:  # C1, C6
        """A later answer is equal and has the time of the last change."""
        first = client.get("/api/sessions/a/context").data
        app.environment.clock = lambda: 4_000_000_000_000
        assert client.get("/api/sessions/a/context").data == first
        client.post("/api/sessions/a/prune", json={"max_tokens": 12_000})
        after = client.get("/api/sessions/a/context")
        assert after.json["as_of"] == "2096-10-02T07:06:40.000Z"
        assert client.get("/api/sessions/a/context").data == after.data

    def test_gives_every_figure_of_the_assembled_context(
        self, client: Client, app: App, ids: list[str]
    ) -> None:  # C5, C1
        """The sizes of summaries, messages and outputs, and the first message behind the summary."""
        results = [
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": LIST}]},
            {"role": "tool", "tool_call_id": "c", "content": "src tests " * 100},
            {"role": "user", "content": "and now?"},
        ]
        app.ingest.append_messages("a", results)
        whole = client.get("/api/sessions/a/context").json
        assert whole["has_summary"] is False
        assert whole["oldest_included_message_id"] == ids[0]
        assert whole["raw_message_tokens"] == whole["tokens"]
        client.post("/api/sessions/a/summarize", json={})
        context = client.get("/api/sessions/a/context").json
        [summary] = client.get("/api/sessions/a/summaries").json["summaries"]
        assert context["has_summary"] is True
        assert context["oldest_included_message_id"] == ids[summary["messages"]]
        assert context["summaries"]["tokens"] + context["raw_message_tokens"] == context["tokens"]
        assert context["tool_output_tokens"] == whole["tool_output_tokens"]
        assert 200 <= context["tool_output_tokens"] < context["raw_message_tokens"]

    @pytest.mark.parametrize("name", sorted(FORMATS))
    @pytest.mark.parametrize("messages", [[], [{"role": "system", "content": "be brief"}]])
    def test_of_a_list_that_cannot_be_valid_is_refused(
        self, client: Client, name: str, messages: list[dict[str, str]]
    ) -> None:  # X6
        """Every provider wants a message of the user; the error says so, and the session can go on."""
        client.post("/api/sessions", json={"id": "new", "model": "gpt-5"})
        if messages:
            client.post("/api/sessions/new/messages", json={"messages": messages})
        refused = client.get(f"/api/sessions/new/context?format={name}")
        error = refused.json["error"]
        assert (refused.status_code, error["type"]) == (422, "invalid_list")
        assert error["details"] == [
            {"field": "messages", "message": "no user message; expected at least one"}
        ]
        client.post("/api/sessions/new/messages", json={"messages": TALK[:1]})
        assert client.get(f"/api/sessions/new/context?format={name}").status_code == 200

    def test_of_an_unknown_format_is_refused(self, client: Client) -> None:
        """The error lists the known formats."""
        answer = client.get("/api/sessions/a/context?format=morse")
        assert answer.status_code == 422
        assert answer.json["error"]["details"][0]["field"] == "format"
        assert "openai" in answer.json["error"]["message"]


class TestPruning:
    """Pruning: POST …/plan, …/prune and …/undo."""

    def test_applies_the_shown_plan(self, client: Client) -> None:  # X1
        """The planned messages are dropped, and the context is within its budget."""
        plan = client.post("/api/sessions/a/plan", json={"max_tokens": 12_000}).json
        applied = client.post("/api/sessions/a/prune", json={"plan_id": plan["plan_id"]}).json
        assert sorted(applied["event"]["removed_ids"]) == sorted(one["id"] for one in plan["removed"])
        assert client.get("/api/sessions/a/stats").json["tokens"] == plan["after"]["tokens"] <= 12_000

    def test_stores_nothing_while_planning(self, client: Client) -> None:  # X1
        """The session is unchanged."""
        before = client.get("/api/sessions/a").json["version"]
        client.post("/api/sessions/a/plan", json={"max_tokens": 8000})
        assert client.get("/api/sessions/a").json["version"] == before

    def test_clears_repeated_outputs_before_dropping(self, client: Client) -> None:  # X7, X3
        """The plan has a group for them, the reason names the other message, and the context a line instead."""
        said: list[Any] = []
        for n in (1, 2):
            call = {"id": f"c{n}", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}
            said.append({"role": "assistant", "content": None, "tool_calls": [call]})
            said.append({"role": "tool", "tool_call_id": f"c{n}", "content": "the same line\n" * 900})
        client.post("/api/sessions/a/messages", json={"messages": [*said, {"role": "user", "content": "on"}]})
        tokens = client.get("/api/sessions/a/stats").json["tokens"]
        plan = client.post("/api/sessions/a/plan", json={"max_tokens": tokens - 100}).json
        [group] = plan["groups"]
        assert (group["cause"], group["fate"], group["messages"]) == ("duplicate", "shortened", 1)
        assert group["tokens"] == plan["freed"]
        assert plan["shortened"][0]["reason"] == "cleared: message 44 holds the same output"
        applied = client.post("/api/sessions/a/prune", json={"plan_id": plan["plan_id"]}).json
        context = client.get("/api/sessions/a/context").json["messages"]
        assert "cleared: the same came again later" in context[41]["content"]
        client.post(f"/api/sessions/a/operations/{applied['operation']['n']}/undo")
        assert client.get("/api/sessions/a/stats").json["tokens"] == tokens

    def test_refuses_a_plan_for_an_older_state(self, client: Client) -> None:  # X1
        """The answer is 409, and nothing is pruned."""
        plan = client.post("/api/sessions/a/plan", json={"max_tokens": 8000}).json
        client.post("/api/sessions/a/messages", json={"messages": [{"role": "user", "content": "more"}]})
        answer = client.post("/api/sessions/a/prune", json={"plan_id": plan["plan_id"]})
        assert (answer.status_code, answer.json["error"]["type"]) == (409, "stale_plan")
        assert client.get("/api/sessions/a/operations").json["operations"] == []

    def test_is_undone_completely(self, client: Client) -> None:  # X2
        """Undo gives the context before, plus all messages appended since."""
        before = client.get("/api/sessions/a/context").json["messages"]
        n = client.post("/api/sessions/a/prune", json={"max_tokens": 8000}).json["operation"]["n"]
        later = {"role": "user", "content": "more"}
        client.post("/api/sessions/a/messages", json={"messages": [later]})
        undone = client.post(f"/api/sessions/a/operations/{n}/undo").json
        assert undone["undone"] == [n]
        assert client.get("/api/sessions/a/context").json["messages"] == [*before, later]

    def test_is_undone_once(self, client: Client) -> None:
        """A second undo has nothing to undo."""
        n = client.post("/api/sessions/a/prune", json={"max_tokens": 8000}).json["operation"]["n"]
        client.post(f"/api/sessions/a/operations/{n}/undo")
        assert client.post(f"/api/sessions/a/operations/{n}/undo").status_code == 409

    def test_spares_chosen_messages(self, client: Client) -> None:
        """Messages are named by id."""
        first = client.post("/api/sessions/a/plan", json={"max_tokens": 8000}).json["removed"][0]["id"]
        again = client.post("/api/sessions/a/plan", json={"max_tokens": 8000, "spare": [first]}).json
        assert first not in [message["id"] for message in again["removed"]]

    def test_tries_settings_without_saving_them(self, client: Client) -> None:  # X4
        """The answer counts the messages whose fate would change."""
        body = {"max_tokens": 8000, "settings": {"weights": {"recency": 0, "length": 65}}, "compare": True}
        plan = client.post("/api/sessions/a/plan", json=body).json
        assert isinstance(plan["changed"], int)
        assert client.get("/api/settings").json["settings"]["weights"]["length"] != 65

    @pytest.mark.parametrize(
        "body",
        [
            {"max_tokens": -1},
            {"strategy": "luck"},
            {"settings": {"weights": {"recency": 1e9}}},
            {"settings": {"nothing": 1}},
            {"max_tokens": 10**30},
        ],
    )
    def test_refuses_absurd_requests(self, client: Client, body: dict[str, Any]) -> None:
        """The answer is 422, with a detail for each wrong field."""
        answer = client.post("/api/sessions/a/plan", json=body)
        assert answer.status_code == 422
        assert answer.json["error"]["details"]


class TestHistory:
    """GET …/operations[/<n>]."""

    def test_lists_operations_and_their_messages(self, client: Client) -> None:
        """The newest is first, and one operation has its messages."""
        n = client.post("/api/sessions/a/prune", json={"max_tokens": 8000}).json["operation"]["n"]
        [operation] = client.get("/api/sessions/a/operations").json["operations"]
        full = client.get(f"/api/sessions/a/operations/{n}").json
        assert (operation["n"], operation["kind"], operation["undoable"]) == (n, "prune", True)
        assert len(full["items"]) == operation["messages"]
        assert all(item["reason"] for item in full["items"])

    def test_can_be_filtered_by_kind(self, client: Client) -> None:
        """An unknown kind is refused."""
        client.post("/api/sessions/a/prune", json={"max_tokens": 8000})
        assert client.get("/api/sessions/a/operations?kind=pin").json["operations"] == []
        assert client.get("/api/sessions/a/operations?kind=luck").status_code == 422

    def test_has_no_unknown_operation(self, client: Client) -> None:
        """The answer is 404."""
        assert client.get("/api/sessions/a/operations/77").status_code == 404

"""/api/sessions, over HTTP."""

from __future__ import annotations

import pytest

from tests.webapp.promises import Client
from webapp.app import App


class TestMaking:
    """POST /api/sessions."""

    def test_gives_the_session(self, client: Client) -> None:
        """The answer is 201, with the session's limits and their source."""
        answer = client.post("/api/sessions", json={"id": "a", "model": "gpt-5", "title": "t"})
        assert answer.status_code == 201
        assert (answer.json["id"], answer.json["kind"], answer.json["model_known"]) == ("a", "managed", True)

    def test_of_an_existing_session_is_a_conflict(self, client: Client) -> None:
        """The answer is 409."""
        client.post("/api/sessions", json={"id": "a", "model": "gpt-5"})
        assert client.post("/api/sessions", json={"id": "a", "model": "gpt-5"}).status_code == 409

    def test_generates_a_missing_id(self, client: Client) -> None:
        """The id is new."""
        made = [client.post("/api/sessions", json={"model": "gpt-5"}).json["id"] for _ in range(3)]
        assert len(set(made)) == 3


@pytest.mark.usefixtures("ids")
class TestOne:
    """GET, PATCH and DELETE /api/sessions/<id>."""

    def test_is_listed_and_found(self, client: Client) -> None:
        """Words, state and source find it."""
        for query in ("", "?q=login", "?source=api", "?state=active"):
            assert [one["id"] for one in client.get(f"/api/sessions{query}").json["sessions"]] == ["a"]
        assert client.get("/api/sessions?q=nothing").json["sessions"] == []

    def test_changes_only_the_sent_fields(self, client: Client) -> None:
        """Other fields stay."""
        changed = client.patch("/api/sessions/a", json={"automatic": True}).json
        assert (changed["automatic"], changed["title"]) == (True, "Fix the login")

    @pytest.mark.parametrize(
        "body",
        [
            {"settings": {"weights": {"recency": -1}}},
            {"settings": {"task_type": "gardening"}},
            {"titel": "x"},
            {"automatic": "yes"},
        ],
    )
    def test_refuses_invalid_fields(self, client: Client, body: dict[str, object]) -> None:
        """The error names the field."""
        answer = client.patch("/api/sessions/a", json=body)
        assert answer.status_code == 422
        assert answer.json["error"]["details"]

    def test_has_a_task_type_that_can_be_changed(self, client: Client) -> None:  # B18
        """The answer has the reason, and null restores the settings."""
        found = client.get("/api/sessions/a").json["task_type"]
        assert (found["name"], found["setting"], found["own"]) == ("chat", "auto", False)
        assert found["reason"] == "looks like chat: no tool was used"
        changed = client.patch("/api/sessions/a", json={"settings": {"task_type": "support"}}).json[
            "task_type"
        ]
        assert (changed["name"], changed["own"]) == ("support", True)
        given_back = client.patch("/api/sessions/a", json={"settings": {"task_type": None}}).json["task_type"]
        assert given_back == found

    def test_is_sent_pruned_only_by_its_proxy(self, client: Client) -> None:  # X13
        """The refusal is in the API's description."""
        refused = client.patch("/api/sessions/a", json={"proxy_prunes": True})
        paths = client.get("/api/openapi.json").json["paths"]
        assert refused.status_code == 409
        assert "409" in paths["/api/sessions/{session_id}"]["patch"]["responses"]

    def test_is_deleted_only_when_its_id_is_repeated(self, client: Client) -> None:
        """A deletion by mistake is refused."""
        assert client.delete("/api/sessions/a").status_code == 400
        assert client.delete("/api/sessions/a?confirm=b").status_code == 400
        assert client.delete("/api/sessions/a?confirm=a").json == {"ok": True}
        assert client.get("/api/sessions/a").status_code == 404

    def test_has_statistics(self, client: Client) -> None:  # B11, X16
        """They are items, tokens, limit, utilization, need of a prune, regions and time."""
        stats = client.get("/api/sessions/a/stats").json
        assert stats["items"] == 40
        assert stats["utilizationPercent"] == pytest.approx(100 * stats["tokens"] / stats["limit"], abs=0.06)
        assert stats["needsPruning"] is False
        assert sum(region["tokens"] for region in stats["regions"]) == stats["tokens"]
        assert stats["as_of"].endswith("Z")

    def test_has_a_timeline(self, client: Client) -> None:
        """The answer has at most the requested number of points."""
        timeline = client.get("/api/sessions/a/timeline?points=5").json
        assert 1 <= len(timeline["points"]) <= 6
        assert client.get("/api/sessions/a/timeline?points=1").status_code == 422

    def test_has_the_aftermath_of_its_events(self, client: Client, app: App) -> None:  # X25
        """It is null until calls follow; then each event has its counts, and savings have the sums."""
        client.post("/api/sessions/a/prune", json={"max_tokens": 500})
        assert client.get("/api/sessions/a/timeline").json["changes"][0]["aftermath"] is None
        assert client.get("/api/savings").json["aftermath"] is None
        steps = [{"role": role, "content": "go on"} for _ in range(21) for role in ("user", "assistant")]
        client.post("/api/sessions/a/messages", json={"messages": steps})
        app.aftermaths.count("a")
        timeline = client.get("/api/sessions/a/timeline").json
        nothing = {"files": 0, "commands": 0, "errors": 0, "said": 0, "tokens": None}
        assert timeline["changes"][0]["aftermath"] == {
            "seen": True, "calls": 20, "complete": True, **nothing,
        }  # fmt: skip
        totals = client.get("/api/savings").json["aftermath"]
        assert totals["kinds"] == [{"kind": "prune", "events": 1}]
        assert totals["events"] == {"windows": 1, **nothing}
        assert timeline["window_calls"] == totals["calls"] == 20

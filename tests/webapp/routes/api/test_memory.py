"""Memories, learnings, summaries, overflow and status over HTTP."""

from __future__ import annotations

import pytest

from tests.webapp.building import call, conversation, followed, managed, mid, result, said, user, wire
from tests.webapp.promises import Client
from webapp.app import App
from webapp.bodies import ModelRow


@pytest.fixture
def session(app: App) -> str:
    """A session with enough messages to summarise."""
    return followed(app, *conversation(6), user("end"))


class TestMemories:
    """Memories and learnings, which have the same routes."""

    @pytest.mark.parametrize("name", ["memories", "learnings"])
    def test_are_kept_read_changed_and_deleted(self, client: Client, name: str) -> None:  # M8
        """There are routes to create, list, read, change and delete."""
        made = client.post(f"/api/{name}", json={"text": "the port is 8080"})
        assert made.status_code == 201
        path = f"/api/{name}/{made.json['id']}"
        assert client.get(path).json == made.json
        assert client.patch(path, json={"text": "the port is 9090"}).json["text"] == "the port is 9090"
        assert [m["id"] for m in client.get(f"/api/{name}?q=9090").json[name]] == [made.json["id"]]
        assert client.get(f"/api/{name}?q=8080").json[name] == []
        assert client.delete(path).json == {"ok": True}
        assert client.get(path).status_code == 404

    @pytest.mark.parametrize("name", ["-1", "abc", "9" * 30, "7"])
    def test_that_are_unknown_are_named_in_the_error(self, client: Client, name: str) -> None:
        """The error repeats the name from the address."""
        for kind, word in (("memories", "memory"), ("learnings", "learning")):
            answer = client.get(f"/api/{kind}/{name}")
            assert (answer.status_code, answer.json["error"]["message"]) == (404, f"no such {word}: {name}")

    def test_are_recorded_from_a_message(self, client: Client, app: App, session: str) -> None:  # M8
        """One request is enough."""
        made = client.post(
            "/api/learnings", json={"session_id": session, "message_id": mid(app, session, 25)}
        )
        assert (made.status_code, made.json["text"]) == (201, "end")
        assert client.get(f"/api/sessions/{session}/proposals").json == {"proposals": []}

    def test_are_proposed_dismissed_and_proposed_again(self, client: Client, app: App) -> None:  # M8
        """Proposals are made across sessions and in one."""
        words = "Never run the migration twice because it drops the table."
        followed(app, user("go"), call("c1"), result("c1", "ok"), said(words), session_id="p")
        texts = [one["text"] for one in client.get("/api/proposals").json["proposals"]]
        assert texts == [words]
        assert client.post("/api/proposals/dismiss", json={"text": words}).json == {"ok": True}
        assert client.get("/api/sessions/p/proposals").json == {"proposals": []}
        assert client.post("/api/proposals/again", json={"text": words}).json == {"ok": True}
        assert len(client.get("/api/proposals").json["proposals"]) == 1

    def test_refuse_an_empty_text(self, client: Client) -> None:
        """The error names the wrong field."""
        answer = client.post("/api/memories", json={"text": "   "})
        assert (answer.status_code, answer.json["error"]["details"][0]["field"]) == (422, "text")


class TestSummaries:
    """Making, reading and expanding summaries."""

    def test_are_made_on_request(self, client: Client, session: str) -> None:  # S8
        """A second summary needs new messages."""
        made = client.post(f"/api/sessions/{session}/summarize", json={})
        assert (made.status_code, made.json["summary"]["id"]) == (200, 1)
        assert client.post(f"/api/sessions/{session}/summarize", json={}).status_code == 409

    def test_are_listed_and_expanded(self, client: Client, session: str) -> None:  # C7
        """Each summary has the messages it covers."""
        client.post(f"/api/sessions/{session}/summarize", json={})
        base = f"/api/sessions/{session}/summaries"
        assert [one["in_context"] for one in client.get(base).json["summaries"]] == [True]
        assert len(client.get(f"{base}/1").json["message_ids"]) == 19
        assert client.get(f"{base}/9").status_code == 404
        assert client.post(f"{base}/1/expand", json={}).json["operation"]["kind"] == "expand"
        assert client.post(f"{base}/1/expand", json={}).status_code == 409

    def test_can_be_cancelled(self, client: Client, session: str) -> None:  # C9
        """`ok` is false if none is being made."""
        assert client.post(f"/api/sessions/{session}/summarize/cancel", json={}).json == {"ok": False}


class TestOverflow:
    """The emergency cut, for an agent whose call was refused."""

    def test_cuts_no_more_than_needed_without_a_refusal(self, client: Client, app: App) -> None:  # S5, B7
        """A user's request does not halve the turns, and a context that fits is unchanged."""
        app.models.put("small", ModelRow(window=16_384))
        said = [wire("user", f"{n} " + "use src/parser.py " * 160) for n in range(13)]
        big = managed(app, *said, model="small", settings={"fresh_tail": 16})
        over = client.post(f"/api/sessions/{big}/plan", json={}).json["over_budget"]
        assert over["emergency"]
        made = client.post(f"/api/sessions/{big}/overflow", json={"reported": False}).json
        assert (made["operation"]["actor"], made["event"]["reason"]) == ("user", "manual")
        assert made["operation"]["tokens_after"] <= over["usable"]
        again = client.post(f"/api/sessions/{big}/overflow", json={"reported": False})
        assert again.status_code == 409

    def test_cuts_the_context(self, client: Client, session: str) -> None:  # P6
        """The answer lists the changes."""
        made = client.post(f"/api/sessions/{session}/overflow", json={})
        assert made.json["emergency"]["dropped"] == 12
        assert made.json["event"]["reason"] == "emergency"


class TestStatus:
    """The status view of a session."""

    def test_has_triggers_and_a_line(self, client: Client, session: str) -> None:  # S7
        """Reading it changes nothing."""
        status = client.get(f"/api/sessions/{session}/status").json
        assert [one["text"] for one in status["triggers"]][:1] == ["Messages 25"]
        assert status["line"].startswith("tokens: ")
        assert client.get("/api/sessions/nope/status").status_code == 404

    def test_has_its_line_in_the_answer_to_each_append(self, client: Client) -> None:  # S7
        """Switched on for one session, it names the size after the append; otherwise there is none."""
        client.post("/api/sessions", json={"id": "new", "model": "gpt-5"})
        hello = {"messages": [{"role": "user", "content": "hello"}]}
        assert client.post("/api/sessions/new/messages", json=hello).json["line"] is None
        client.patch("/api/sessions/new", json={"settings": {"status_line": True}})
        for _ in range(2):
            line = client.post("/api/sessions/new/messages", json=hello).json["line"]
            stats = client.get("/api/sessions/new/stats").json
            tokens, limit = f"{stats['tokens']:,}", f"{stats['limit']:,}"
            assert line.startswith(f"tokens: {tokens} msgs + 0 tools | context: {tokens} / {limit} (")
        client.patch("/api/sessions/new", json={"settings": {"status_line": None}})
        assert client.post("/api/sessions/new/messages", json=hello).json["line"] is None

    def test_is_part_of_the_stats(self, client: Client, session: str) -> None:  # S7
        """Both have the same bars."""
        stats = client.get(f"/api/sessions/{session}/stats").json
        assert stats["triggers"] == client.get(f"/api/sessions/{session}/status").json["triggers"]

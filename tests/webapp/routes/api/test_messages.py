"""Messages of a session, over HTTP."""

from __future__ import annotations

import pytest

from tests.webapp.promises import Client


class TestAppending:
    """POST /api/sessions/<id>/messages."""

    @pytest.mark.parametrize(
        "message",
        [
            {"role": "user", "content": "hello"},
            {"role": "user", "content": [{"type": "text", "text": "hello"}]},
            {"role": "user", "parts": [{"text": "hello"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        ],
    )
    def test_takes_any_wire_format(self, client: Client, message: dict[str, object]) -> None:
        """The formats are OpenAI chat, Anthropic, Gemini and OpenAI Responses."""
        client.post("/api/sessions", json={"id": "b", "model": "gpt-5"})
        answer = client.post("/api/sessions/b/messages", json={"messages": [message]}).json
        assert answer["added"] == 1
        assert client.get(f"/api/sessions/b/messages/{answer['ids'][0]}").json["text"] == "hello"

    @pytest.mark.parametrize(
        ("messages", "field"),
        [
            ([{"role": "wizard"}], "messages"),
            ([{"no": "role"}], "messages"),
            ([5], "messages"),
            ([{"role": "user", "content": "hi"}, 5], "messages.1"),
            ([{"role": "user", "content": 5}], "messages.0"),
        ],
    )
    def test_of_an_invalid_message_is_refused(
        self, client: Client, messages: list[object], field: str
    ) -> None:
        """The answer is 400 with its place, and nothing is stored."""
        client.post("/api/sessions", json={"id": "b", "model": "gpt-5"})
        answer = client.post("/api/sessions/b/messages", json={"messages": messages})
        assert answer.status_code == 400
        assert answer.json["error"]["details"][0]["field"].startswith(field)
        assert client.get("/api/sessions/b").json["messages"] == 0

    def test_twice_under_one_key_happens_once(self, client: Client) -> None:
        """The second answer equals the first, and other messages under the key are a conflict."""
        client.post("/api/sessions", json={"id": "b", "model": "gpt-5"})
        body = {"messages": [{"role": "user", "content": "hello"}], "idempotency_key": "k"}
        first, again = (client.post("/api/sessions/b/messages", json=body).json for _ in range(2))
        assert first == again
        other = {**body, "messages": [{"role": "user", "content": "other"}]}
        assert client.post("/api/sessions/b/messages", json=other).status_code == 409


class TestPages:
    """GET /api/sessions/<id>/messages."""

    def test_contain_all_messages_once(self, client: Client, ids: list[str]) -> None:
        """The cursor goes from the newest to the oldest message."""
        seen: list[str] = []
        after = ""
        while True:
            page = client.get(f"/api/sessions/a/messages?limit=7{after}").json
            seen += [message["id"] for message in page["messages"]]
            if page["next"] is None:
                break
            after = f"&after={page['next']}"
        assert seen == ids[::-1]

    def test_in_brief_have_short_texts(self, client: Client, ids: list[str]) -> None:
        """Messages have at most 80 characters of text and no contributions."""
        client.post(
            "/api/sessions/a/messages", json={"messages": [{"role": "user", "content": "word " * 60}]}
        )
        full, brief = (client.get(f"/api/sessions/a/messages{query}").json for query in ("", "?brief=true"))
        assert [m["id"] for m in brief["messages"]] == [m["id"] for m in full["messages"]]
        assert brief["messages"][0]["text"] == full["messages"][0]["text"][:79] + "…"
        assert all(m["signals"] == m["contributions"] == {} for m in brief["messages"])

    def test_can_leave_out_contributions(self, client: Client, ids: list[str]) -> None:
        """Closed rows of a list need no parts."""
        full, rows = (
            client.get(f"/api/sessions/a/messages{query}").json["messages"]
            for query in ("", "?without_parts=true")
        )
        assert rows == [{**message, "signals": {}, "contributions": {}} for message in full]

    def test_explain_every_message(self, client: Client, ids: list[str]) -> None:  # X3
        """Each has score, contributions that add up to it, tokens, unit, fate and reason."""
        messages = client.get("/api/sessions/a/messages").json["messages"]
        assert {message["id"] for message in messages} == set(ids) != set()
        for message in messages:
            assert message["fate"] in ("kept", "protected", "goes", "shortened")
            assert message["reason"]
            assert sum(message["contributions"].values()) == pytest.approx(message["score"], abs=0.1)

    @pytest.mark.parametrize(
        "query", ["sort=best", "limit=0", "limit=9999", "role=wizard", "after=x", "fate=luck"]
    )
    @pytest.mark.usefixtures("ids")
    def test_refuse_invalid_parameters(self, client: Client, query: str) -> None:
        """The error names the parameter."""
        answer = client.get(f"/api/sessions/a/messages?{query}")
        assert answer.status_code == 422
        assert answer.json["error"]["details"][0]["field"] == query.partition("=")[0]


class TestOperations:
    """POST …/messages/<mid>/pin and its siblings."""

    def test_pin_and_unpin(self, client: Client, ids: list[str]) -> None:  # X5
        """The message is marked accordingly."""
        client.post(f"/api/sessions/a/messages/{ids[3]}/pin")
        pinned = client.get(f"/api/sessions/a/messages/{ids[3]}").json["pinned"]
        client.post(f"/api/sessions/a/messages/{ids[3]}/unpin")
        assert (pinned, client.get(f"/api/sessions/a/messages/{ids[3]}").json["pinned"]) == (True, False)

    def test_drop_and_restore(self, client: Client, ids: list[str]) -> None:  # X2, B15
        """A dropped message is in the archive, and returns to its place."""
        before = client.get("/api/sessions/a/context").json["messages"]
        client.post(f"/api/sessions/a/messages/{ids[3]}/drop")
        archived = [message["id"] for message in client.get("/api/sessions/a/archive?q=3").json["messages"]]
        assert archived == [ids[3]]
        assert len(client.get("/api/sessions/a/context").json["messages"]) == len(before) - 1
        client.post(f"/api/sessions/a/messages/{ids[3]}/restore")
        assert client.get("/api/sessions/a/context").json["messages"] == before

    def test_drop_first(self, client: Client, ids: list[str]) -> None:  # X5
        """The next plan drops it before all others."""
        client.post(f"/api/sessions/a/messages/{ids[9]}/drop-first")
        tokens = client.get("/api/sessions/a/stats").json["tokens"]
        plan = client.post("/api/sessions/a/plan", json={"max_tokens": tokens - 10}).json
        assert [message["id"] for message in plan["removed"]] == [ids[9]]

    @pytest.mark.parametrize("act", ["pin", "unpin", "restore", "drop", "drop-first"])
    @pytest.mark.parametrize("message", ["nobody", "1-00", "999999999999999999999-ab", "%00"])
    @pytest.mark.usefixtures("ids")
    def test_on_an_unknown_message_are_not_found(self, client: Client, act: str, message: str) -> None:
        """The answer is 404."""
        assert client.post(f"/api/sessions/a/messages/{message}/{act}").status_code == 404

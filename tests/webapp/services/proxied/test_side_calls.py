"""Calls for titles and summaries that do not name the session that they are of."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from scoring.messages import Message, Text
from tests.webapp.promises import Client
from tests.webapp.services.proxied.copies import hand_over, said, take, user
from webapp.agents.records import Entry
from webapp.app import App
from webapp.services.proxied.side_calls import SideCalls
from webapp.store.sessions import SessionRow

NOW = datetime(2026, 11, 1, tzinfo=UTC)
TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
ASKED = "Please count the beds in the northern garden."
SUMMARY = f"<conversation>\n[User]: {ASKED}\n\n[Assistant]: Seven.\n</conversation>\n\nSum it up."
TITLE = f"Write a title of three words.\n\nUser prompt:\n{ASKED}"


@pytest.fixture(autouse=True)
def _now(app: App) -> None:
    app.environment.clock = lambda: int(NOW.timestamp() * 1000)


def below(client: Client, name: str) -> list[str]:
    """Return the ids of the sessions below a session."""
    sessions = client.get("/api/sessions").get_json()["sessions"]
    return [one["id"] for one in sessions if one["parent_id"] == name]


def title_thread(client: Client, text: str = TITLE, **more: Any) -> str:
    """Send the copy of a call of Codex for a title, which has a session id and tools of its own; return its session."""
    metadata = {"x-codex-turn-metadata": json.dumps({"thread_id": "t", "thread_source": "thread_title"})}
    tools = {"type": "additional_tools", "role": "developer", "tools": TOOLS}
    listed = [tools, {"type": "message", **user("# Rules")}, {"type": "message", **user(text)}]
    asked = {"model": "gpt-5.5", "input": listed, "client_metadata": metadata, "prompt_cache_key": "t"}
    answer = {"id": "r1", "status": "completed", "model": "gpt-5.5", "output": [{"type": "message", **said("Beds")}],
              "usage": {"input_tokens": 100, "output_tokens": 10}}  # fmt: skip
    return str(hand_over(client, "/v1/responses", asked, answer, "proxy-t", **more).get_json()["session_id"])


class TestSideCalls:
    """Calls on the side of a session that they do not name."""

    @pytest.mark.parametrize("asked", [[user(SUMMARY)], [user(TITLE)], [user("Write a title:"), user(ASKED)]])
    def test_are_below_the_session_that_they_quote(self, client: Client, asked: list[Any]) -> None:  # X13
        """OpenCode 1.2 asks for a title so, pi for the summary of a compaction."""
        take(client, [user("Another question that nobody asks about.")], tools=TOOLS, session="proxy-other")
        take(client, [user(ASKED)], tools=TOOLS)
        found = take(client, asked, "Beds", session="").get_json()
        assert below(client, "proxy-s") == [found["session_id"]]
        assert client.get("/api/sessions/proxy-s").get_json()["messages"] == 2

    @pytest.mark.parametrize(("words", "count"), [("Count beds", 1), ("Count", 0), ("Count the bed", 0)])
    def test_quote_short_words_as_lines(self, client: Client, words: str, count: int) -> None:  # X13
        """Few words can be a part of any text."""
        take(client, [user(words)], tools=TOOLS)
        take(client, [user("[User]: Count beds\n\n[Assistant]: Count the beds?")], "Beds", session="")
        take(client, [user("Sum up:\n   <text>\n   Count beds\n   </text>")], "Beds", session="")
        assert len(below(client, "proxy-s")) == 2 * count

    def test_are_below_a_followed_session(self, app: App, client: Client) -> None:  # X13
        """The words are in its transcript."""
        app.ingest.ensure("s", "pi")
        app.ingest.append_records("s", [Entry(Message("user", (Text(ASKED),)), "u", at=NOW)])
        found = take(client, [user(SUMMARY)], "Beds", session="").get_json()
        assert below(client, "s") == [found["session_id"]]

    @pytest.mark.parametrize("first", [True, False])
    def test_are_known_by_their_agent(self, client: Client, first: bool) -> None:  # X13
        """A thread of Codex for a title can come before the first call of the session, too."""
        if first:
            assert title_thread(client) == "proxy-t"
        take(client, [user("# Rules"), user(ASKED)], tools=TOOLS)
        if not first:
            assert title_thread(client) == "proxy-t"
        assert below(client, "proxy-s") == ["proxy-t"]

    def test_can_come_before_their_session(self, client: Client) -> None:  # X13
        """They are listed below it from its first call on."""
        found = take(client, [user(TITLE)], "Beds", session="").get_json()
        take(client, [user("Another question that nobody asks about.")], tools=TOOLS, session="proxy-other")
        assert below(client, "proxy-other") == []
        take(client, [user(ASKED)], tools=TOOLS)
        assert below(client, "proxy-s") == [found["session_id"]]

    def test_can_come_before_the_transcript_of_their_session(self, app: App, client: Client) -> None:  # X13
        """The next call of the session finds them."""
        app.ingest.ensure("s", "pi")
        take(client, [user(ASKED)], tools=TOOLS)
        found = take(client, [user(SUMMARY)], "Beds", session="").get_json()
        assert below(client, "s") == []
        take(client, [user(ASKED), said("Yes."), user("And the southern one?")], tools=TOOLS)
        assert below(client, "s") == [found["session_id"]]

    def test_stay_below_a_session_whose_transcript_appears_meanwhile(
        self, app: App, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X13
        """The session that the proxy made is gone when the side call is listed below it."""
        take(client, [user(ASKED)], tools=TOOLS)
        listed = SideCalls.list_below

        def later(side_calls: SideCalls, name: str, row: SessionRow) -> None:
            app.ingest.ensure("s", "pi")
            listed(side_calls, name, row)

        monkeypatch.setattr(SideCalls, "list_below", later)
        assert title_thread(client) == "proxy-t"
        assert below(client, "s") == ["proxy-t"]

    @pytest.mark.parametrize(
        "asked",
        [
            [user(ASKED)],
            [user("Please count the beds.")],
            [user("Hi"), said("Hello"), user(SUMMARY)],
            [user(f"{SUMMARY} In the southern one, too?"), said("No."), user("Why?")],
        ],
    )
    def test_are_no_conversations(self, client: Client, asked: list[Any]) -> None:  # X13
        """A list with the same question alone, with other words or with answers is a session of its own."""
        take(client, [user(ASKED)], tools=TOOLS)
        take(client, asked, "Seven.", session="")
        assert below(client, "proxy-s") == []

    def test_are_none_of_programs_without_tools(self, client: Client) -> None:  # X13
        """Their questions can quote each other."""
        take(client, [user(ASKED)], "Seven.", session="")
        take(client, [user(SUMMARY)], "Beds.", session="")
        sessions = client.get("/api/sessions").get_json()["sessions"]
        assert [one["parent_id"] for one in sessions] == [None, None]

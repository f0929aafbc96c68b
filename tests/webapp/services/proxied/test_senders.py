"""Copies of calls from a user's own machine: they reach the sessions of that user alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.webapp.building import entries, said, user
from tests.webapp.promises import Client
from webapp.access.passes import SENDER
from webapp.app import App

Take = Callable[..., Any]


@pytest.fixture(autouse=True)
def hints_folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the scripts of a test to itself."""
    monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))


@pytest.fixture
def take(app: App, client: Client) -> Take:
    """Return a function that hands over a call in a user's name; "" has a token without one."""
    tokens = {name: app.keys.make(name, SENDER)[1] for name in ("ada", "eve", "")}

    def taken(by: str, text: str = "a", session: str = "", **more: Any) -> Any:
        asked = more.pop("messages", [{"role": "user", "content": text}])
        answer = {
            "id": f"call-{by}-{len(asked)}-{text}", "model": "gpt-5.1",
            "usage": {"prompt_tokens": 9, "completion_tokens": 1},
            "choices": [{"message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}],
        }  # fmt: skip
        fields = {name: more.pop(name) for name in ("tools", "prompt_cache_key") if name in more}
        body = {
            "provider": "openai", "path": "/v1/chat/completions", "session": session, "parent": None, "status": 200,
            "request": json.dumps({"model": "gpt-5.1", "messages": asked, **fields}), "answer": json.dumps(answer),
            "whole": True, "at": 1_780_000_000_000, "applied": "", "reason": "", "subscription": False, **more,
        }  # fmt: skip
        return client.post("/api/proxy/calls", json=body, headers={"Authorization": f"Bearer {tokens[by]}"})

    return taken


def pushed(app: App, session_id: str, owner: str) -> None:
    """Make a session as another machine pushes it."""
    app.ingest.ensure(session_id, "claude-code", state={"owner": owner, "host": "laptop"} if owner else {})
    app.ingest.append_records(session_id, entries(user("a long enough first question"), said("an answer")))


def messages(app: App, session_id: str) -> int:
    """Return how many messages a session has."""
    return app.sessions.get(session_id).messages


class TestCallsOfAUser:
    """Calls that come with a sender's token."""

    def test_make_a_session_of_that_user(self, app: App, take: Take) -> None:
        """As pushed transcripts do."""
        take("ada", session="proxy-s")
        assert app.sessions.get("proxy-s").user == "ada"

    def test_are_not_added_to_the_proxied_session_of_another(self, app: App, take: Take) -> None:
        """Not by its name, not as a sub-agent of it, and nothing of it changes."""
        take("ada", session="proxy-s")
        before = app.store.sessions.get("proxy-s").version
        assert take("eve", "forged", "proxy-s").status_code == 409
        assert take("eve", "forged", "proxy-e", parent="proxy-s").status_code == 409
        assert app.store.sessions.get("proxy-s").version == before
        assert app.store.sessions.find("proxy-e") is None

    def test_are_not_added_to_the_followed_session_of_another(self, app: App, take: Take) -> None:
        """Neither to one that was pushed, nor to one of the server's own agents."""
        for name, owner in (("s", "ada"), ("t", "")):
            pushed(app, name, owner)
            take("eve", "forged", f"proxy-{name}")
            take("eve", "forged", prompt_cache_key=name)
            assert app.sessions.get(name).proxy is None

    def test_do_not_find_the_session_of_another_by_its_messages(self, app: App, take: Take) -> None:
        """Two users may ask the same, and neither learns the id of the other's session."""
        first = take("ada").json["session_id"]
        asked = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "Yes."}]
        later = take("eve", messages=[*asked, {"role": "user", "content": "b"}]).json["session_id"]
        assert later != first
        again = take("ada", messages=[*asked, {"role": "user", "content": "b"}]).json["session_id"]
        assert again == first

    def test_join_the_transcript_that_the_user_pushes(self, app: App, take: Take) -> None:
        """As on one machine."""
        pushed(app, "s", "ada")
        assert take("ada", session="proxy-s").json == {"session_id": "s", "added": 0}

    def test_are_not_taken_over_by_a_transcript_of_another(self, app: App, take: Take) -> None:
        """A pushed session of the same name deletes nothing of another user."""
        take("ada", session="proxy-s")
        pushed(app, "s", "eve")
        assert messages(app, "proxy-s") == 2
        assert take("ada", "b", "proxy-s").json["session_id"] == "proxy-s"

    def test_of_a_token_without_a_name_join_every_session(self, app: App, take: Take) -> None:
        """Such a token is bound to no user, like the proxy of the server's own machine."""
        pushed(app, "s", "ada")
        pushed(app, "t", "")
        assert take("", session="proxy-s").json["session_id"] == "s"
        assert take("", session="proxy-t").json["session_id"] == "t"

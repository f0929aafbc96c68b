"""Copies of calls from a user's machine, which reach only the sessions of that user."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.webapp.building import entries, said, user
from tests.webapp.promises import Client
from webapp.access.identity import SENDER
from webapp.app import App

Take = Callable[..., Any]


@pytest.fixture
def take(app: App, client: Client) -> Take:
    """A function that sends the copy of a call with a user's token; "" has a token without a user."""
    tokens = {name: app.access_tokens.make(name, SENDER)[1] for name in ("ada", "eve", "")}

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
    """Create a session as another machine pushes it."""
    app.ingest.ensure(session_id, "claude-code", state={"owner": owner, "host": "laptop"} if owner else {})
    app.ingest.append_records(session_id, entries(user("a long enough first question"), said("an answer")))


def messages(app: App, session_id: str) -> int:
    """Return the number of messages of a session."""
    return app.sessions.get(session_id).messages


class TestCallsOfAUser:
    """Calls sent with the token of a user."""

    def test_create_a_session_of_that_user(self, app: App, take: Take) -> None:
        """The session belongs to the user, like a pushed transcript."""
        take("ada", session="proxy-s")
        assert app.sessions.get("proxy-s").user == "ada"

    def test_cannot_extend_the_proxied_session_of_another(self, app: App, take: Take) -> None:
        """They are refused under its name and as its sub-agent, and it does not change."""
        take("ada", session="proxy-s")
        before = app.store.sessions.get("proxy-s").version
        assert take("eve", "forged", "proxy-s").status_code == 409
        assert take("eve", "forged", "proxy-e", parent="proxy-s").status_code == 409
        assert app.store.sessions.get("proxy-s").version == before
        assert app.store.sessions.find("proxy-e") is None

    def test_cannot_extend_the_followed_session_of_another(self, app: App, take: Take) -> None:
        """This holds for a pushed session and for one of the server's own agents."""
        for name, owner in (("s", "ada"), ("t", "")):
            pushed(app, name, owner)
            take("eve", "forged", f"proxy-{name}")
            take("eve", "forged", prompt_cache_key=name)
            assert app.sessions.get(name).proxy is None

    def test_never_join_the_session_of_another_by_its_messages(self, app: App, take: Take) -> None:
        """Two users may ask the same; neither learns the id of the other's session."""
        first = take("ada").json["session_id"]
        asked = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "Yes."}]
        later = take("eve", messages=[*asked, {"role": "user", "content": "b"}]).json["session_id"]
        assert later != first
        again = take("ada", messages=[*asked, {"role": "user", "content": "b"}]).json["session_id"]
        assert again == first

    def test_join_the_pushed_transcript_of_the_user(self, app: App, take: Take) -> None:
        """The call belongs to the pushed session, as on one machine."""
        pushed(app, "s", "ada")
        assert take("ada", session="proxy-s").json == {"session_id": "s", "added": 0}

    def test_are_not_replaced_by_a_transcript_of_another(self, app: App, take: Take) -> None:
        """A pushed session of the same name does not replace another user's session."""
        take("ada", session="proxy-s")
        pushed(app, "s", "eve")
        assert messages(app, "proxy-s") == 2
        assert take("ada", "b", "proxy-s").json["session_id"] == "proxy-s"

    def test_with_a_token_of_no_user_join_any_session(self, app: App, take: Take) -> None:
        """Such a token acts like the proxy on the server's machine."""
        pushed(app, "s", "ada")
        pushed(app, "t", "")
        assert take("", session="proxy-s").json["session_id"] == "s"
        assert take("", session="proxy-t").json["session_id"] == "t"

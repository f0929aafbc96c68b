"""Faults around the proxy: a dead server, a refusing provider, a subscription, the kill switch."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.reach.upstream import Upstream, _digest, strict_upstream
from tests.waiting import until
from tests.webapp.proxy.bare_provider import BareProvider
from tests.webapp.proxy.conftest import running_proxy
from tests.webapp.proxy.edit_files import LONG, script, user
from webapp.agents.hook_runtime import hints
from webapp.commands.proxying import switch_pruning

DEAD = "http://127.0.0.1:9"
TOO_LONG = "prompt is too long: 7 tokens > 6 maximum"
# The words of Anthropic, OpenAI, Bedrock and Gemini.
REFUSALS = (
    TOO_LONG,
    "This model's maximum context length is 6 tokens.",
    "Input is too long for requested model.",
    "The input token count (7) exceeds the maximum number of tokens allowed (6).",
)
# Files of scripts that were damaged, or written by something else.
DAMAGED = (
    "",
    "{",
    "[]",
    '{"version": 1}',
    '{"version": "1", "prunes": true, "edits": [1]}',
    '{"version": "1", "prunes": true, "edits": {"key": 1}}',
    '{"version": "1", "prunes": true, "edits": {}, "tail": [1]}',
    '{"version": "1", "prunes": true, "edits": {}, "session": 1}',
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of scripts for this module."""
    made = tmp_path_factory.mktemp("trust")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COPPICE_HINTS", str(made / "hints"))
        Path(hints.proxy_folder()).mkdir()
        yield made


@pytest.fixture(scope="module")
def provider() -> Iterator[Upstream]:
    """A strict provider."""
    with strict_upstream() as made:
        yield made


@pytest.fixture(scope="module")
def url(provider: Upstream, folder: Path) -> Iterator[str]:
    """Return the address of a proxy whose server is dead."""
    with running_proxy(provider.url, DEAD, folder) as made:
        yield made


def call(url: str, name: str, messages: list[Any], key: str = "sk-x", **fields: Any) -> httpx.Response:
    """Make a call of chat completions; "" names no session."""
    headers = {"authorization": f"Bearer {key}", **({"x-coppice-session": name} if name else {})}
    body = {"model": "gpt-5.1", "messages": messages, **fields}
    return httpx.post(f"{url}/openai/v1/chat/completions", json=body, headers=headers, timeout=60)


def sent(provider: Upstream) -> Any:
    """Return the messages of the last request."""
    return provider.requests[-1][2]["messages"]


class Stuck(BareProvider):
    """A server that accepts copies and never answers; `taken` counts the connections."""

    def __init__(self) -> None:
        self.taken = 0
        super().__init__()

    def converse(self, client: socket.socket) -> None:
        """Read all bytes."""
        self.taken += 1
        while client.recv(65_536):
            pass


class TestAStuckServer:
    """A server that does not answer."""

    def test_delays_no_call(self, provider: Upstream, folder: Path) -> None:  # X13
        """While a copy waits for the server, calls are still answered and pruned."""
        with closing(Stuck()) as stuck, running_proxy(provider.url, stuck.url, folder) as one:
            assert call(one, "first", LONG).status_code == 200
            until(lambda: stuck.taken == 1)
            script("stuck", LONG, 1, 2)
            with ThreadPoolExecutor(10) as several:
                answers = list(several.map(lambda n: call(one, f"stuck-{n}", LONG), range(20)))
            assert {answer.status_code for answer in answers} == {200}
            assert call(one, "stuck", [*LONG, user("e")]).status_code == 200
            assert sent(provider) == [LONG[0], LONG[3], user("e")]
            assert stuck.taken == 1


class TestADeadServer:
    """A server that has ended; its scripts are files."""

    def test_does_not_change_requests(self, url: str, provider: Upstream) -> None:  # X13
        """Requests are still pruned, and the next one has the same prefix."""
        script("dead", LONG, 1, 2)
        for more in ([user("e")], [user("e"), {"role": "assistant", "content": "f"}, user("g")]):
            assert call(url, "dead", [*LONG, *more]).status_code == 200
            assert sent(provider) == [LONG[0], LONG[3], *more]

    def test_does_not_prevent_finding_a_session(self, url: str, provider: Upstream) -> None:  # X13
        """The request contains the last message that the server knew of the session."""
        messages = [user("nameless"), *LONG[1:]]
        script("nameless", messages, 1, 2)
        call(url, "", [*messages, user("e")])
        assert sent(provider) == [messages[0], messages[3], user("e")]

    def test_does_not_prevent_finding_the_session_of_an_edited_question(  # X13
        self, provider: Upstream, folder: Path
    ) -> None:
        """The last message that the server knew is gone, but the prune took effect in the same history."""
        messages = [user("asked anew"), *LONG[1:], user("e")]
        script("asked", messages[:-1], 1, 2)
        for more in ([], [{"role": "assistant", "content": "f"}, user("g")]):
            with running_proxy(provider.url, DEAD, folder) as one:
                call(one, "", [*messages, *more])
            assert sent(provider) == [messages[0], messages[3], user("e"), *more]
            script("asked", [*messages, {"role": "assistant", "content": "f"}, user("another g")], 1, 2)

    def test_leaves_an_edited_history_unchanged(self, url: str, provider: Upstream) -> None:  # X13
        """A script applies only to the history it was made for."""
        script("edited", LONG, 1, 2)
        edited = [user("another beginning"), *LONG[1:], user("e")]
        call(url, "edited", edited)
        assert sent(provider) == edited

    def test_does_not_matter_to_a_restarted_proxy(self, provider: Upstream, folder: Path) -> None:  # X13
        """An active script stays active after a restart, and the next one waits."""
        thought = {"type": "thinking", "thinking": "x", "signature": "s"}
        tool = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
        loop = [user("e"), {"role": "assistant", "content": [thought, tool]}]
        loop.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "o"}]}
        )
        headers = {"x-api-key": "k", "x-coppice-session": "again"}

        def ask(messages: list[Any]) -> Any:
            with running_proxy(provider.url, DEAD, folder) as one:
                body = {"model": "claude-x", "max_tokens": 9, "messages": messages}
                httpx.post(f"{one}/anthropic/v1/messages", json=body, headers=headers, timeout=60)
            return sent(provider)

        script("again", LONG, 1, 2)
        assert ask([*LONG, user("e")]) == [LONG[0], LONG[3], user("e")]
        script("again", LONG, 1, version="2")
        # The prefix that the model has seen.
        provider.signatures["s"] = _digest([LONG[0], LONG[3], user("e")])
        assert ask([*LONG, *loop])[:2] == [LONG[0], LONG[3]]


class TestAProviderThatRefuses:
    """A provider that refuses a pruned request."""

    @pytest.mark.parametrize("status", [400, 422])
    def test_gets_the_original_request(  # X13
        self, url: str, provider: Upstream, monkeypatch: pytest.MonkeyPatch, status: int
    ) -> None:
        """The original request is sent next, and the session is unpruned until its next prune."""
        monkeypatch.setattr(provider, "refusal", status)
        name = f"refused-{status}"
        script(name, LONG, 1)
        provider.refuses = lambda body: "no" if len(body["messages"]) == 4 else None
        messages = [*LONG, user("e")]
        assert call(url, name, messages).status_code == 200
        provider.clear()
        assert call(url, name, messages).status_code == 200
        assert [len(body["messages"]) for body in provider.bodies("/chat")] == [5]
        script(name, LONG, 1, 2, version="2")
        call(url, name, messages)
        provider.refuses = None
        assert len(sent(provider)) == 3

    def test_of_itself_keeps_its_session_pruned(self, url: str, provider: Upstream) -> None:  # X13
        """A request that is refused unchanged, too, says nothing against the prune: the next one is pruned again."""
        script("wrong", LONG, 1, 2)
        provider.refuses = lambda body: "blank" if body["messages"][-1]["content"] == "" else None
        assert call(url, "wrong", [*LONG, user("")]).status_code == 400
        assert sent(provider) == [*LONG, user("")]
        assert call(url, "wrong", [*LONG, user("e")]).status_code == 200
        provider.refuses = None
        assert sent(provider) == [LONG[0], LONG[3], user("e")]

    @pytest.mark.parametrize("said", REFUSALS)
    def test_as_too_long_gets_no_longer_one(self, url: str, provider: Upstream, said: str) -> None:  # X13, P6
        """The client gets that refusal, on which it may shorten its history, and the next request is pruned again."""
        script("long", LONG, 1, 2)
        provider.clear()
        provider.refuses = lambda _: said
        answer = call(url, "long", [*LONG, user("e")])
        provider.refuses = None
        assert (answer.status_code, answer.json()["error"]["message"]) == (400, said)
        call(url, "long", [*LONG, user("e")])
        assert [len(body["messages"]) for body in provider.bodies("/chat")] == [3, 3]

    @pytest.mark.parametrize("mode", ["adaptive", "enabled"])
    def test_a_running_loop_as_too_long_gets_the_waiting_prune(  # X13, P6
        self, url: str, provider: Upstream, mode: str
    ) -> None:
        """Otherwise the loop could never end. Models with adaptive thinking take it without its thoughts."""
        thought = {"type": "thinking", "thinking": "x", "signature": f"s-{mode}"}
        tool = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "o"}]}
        loop = [*LONG, user("e"), {"role": "assistant", "content": [thought, tool]}, result]
        kept = [LONG[0], LONG[3], user("e")]
        provider.signatures[f"s-{mode}"] = _digest(kept)
        blocks = [tool] if mode == "adaptive" else [thought, tool]
        kept += [{"role": "assistant", "content": blocks}, result]
        headers = {"x-api-key": "k", "x-coppice-session": f"loop-{mode}"}
        script(f"loop-{mode}", LONG, 1, 2)
        provider.clear()
        provider.refuses = lambda body: TOO_LONG if len(body["messages"]) > 6 else None
        for more in ([], [user("f")]):
            body = {"model": "claude-x", "max_tokens": 9, "messages": [*loop, *more]}
            body["thinking"] = {"type": mode}
            answer = httpx.post(f"{url}/anthropic/v1/messages", json=body, headers=headers, timeout=60)
            assert answer.status_code == 200
            assert sent(provider) == [*kept, *more]
        provider.refuses = None
        assert [len(body["messages"]) for body in provider.bodies("/messages")] == [7, 5, 6]


class TestUnchangedRequests:
    """Requests that are never changed, even with pruning switched on."""

    def test_include_those_of_subscriptions(self, url: str, provider: Upstream) -> None:  # X13
        """A request with the token of a login is passed on byte for byte."""
        script("login", LONG, 1, 2)
        messages = [*LONG, user("e")]
        call(url, "login", messages, key="eyJhbGciOiJSUzI1NiJ9.x.y")
        assert sent(provider) == messages
        assert provider.requests[-1][1]["authorization"].startswith("Bearer eyJ")

    def test_include_all_after_the_kill_switch(self, url: str, provider: Upstream) -> None:  # X13
        """The kill switch applies from the next request of a running proxy, without a server."""
        script("killed", LONG, 1, 2)
        messages = [*LONG, user("e")]
        switch_pruning(on=False)
        try:
            call(url, "killed", messages)
            assert sent(provider) == messages
        finally:
            switch_pruning(on=True)
        call(url, "killed", messages)
        assert len(sent(provider)) == 3

    def test_include_those_with_an_unreadable_script(self, url: str, provider: Upstream) -> None:  # X13
        """An unreadable script only prevents the prune."""
        for text in DAMAGED:
            Path(hints.path("proxy-broken", hints.EDITS, hints.proxy_folder())).write_text(text)
            messages = [*LONG, user("e")]
            assert call(url, "broken", messages).status_code == 200
            assert sent(provider) == messages

    def test_do_not_depend_on_scripts_of_other_sessions(self, url: str, provider: Upstream) -> None:  # X13
        """A damaged script does not prevent finding the session of a call without a name."""
        messages = [user("beside"), *LONG[1:]]
        script("beside", messages, 1, 2)
        for damaged in DAMAGED:
            Path(hints.path("proxy-other", hints.EDITS, hints.proxy_folder())).write_text(damaged)
            call(url, "", [*messages, user("e")])
            assert sent(provider) == [messages[0], messages[3], user("e")]

    def test_include_messages_with_half_characters(self, url: str, provider: Upstream) -> None:  # X13
        """Text that JSON allows but UTF-8 does not is unchanged, while other messages are pruned."""
        script("odd", LONG, 1, 2)
        half = user("\ud83d")
        body = json.dumps({"model": "m", "messages": [*LONG, half]}).encode()
        headers = {"authorization": "Bearer sk-x", "x-coppice-session": "odd"}
        httpx.post(f"{url}/openai/v1/chat/completions", content=body, headers=headers)
        assert provider.bytes[-1].endswith(json.dumps(half).encode() + b"]}")
        assert json.loads(provider.bytes[-1])["messages"] == [LONG[0], LONG[3], half]

"""Observing: calls of the official SDKs through the proxy, and their sessions on the server."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import anthropic
import httpx
import openai
import pytest

from tests.waiting import until
from tests.webapp.proxy.calling import FUNCTIONS, RESPONSE_TOOLS, TOOLS, claude, session_with
from tests.webapp.proxy.conftest import Way


def gpt(way: Way, session: str) -> openai.OpenAI:
    """Return OpenAI's SDK behind the proxy."""
    return openai.OpenAI(base_url=way.openai, api_key="sk-x", default_headers={"x-coppice-session": session})


def ask_claude(client: anthropic.Anthropic, messages: list[Any], *, streams: bool = False) -> Any:
    """Return an answer of a model."""
    arguments: dict[str, Any] = {
        "model": "claude-sonnet-4-6", "max_tokens": 100, "system": "Be brief.", "tools": TOOLS, "messages": messages,
    }  # fmt: skip
    if not streams:
        return client.messages.create(**arguments)
    with client.messages.stream(**arguments) as stream:
        return stream.get_final_message()


class TestAnthropic:
    """Messages through Anthropic's SDK."""

    @pytest.mark.parametrize("streams", [False, True])
    def test_appear_live_with_exact_usage(self, way: Way, *, streams: bool) -> None:  # X13
        """A call and its answer are a session with the usage that the provider reports."""
        client, name = claude(way, f"live-{streams}"), f"proxy-live-{streams}"
        said = ask_claude(client, [{"role": "user", "content": "Hello"}], streams=streams)
        session = session_with(way, name, 3)
        used = (
            said.usage.input_tokens
            + said.usage.cache_creation_input_tokens
            + said.usage.cache_read_input_tokens
        )
        assert session.agent.tokens == used + said.usage.output_tokens
        assert session.agent.certainty == "exact"
        assert session.title == "Hello"
        assert session.source_label == "Proxy"

    def test_append_only_new_messages(self, way: Way) -> None:  # X13
        """A second call appends the result and the next answer."""
        client = claude(way, "goes-on")
        messages: list[Any] = [{"role": "user", "content": "RUN(ls)"}]
        first = ask_claude(client, messages, streams=True)
        call = first.content[-1]
        messages.append(
            {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in first.content]}
        )
        messages.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "a b"}]}
        )
        ask_claude(client, messages)
        session = session_with(way, "proxy-goes-on", 5)
        assert session.messages == 5  # system, question, call, result, answer
        assert session.operations == 0

    def test_edited_histories_are_branches(self, way: Way) -> None:  # X13
        """An edit of an earlier message removes later ones from the context, and the log keeps them."""
        client = claude(way, "edits")
        ask_claude(client, [{"role": "user", "content": "One"}])
        session_with(way, "proxy-edits", 3)
        ask_claude(client, [{"role": "user", "content": "Two"}])
        session = session_with(way, "proxy-edits", 5)
        assert session.agent.messages == 3
        assert session.messages == 5

    def test_counting_tokens_creates_no_session(self, way: Way) -> None:  # X13
        """Requests that count tokens are passed on and belong to no session."""
        client, before = claude(way, "counts"), set(way.sessions())
        asked: Any = {"model": "claude-sonnet-4-6", "messages": [{"role": "user", "content": "x" * 4_000}]}
        with ThreadPoolExecutor(18) as pool:
            counted = [*pool.map(lambda _: client.messages.count_tokens(**asked).input_tokens, range(18))]
        assert counted == [counted[0]] * 18
        ask_claude(client, [{"role": "user", "content": "Hello"}])
        session_with(way, "proxy-counts", 3)
        assert set(way.sessions()) - before == {"proxy-counts"}

    def test_sub_agents_have_their_own_sessions(self, way: Way) -> None:  # X13
        """The header that names a sub-agent makes its session a child of the main one."""
        client = claude(way, "parent")
        ask_claude(client, [{"role": "user", "content": "Main"}])
        asked: Any = {
            "model": "claude-haiku-4-5",
            "max_tokens": 9,
            "messages": [{"role": "user", "content": "Sub"}],
        }
        client.messages.create(**asked, extra_headers={"x-claude-code-agent-id": "a1"})
        assert session_with(way, "proxy-parent.a1", 2).parent_id == "proxy-parent"


class TestOpenAI:
    """Chat completions and Responses through OpenAI's SDK."""

    @pytest.mark.parametrize("streams", [False, True])
    def test_chat_completions_are_a_session(self, way: Way, *, streams: bool) -> None:  # X13
        """A call, its tool's result and the answers are one session with exact usage."""
        client, messages = gpt(way, f"chat-{streams}"), list[Any]([{"role": "user", "content": "RUN(ls)"}])
        said: Any
        arguments: Any = {"model": "gpt-5.1", "tools": FUNCTIONS}
        for _ in range(2):
            if streams:
                options: Any = {"stream_options": {"include_usage": True}}
                with client.chat.completions.stream(messages=messages, **arguments, **options) as stream:
                    said = stream.get_final_completion()
            else:
                said = client.chat.completions.create(messages=messages, **arguments)
            message = said.choices[0].message
            messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            calls = message.tool_calls or ()
            messages += [{"role": "tool", "tool_call_id": call.id, "content": "a b c"} for call in calls]
        session = session_with(way, f"proxy-chat-{streams}", 4)
        assert session.messages == 4
        assert session.operations == 0
        assert session.agent.tokens == said.usage.total_tokens

    def test_may_have_another_path(self, way: Way) -> None:  # X13
        """Azure has a path for each deployment, and other providers have OpenAI's API below /v4 or /v1beta/openai."""
        azure = openai.AzureOpenAI(
            azure_endpoint=f"{way.url}/s/azure/openai", api_version="2026-01-01", api_key="k"
        )
        other = openai.OpenAI(base_url=f"{way.url}/s/other/openai/v1beta/openai", api_key="k")
        clients: dict[str, openai.OpenAI] = {"azure": azure, "other": other}
        for name, client in clients.items():
            client.chat.completions.create(model="gpt-5.1", messages=[{"role": "user", "content": "Hello"}])
            client.responses.create(model="gpt-5.1", input="Hello")
            assert session_with(way, f"proxy-{name}", 2).title == "Hello"
        paths = [path for path, *_ in way.provider.requests[-4::2]]
        deployed = "/openai/deployments/gpt-5.1/chat/completions?api-version=2026-01-01"
        assert paths == [deployed, "/v1beta/openai/chat/completions"]

    @pytest.mark.parametrize("streams", [False, True])
    def test_responses_are_a_session(self, way: Way, *, streams: bool) -> None:  # X13
        """Items of the Responses API are messages of one session, including reasoning."""
        client, items = gpt(way, f"items-{streams}"), list[Any]([{"role": "user", "content": "RUN(ls)"}])
        for _ in range(2):
            asked: Any = {"model": "gpt-5.1", "input": items, "tools": RESPONSE_TOOLS, "store": False}
            if streams:
                events = [*client.responses.create(**asked, stream=True)]
                said: Any = events[-1].response
            else:
                said = client.responses.create(**asked)
            for item in said.output:
                items.append(item.model_dump(exclude_none=True))
                if item.type == "function_call":
                    items.append({"type": "function_call_output", "call_id": item.call_id, "output": "a b"})
        session = session_with(way, f"proxy-items-{streams}", 5)
        assert session.messages == 5
        assert session.operations == 0

    @pytest.mark.parametrize("streams", [False, True])
    def test_answers_in_the_background_belong_to_their_calls(self, way: Way, *, streams: bool) -> None:  # X13
        """A call whose answer is fetched later is one with it, and the next call follows that answer."""
        client, before = openai.OpenAI(base_url=way.openai, api_key="sk-x"), set(way.sessions())
        question = f"Search for long, {'as a stream' if streams else 'at once'}"
        asked: Any = {"model": "gpt-5.1", "input": question, "background": True}
        if streams:
            begun = [*client.responses.create(**asked, stream=True)]
            name = cast("Any", begun[0]).response.id
            assert [event.type for event in begun] == ["response.created"]
            [*client.responses.retrieve(name, stream=True, starting_after=0)]
        else:
            name = client.responses.create(**asked).id
            assert client.responses.retrieve(name).output_text == "The output was read."
        client.responses.create(model="gpt-5.1", input="And then?", previous_response_id=name)
        until(lambda: set(way.sessions()) - before)
        (session,) = set(way.sessions()) - before
        assert session_with(way, session, 4).messages == 4

    @pytest.mark.parametrize(
        ("name", "session"), [("named", "proxy-named"), ("my%20agent", "proxy-my-agent")]
    )
    def test_the_path_names_a_session(self, way: Way, name: str, session: str) -> None:  # X13
        """A client that cannot set a header names its session in the address, where a name is encoded."""
        url = f"{way.url}/s/{name}/openai/v1"
        openai.OpenAI(base_url=url, api_key="sk-x").chat.completions.create(
            model="gpt-5.1", messages=[{"role": "user", "content": "Hi"}]
        )
        assert session_with(way, session, 2).messages == 2


class TestConversationsWithoutAName:
    """Conversations identified by the hashes of their messages."""

    def test_are_found_by_their_messages(self, way: Way) -> None:  # X13
        """Two conversations with the same beginning stay separate sessions."""
        client = openai.OpenAI(base_url=way.openai, api_key="sk-x")
        before = set(way.sessions())
        lists: list[list[Any]] = [[{"role": "user", "content": "Begins alike"}] for _ in range(2)]
        for turn in range(3):
            for number, messages in enumerate(lists):
                said = client.chat.completions.create(model="gpt-5.1", messages=messages).choices[0].message
                messages.append({"role": "assistant", "content": said.content})
                messages.append({"role": "user", "content": f"{number}.{turn}"})
        until(lambda: len(set(way.sessions()) - before) == 2)
        for name in set(way.sessions()) - before:
            session_with(way, name, 6)
        assert len(set(way.sessions()) - before) == 2


class TestPassingOn:
    """Passing on bytes, keys and errors."""

    def test_sends_the_same_bytes(self, way: Way) -> None:  # X13
        """Spacing, escapes and unknown fields reach the provider unchanged."""
        said = '[{"role":"user","content":"\\u00e9 \\/"}]'
        body = f'{{ "model":"claude-x",\n "max_tokens" : 1.0e1,"messages":{said} , "y":1}}'
        with httpx.Client() as client:
            client.post(f"{way.anthropic}/v1/messages", content=body, headers={"x-api-key": "k"})
        assert way.provider.bytes[-1] == body.encode()

    def test_stores_no_key(self, way: Way) -> None:  # X13
        """The key reaches the provider, and is neither in the store nor in a file."""
        secret = "sk-ant-api03-very-secret-key"
        name = "secretive"
        with anthropic.Anthropic(
            base_url=way.anthropic, api_key=secret, default_headers={"x-claude-code-session-id": name}
        ) as client:
            ask_claude(client, [{"role": "user", "content": "Hello"}])
        session_with(way, "proxy-secretive", 3)
        assert way.provider.requests[-1][1]["authorization"] == f"Bearer {secret}"
        way.server.app.store.maintain()
        for file in way.server.app.config.database.parent.rglob("*"):
            assert not file.is_file() or secret.encode() not in file.read_bytes()

    def test_passes_errors_on_unchanged(self, way: Way) -> None:  # X13
        """The client gets the provider's refusal."""
        with pytest.raises(anthropic.BadRequestError, match="first message must use the user role"):
            ask_claude(claude(way, "wrong"), [{"role": "assistant", "content": "Me first"}])

    def test_refuses_websockets_with_426(self, way: Way) -> None:  # X13
        """Codex then uses HTTP; after a 404 it would try seven times."""
        headers = {"upgrade": "websocket", "connection": "upgrade"}
        assert httpx.get(f"{way.openai}/responses", headers=headers).status_code == 426

    def test_answers_a_check_of_its_address(self, way: Way) -> None:  # X13
        """Claude Code sends HEAD / before its first call."""
        assert httpx.head(f"{way.anthropic}/").status_code == 200

    @pytest.mark.parametrize("headers", [{"origin": "http://evil.example"}, {"host": "evil.example"}])
    def test_refuses_pages_of_browsers(self, way: Way, headers: dict[str, str]) -> None:  # X13
        """A page and a rebound name are refused."""
        answer = httpx.post(f"{way.anthropic}/v1/messages", json={}, headers=headers)
        assert answer.status_code in (403, 421)

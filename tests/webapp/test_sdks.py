"""The real SDKs of OpenAI and Anthropic: what they answer goes in, and what comes out they send.

A provider of our own stands behind them, on this machine: it answers from a list, remembers what it was sent, and
refuses, as the real ones do, fields that belong to no message.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anthropic
import openai
import pytest

from tests.servers import Server
from tests.waiting import PATIENCE
from webapp.client import Coppice

OPENAI_ANSWER: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-5",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "read", "arguments": '{"path": "a.py"}'},
                    }
                ],
            },
        }
    ],
    "usage": {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30},
}
ANTHROPIC_ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-test",
    "content": [
        {"type": "thinking", "thinking": "Look first.", "signature": "c2lnbmVk"},
        {"type": "text", "text": "I will look."},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a.py"}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 20, "output_tokens": 10},
}
MESSAGE_FIELDS = {"role", "content", "name", "tool_calls", "tool_call_id", "refusal"}


class Provider(ThreadingHTTPServer):
    """Answers both SDKs, and keeps what they sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.sent: list[dict[str, Any]] = []
        self.answers: dict[str, list[Any]] = {}  # by provider, in turn; the usual ones where none are left

    @property
    def url(self) -> str:
        """Return the endpoint's address."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Provider

    def do_POST(self) -> None:
        """Answers as the provider whose path it is."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.sent.append(body)
        strange = {key for message in body["messages"] for key in message} - MESSAGE_FIELDS
        of_openai = self.path.endswith("/chat/completions")
        waiting = self.server.answers.get("openai" if of_openai else "anthropic")
        usual: Any = OPENAI_ANSWER if of_openai else ANTHROPIC_ANSWER
        answer: Any = waiting.pop(0) if waiting else usual
        if not of_openai:
            strange |= {message["role"] for message in body["messages"]} - {"user", "assistant"}
            strange |= {key for message in body["messages"] for key in message} - {"role", "content"}
        if strange:
            answer = {"error": {"type": "invalid_request_error", "message": f"extra inputs: {strange}"}}
        data = json.dumps(answer).encode()
        self.send_response(400 if strange else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider on a free port."""
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(PATIENCE)


@pytest.fixture
def coppice(live_server: Server) -> Iterator[Coppice]:
    """A client of a fresh session."""
    with Coppice(live_server.url, session="agent", model="gpt-5") as made:
        yield made


class TestOpenAi:
    """openai.chat.completions."""

    def test_answers_go_in_and_come_back_to_be_sent(
        self, provider: Provider, coppice: Coppice
    ) -> None:  # X13
        """The SDK's message object is appended as it is; the context is what the SDK sends next."""
        sdk = openai.OpenAI(base_url=provider.url + "/v1", api_key="none", max_retries=0)
        asked: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Read a.py"}]
        first = sdk.chat.completions.create(model="gpt-5", messages=asked)
        result = {"role": "tool", "tool_call_id": "call_1", "content": "print(1)"}
        coppice.append([*asked, first.choices[0].message, result], usage=first.usage)
        context: Any = coppice.context("openai")
        sdk.chat.completions.create(model="gpt-5", messages=context)
        assert provider.sent[-1]["messages"][:2] == asked
        made = OPENAI_ANSWER["choices"][0]["message"]
        assert provider.sent[-1]["messages"][2]["tool_calls"] == made["tool_calls"]
        assert provider.sent[-1]["messages"][3] == result

    def test_dumped_messages_come_back_as_they_were(self, coppice: Coppice, live_server: Server) -> None:
        """Every field of `model_dump`, nulls too."""
        message = openai.types.chat.ChatCompletion.model_validate(OPENAI_ANSWER).choices[0].message
        sent = [{"role": "user", "content": "Read a.py"}, message.model_dump(),
                {"role": "tool", "tool_call_id": "call_1", "content": "print(1)"}]  # fmt: skip
        coppice.create()
        live_server.app.ingest.append_messages("agent", sent)
        assert coppice.context("openai") == sent


class TestAnthropic:
    """anthropic.messages."""

    def test_answers_go_in_and_come_back_to_be_sent(
        self, provider: Provider, coppice: Coppice
    ) -> None:  # X13
        """Thinking with its signature, text and call; and no field that their API would refuse."""
        sdk = anthropic.Anthropic(base_url=provider.url, api_key="none", max_retries=0)
        asked: Any = [{"role": "user", "content": "Read a.py"}]
        first = sdk.messages.create(model="claude-test", max_tokens=100, messages=asked)
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "print(1)"}
        coppice.append([*asked, first, {"role": "user", "content": [result]}], usage=first.usage)
        context: Any = coppice.context("anthropic")
        sdk.messages.create(model="claude-test", max_tokens=100, messages=context)
        back = provider.sent[-1]["messages"]
        assert [message["role"] for message in back] == ["user", "assistant", "user"]
        assert back[1]["content"] == ANTHROPIC_ANSWER["content"]
        assert back[2]["content"] == [result]

    def test_dumped_content_comes_back_as_it_was(self, coppice: Coppice) -> None:
        """Every field of `model_dump`, nulls too."""
        content = anthropic.types.Message.model_validate(ANTHROPIC_ANSWER).model_dump()["content"]
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "print(1)"}
        sent = [
            {"role": "user", "content": "Read a.py"},
            {"role": "assistant", "content": content},
            {"role": "user", "content": [result]},
        ]
        coppice.append(sent)
        assert coppice.context() == sent

    @pytest.mark.parametrize(("model", "format"), [("claude-test", None), ("default", "anthropic")])
    def test_are_asked_again_and_again_in_a_loop(
        self, provider: Provider, live_server: Server, model: str, format: str | None
    ) -> None:  # X13
        """From a first message that is plain text, with a system prompt and a learning; nothing is refused."""
        sdk = anthropic.Anthropic(base_url=provider.url, api_key="none", max_retries=0)
        live_server.app.memory.add("learning", "Answer in one sentence.")
        with Coppice(live_server.url, session="loop", model=model, format=format) as coppice:
            coppice.create(system="Be brief.")
            asked: Any = {"role": "user", "content": "Read a.py"}
            for n in range(3):
                coppice.append([asked])
                context = coppice.context()
                request: Any = context.request
                answer = sdk.messages.create(model="claude-test", max_tokens=100, **request)
                assert context.system == provider.sent[-1]["system"]
                coppice.append([answer], usage=answer.usage)
                block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": f"print({n})"}
                asked = {"role": "user", "content": [block]}
        assert "Be brief." in provider.sent[0]["system"]
        assert "Answer in one sentence." in provider.sent[0]["system"]
        assert [message["role"] for message in provider.sent[2]["messages"]] == ["user", "assistant"] * 2 + [
            "user"
        ]

    def test_that_come_after_plain_texts_decide_the_format(self, coppice: Coppice) -> None:
        """Texts alone are written alike by three providers; the first message that is not says which it is."""
        coppice.append([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}])
        assert coppice.context().answer["format"] == "openai"
        block = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
        coppice.append([{"role": "user", "content": "go"}, {"role": "assistant", "content": [block]}])
        context = coppice.context()
        assert context.answer["format"] == "anthropic"
        assert context[:2] == [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]

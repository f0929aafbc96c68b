"""The real SDKs of OpenAI and Anthropic: what they answer goes in, and what comes out they send.

A provider of our own stands behind them, on this machine: it answers from a list, remembers what it was sent, and
refuses, as the real ones do, fields that belong to no message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from tests.servers import Server, serving
from tests.webapp.sdk_provider import ANTHROPIC_ANSWER, OPENAI_ANSWER, Provider
from webapp.client import Coppice


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider on a free port."""
    server = Provider()
    with serving(server):
        yield server


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

"""The examples: each runs as it stands, with the real SDK, against a provider and a server on this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import anthropic
import openai
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda

from examples import anthropic_sdk, langchain_runnable, openai_sdk
from tests.servers import Server
from tests.waiting import PATIENCE
from tests.webapp.test_sdks import ANTHROPIC_ANSWER, OPENAI_ANSWER, Provider
from webapp.client import Coppice

OPENAI_LAST = {
    **OPENAI_ANSWER,
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "A README."}}
    ],
}
ANTHROPIC_LAST = {
    **ANTHROPIC_ANSWER,
    "content": [{"type": "text", "text": "A README."}],
    "stop_reason": "end_turn",
}


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider whose model calls a tool first, and answers then."""
    server = Provider()
    server.answers = {"openai": [OPENAI_ANSWER, OPENAI_LAST], "anthropic": [ANTHROPIC_ANSWER, ANTHROPIC_LAST]}
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(PATIENCE)


class TestExamples:
    """Whole programs that a reader copies."""

    def test_of_openai_runs_its_tool_and_answers(
        self, provider: Provider, live_server: Server
    ) -> None:  # X13
        """The second request carries the call and its result."""
        sdk = openai.OpenAI(base_url=provider.url + "/v1", api_key="none", max_retries=0)
        with Coppice(live_server.url, session="example", model=openai_sdk.MODEL) as coppice:
            assert openai_sdk.run("What is here?", sdk, coppice) == "A README."
            assert coppice.stats()["items"] == 4
        assert [message["role"] for message in provider.sent[1]["messages"]] == ["user", "assistant", "tool"]

    def test_of_anthropic_runs_its_tool_and_answers(
        self, provider: Provider, live_server: Server
    ) -> None:  # X13
        """With the system prompt beside the list."""
        sdk = anthropic.Anthropic(base_url=provider.url, api_key="none", max_retries=0)
        with Coppice(live_server.url, session="example", model=anthropic_sdk.MODEL) as coppice:
            assert anthropic_sdk.run("What is here?", sdk, coppice) == "A README."
        assert provider.sent[1]["system"] == "Answer in one sentence."
        assert [message["role"] for message in provider.sent[1]["messages"]] == ["user", "assistant", "user"]

    def test_of_langchain_hands_a_model_what_fits(self, live_server: Server) -> None:  # X13
        """A runnable in front of a model; the program keeps its whole list."""
        seen: list[int] = []

        def model(messages: list[BaseMessage]) -> AIMessage:
            seen.append(len(messages))
            return AIMessage(f"answer {len(messages)}")

        with Coppice(live_server.url, session="example", model="gpt-5.1") as coppice:
            answering: Runnable[list[BaseMessage], AIMessage] = RunnableLambda(model)
            chain = langchain_runnable.in_context(coppice) | answering
            talk: list[BaseMessage] = [HumanMessage("one " * 400)]
            talk += [chain.invoke(talk), HumanMessage("two " * 400)]
            coppice.sync(talk)
            coppice.drop(coppice.messages(sort="oldest")["messages"][0]["id"])
            chain.invoke(talk)
        assert seen[0] == 1
        assert seen[1] < len(talk)

"""The examples: each runs as it stands, with the real SDK, against a provider and a server on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from examples import anthropic_sdk, langchain_middleware, langgraph_agent, openai_sdk
from tests.servers import Server, serving
from tests.webapp.sdk_provider import ANTHROPIC_ANSWER, OPENAI_ANSWER, Provider
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


CALL = {"name": "list_files", "args": {"path": "."}, "id": "call_1"}


class Model(BaseChatModel):
    """A chat model that calls its tool at each question and answers its result, and keeps what it was sent."""

    sent: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        """Take any tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.sent.append(messages)
        asks = isinstance(messages[-1], HumanMessage)
        answer = AIMessage("", tool_calls=[CALL]) if asks else AIMessage("A README.")
        return ChatResult(generations=[ChatGeneration(message=answer)])


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider whose model calls a tool first, and answers then."""
    server = Provider()
    server.answers = {"openai": [OPENAI_ANSWER, OPENAI_LAST], "anthropic": [ANTHROPIC_ANSWER, ANTHROPIC_LAST]}
    with serving(server):
        yield server


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
        """A middleware of an agent, whose state keeps the whole conversation."""
        model = Model(sent=[])
        with Coppice(live_server.url, session="example", model="gpt-5.1") as coppice:
            middleware = langchain_middleware.InContext(coppice)
            agent: Any = create_agent(model, [langgraph_agent.list_files], middleware=[middleware])
            talk = agent.invoke({"messages": [HumanMessage("one " * 400)]})["messages"]
            assert [type(one).__name__ for one in talk] == [
                "HumanMessage", "AIMessage", "ToolMessage", "AIMessage",
            ]  # fmt: skip
            coppice.sync(talk)
            coppice.drop(coppice.messages(sort="oldest")["messages"][1]["id"])
            agent.invoke({"messages": [*talk, HumanMessage("two")]})
        assert [one.content for one in model.sent[2]] == ["one " * 400, "A README.", "two"]

    def test_of_langchain_works_in_asynchronous_programs(self, live_server: Server) -> None:  # X13
        """Each message reaches the server, and the model gets the context."""
        model = Model(sent=[])
        with Coppice(live_server.url, session="example", model="gpt-5.1") as coppice:
            middleware = langchain_middleware.InContext(coppice)
            agent: Any = create_agent(model, [langgraph_agent.list_files], middleware=[middleware])
            asyncio.run(agent.ainvoke({"messages": [HumanMessage("one")]}))
            assert len(coppice.messages()["messages"]) == 3
        assert model.sent[1][0].content == "one"

    def test_of_langgraph_runs_its_tool_and_answers(self, live_server: Server) -> None:  # X13
        """A dropped message is not sent again, and the graph's state still has it."""
        model = Model(sent=[])
        with Coppice(live_server.url, session="example", model="gpt-5.1") as coppice:
            graph = langgraph_agent.graph_of(model, coppice)
            talk = graph.invoke({"messages": [HumanMessage("What is here?")]})["messages"]
            assert talk[-1].content == "A README."
            coppice.sync(talk)
            coppice.drop(coppice.messages(sort="oldest")["messages"][1]["id"])
            after = graph.invoke({"messages": [*talk, HumanMessage("And now?")]})["messages"]
        assert len(after) == 8
        assert [one.content for one in model.sent[2]] == ["What is here?", "A README.", "And now?"]

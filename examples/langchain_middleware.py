"""A LangChain agent whose model gets its context from Coppice: a middleware around each call of the model.

agent = create_agent("openai:gpt-5.1", tools, middleware=[InContext(coppice)])
agent.invoke({"messages": [HumanMessage("What is in this folder?")]})

The agent's state keeps the whole conversation; only what is sent is pruned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import convert_to_messages

from webapp.client import Coppice


class InContext(AgentMiddleware[Any, Any]):
    """Sends the session's context instead of the whole list."""

    def __init__(self, coppice: Coppice) -> None:
        super().__init__()
        self.coppice = coppice

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Send the list to the server, and the returned context to the model."""
        self.coppice.sync(request.messages)
        sent: Any = convert_to_messages(self.coppice.context("langchain"))
        return handler(request.override(messages=sent))

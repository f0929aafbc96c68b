"""A LangChain agent whose model gets its context from Coppice: a middleware around each call of the model.

agent = create_agent("openai:gpt-5.1", tools, middleware=[InContext(coppice)])
agent.invoke({"messages": [HumanMessage("What is in this folder?")]})

The agent's state keeps the whole conversation; only what is sent is pruned.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
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
        return handler(request.override(messages=self.in_context(request.messages)))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Do the same for `ainvoke` and `astream`; the client waits in a thread of its own."""
        sent = await asyncio.to_thread(self.in_context, request.messages)
        return await handler(request.override(messages=sent))

    def in_context(self, messages: list[Any]) -> Any:
        """Return the messages to send instead of all messages so far."""
        self.coppice.sync(messages)
        return convert_to_messages(self.coppice.context("langchain"))

"""A LangChain model that is handed its context by Coppice: a runnable in front of any chat model.

model = in_context(coppice) | ChatOpenAI(model="gpt-5.1")
model.invoke([HumanMessage("hello")])
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, convert_to_messages
from langchain_core.runnables import Runnable, RunnableLambda

from webapp.client import Coppice


def in_context(coppice: Coppice) -> Runnable[Sequence[BaseMessage], list[BaseMessage]]:
    """Return a runnable that takes the whole conversation and returns what of it is to be sent."""

    def context(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        coppice.sync(messages)
        return convert_to_messages(coppice.context("langchain"))

    return RunnableLambda(context)

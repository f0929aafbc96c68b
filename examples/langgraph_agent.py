"""A LangGraph agent: a node for the model, which sends the context from Coppice, and a node for its tools.

OPENAI_API_KEY=… python examples/langgraph_agent.py "What is in this folder?"
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, HumanMessage, convert_to_messages
from langchain_core.runnables import Runnable
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from webapp.client import Coppice

MODEL = "gpt-5.1"


@tool
def list_files(path: str = ".") -> str:
    """List the files of a folder."""
    return "\n".join(sorted(entry.name for entry in Path(path).iterdir()))


def graph_of(model: Runnable[LanguageModelInput, AIMessage], coppice: Coppice) -> Any:
    """Return the compiled graph. Its state keeps the whole conversation; `coppice` chooses the part that is sent."""

    def ask(state: MessagesState) -> dict[str, Any]:
        coppice.sync(state["messages"])
        return {"messages": [model.invoke(convert_to_messages(coppice.context("langchain")))]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_node("tools", ToolNode([list_files]))
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", tools_condition)
    graph.add_edge("tools", "ask")
    return graph.compile()


if __name__ == "__main__":
    with Coppice(session="langgraph-example", model=MODEL) as client:
        asked = HumanMessage(" ".join(sys.argv[1:]) or "What is in this folder?")
        chat = init_chat_model(f"openai:{MODEL}").bind_tools([list_files])
        print(graph_of(chat, client).invoke({"messages": [asked]})["messages"][-1].content)  # noqa: T201

"""An agent's loop with OpenAI's SDK: Coppice keeps the conversation and returns the context that fits.

OPENAI_API_KEY=… python examples/openai_sdk.py "What is in this folder?"
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import openai

from webapp.client import Coppice

MODEL = "gpt-5.1"
TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": "list_files",
            "description": "List the files of a folder.",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
            },
        },
    }
]


def run(question: str, sdk: openai.OpenAI, coppice: Coppice, most_calls: int = 10) -> str:
    """Return the answer to a question, asked with as many tool calls as the model wants."""
    coppice.append([{"role": "user", "content": question}])
    for _ in range(most_calls):
        context: Any = coppice.context()
        reply = sdk.chat.completions.create(model=MODEL, messages=context, tools=TOOLS)
        message = reply.choices[0].message
        coppice.append([message], usage=reply.usage)
        if not message.tool_calls:
            return message.content or ""
        coppice.append(
            [{"role": "tool", "tool_call_id": call.id, "content": files()} for call in message.tool_calls]
        )
    return "(no answer within the calls allowed)"


def files(path: str = ".") -> str:
    """Return the names of the files in a folder, one in each line."""
    return "\n".join(sorted(entry.name for entry in Path(path).iterdir()))


if __name__ == "__main__":
    with Coppice(session="openai-example", model=MODEL) as client:
        print(run(" ".join(sys.argv[1:]) or "What is in this folder?", openai.OpenAI(), client))  # noqa: T201

"""An agent's loop with Anthropic's SDK: the system prompt is beside the list, as their API requires.

ANTHROPIC_API_KEY=… python examples/anthropic_sdk.py "What is in this folder?"
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anthropic

from webapp.client import Coppice

MODEL = "claude-sonnet-4-6"
TOOLS: Any = [
    {
        "name": "list_files",
        "description": "List the files of a folder.",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    }
]


def run(question: str, sdk: anthropic.Anthropic, coppice: Coppice, most_calls: int = 10) -> str:
    """Return the answer to a question, asked with as many tool calls as the model wants."""
    coppice.create(system="Answer in one sentence.")
    coppice.append([{"role": "user", "content": question}])
    for _ in range(most_calls):
        request: Any = coppice.context().request
        reply = sdk.messages.create(model=MODEL, max_tokens=2_000, tools=TOOLS, **request)
        coppice.append([reply], usage=reply.usage)
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in reply.content if block.type == "text")
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": files()} for call in calls]
        coppice.append([{"role": "user", "content": results}])
    return "(no answer within the calls allowed)"


def files(path: str = ".") -> str:
    """Return the names of the files in a folder, one in each line."""
    return "\n".join(sorted(entry.name for entry in Path(path).iterdir()))


if __name__ == "__main__":
    with Coppice(session="anthropic-example", model=MODEL) as client:
        print(run(" ".join(sys.argv[1:]) or "What is in this folder?", anthropic.Anthropic(), client))  # noqa: T201

"""A question that Gemini CLI answered with two calls at once, as it records them."""

from __future__ import annotations

from typing import Any


def response(call_id: str, output: str) -> dict[str, Any]:
    """Return the result of a call as the agent sends it."""
    return {"functionResponse": {"id": call_id, "name": "ls", "response": {"output": output}}}


def call_part(call_id: str) -> dict[str, Any]:
    """Return a call as the model makes it."""
    return {"functionCall": {"id": call_id, "name": "ls", "args": {}}}


USER = {"id": "u", "type": "user", "content": [{"text": "List both."}]}
PICTURE = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
# The results as the agent records them first, and as it sends them.
SENT = [response("c1", "one"), PICTURE, response("c2", "two")]
ANSWER: dict[str, Any] = {
    "id": "g",
    "type": "gemini",
    "content": "Both.",
    "toolCalls": [
        {"id": "c1", "name": "ls", "args": {}, "status": "success", "result": SENT[:2]},
        {"id": "c2", "name": "ls", "args": {}, "status": "success", "result": SENT[2:]},
    ],
}
RESULTS = {"id": "r", "type": "user", "content": SENT}
